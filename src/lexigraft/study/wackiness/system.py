"""The wackiness of one system: scores and curves of a side, removal, pruning, each an artifact that is kept."""

import json
import logging
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.comparison.open_systems import (
    OpenSystem,
    drawn_places,
    input_queries,
    open_document_terms,
    take_counts,
    take_vectors,
    terms_manifest,
    write_document_terms,
)
from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.settings import DataSettings
from lexigraft.core.types import Query, SparseMatrix
from lexigraft.data.collection import CORPUS, QUERIES
from lexigraft.data.sources import open_source
from lexigraft.explain.term_kinds import bare, begins_with_marks, count_capitals, kind_of, main_script
from lexigraft.explain.wackiness import TermScores, TextTerms, measure_importance, score_terms
from lexigraft.explain.wackiness_curve import curve_runs
from lexigraft.explain.wackiness_store import FORMAT_VERSION, KIND, Wackiness, open_wackiness, write_wackiness
from lexigraft.learn.training_data import TRAIN
from lexigraft.study.wackiness.encoding import encode_and_index
from lexigraft.study.wackiness.place import Workplace
from lexigraft.study.wackiness.pruning import SHARES, pruning_rows
from lexigraft.study.wackiness.removal import REPEATS, TIE_DRAWS, removal_curves
from lexigraft.study.wackiness.settings import DOCUMENT_SIDE, QUERY_SIDE, WackinessSettings
from lexigraft.vectors.open_network import USUAL_BITS
from lexigraft.vocab.stopwords import ENGLISH

log = logging.getLogger(__name__)

REMOVAL_FORMAT, PRUNING_FORMAT = 2, 1
TOP_TERMS = 20
TEXTS_FOR_NAMES = 100_000  # documents that say how words are written


class SystemStudy:
    """One system: what is made for it, and what is read back."""

    def __init__(self, system: OpenSystem, place: Workplace, settings: WackinessSettings) -> None:
        self.system, self.place, self.settings = system, place, settings
        self.folder, self.progress = place.folder, place.progress

    def everything(self, others: Sequence[str]) -> dict[str, Any]:
        sides = {side: self.side(side) for side in self.settings.sides}
        found: dict[str, Any] = {"name": self.system.name, "sides": sides, "removal": [], "pruning": []}
        if not self.settings.removal or QUERY_SIDE not in sides:
            return found
        if self.system.split is not None:
            found["removal"].append(self.removal(sides[QUERY_SIDE]))
            found["pruning"] = self.pruning(sides[QUERY_SIDE], sides.get(DOCUMENT_SIDE, sides[QUERY_SIDE]))
        for other in others:
            if self.system.is_model:
                found["removal"].append(self.removal_elsewhere(other, sides[QUERY_SIDE]))
            else:
                log.warning("%s is no model, and has no terms of %s: left out there", self.system.name, other)
        return found

    def ensure(
        self, name: str, kind: str, version: int, config: dict[str, Any], parents: dict[str, str], make: Any
    ) -> Path:
        """The folder of an artifact that depends on how the system expands queries, made or kept."""
        return self.place.ensure(name, kind, version, {**config, **self.system.query_expansion}, parents, make)

    @cached_property
    def document_terms(self) -> TextTerms:
        path, wanted = self.folder / "document-terms", terms_manifest(self.system)
        self.place.artifacts.ensure(
            "evaluate", f"{self.system.name}: document terms", path, wanted,
            lambda folder: write_document_terms(self.system, folder, self.progress),
        )  # fmt: skip
        return open_document_terms(path)

    def side(self, side: str) -> Wackiness:
        settings, system = self.settings, self.system
        config = {
            "side": side, "inputs": settings.queries if side == QUERY_SIDE else settings.documents, "k": settings.k,
            "bins": settings.bins, "runs": settings.runs, "draw": settings.draw,
        }  # fmt: skip
        parents = {"index": system.fingerprint(system.index_path), "corpus": system.collection.digest(CORPUS)}
        if side == QUERY_SIDE:
            parents |= {"queries": system.collection.digest(QUERIES), "train": self._digest(TRAIN)}
        path = self.ensure(side, KIND, FORMAT_VERSION, config, parents, lambda folder: self._score(side, folder))
        return open_wackiness(path)

    def _digest(self, split: str) -> str:
        return self.system.collection.digest(split) if split in self.system.collection.splits else ""

    def _score(self, side: str, folder: Path) -> None:
        settings, system = self.settings, self.system
        inputs, own, which = self._inputs(side)
        n_terms = inputs.n_terms
        threads = settings.n_threads
        find = system.finder(settings.k)
        importance = measure_importance(inputs, own, self.document_terms, find, threads, self.progress)
        if not len(importance.expansions.terms):
            raise InputError(
                f"{system.name} ({system.system}): no expansion terms: every term of its {inputs.n_rows:,} {which} is "
                "in their own text, so nothing can be wacky; give a system that expands, such as a learned model"
            )
        scores = score_terms(importance, n_terms)
        runs = curve_runs(importance, n_terms, settings.bins, settings.runs, settings.draw, settings.seed)
        at_one = int((scores.scores == 1).sum())
        facts = {
            "inputs": inputs.n_rows,
            "which": which,
            "inputs_without_expansion": int((np.diff(importance.expansions.indptr) == 0).sum()),
            "inputs_that_found_nothing": importance.n_found_nothing,
            "expansion_terms_an_input": len(importance.expansions.terms) / max(1, inputs.n_rows),
            "terms": n_terms,
            "terms_seen": len(scores.seen),
            "terms_of_score_1": at_one,
            "top_terms": self._top_terms(scores),
        }
        write_wackiness(folder, scores, runs, system.index.vocabulary, facts)

    def _inputs(self, side: str) -> tuple[SparseMatrix, TextTerms, str]:
        """(vectors, own terms, what they are) of a side's inputs."""
        settings, system = self.settings, self.system
        if side == QUERY_SIDE:
            queries, which = input_queries(system.collection, settings.queries, settings.seed, system.expandable)
            return *self._encoded(system, queries), which
        matrix = system.vectors.matrix
        rows = drawn_places(matrix.n_rows, settings.documents, settings.seed)
        vectors = system.expand(take_vectors(matrix, rows), lambda: self.document_terms, self.progress)
        return vectors, take_counts(self.document_terms, rows), "documents"

    def _encoded(self, system: OpenSystem, queries: list[Query]) -> tuple[SparseMatrix, TextTerms]:
        """(vectors that are searched with, own terms) of queries."""
        vectors = system.expand(system.encode(queries, self.progress), lambda: self.document_terms, self.progress)
        return vectors, system.own_terms([query.text for query in queries])

    def _top_terms(self, scores: TermScores) -> list[dict[str, Any]]:
        """The wackiest terms, of equal ones those that expand most inputs, with their kinds."""
        terms = self.system.index.vocabulary.terms
        top = scores.wackiest(TOP_TERMS).tolist()
        marked, script = begins_with_marks(terms), main_script(terms)
        words = {bare(terms[term], marked)[0].lower() for term in top}
        texts = (document.contents for document in islice(self.system.collection.documents(), TEXTS_FOR_NAMES))
        written = count_capitals(words, texts)
        return [
            {
                "term": terms[term],
                "score": float(scores.scores[term]),
                "expands": int(scores.counts[term]),
                "kind": kind_of(terms[term], marked, script, ENGLISH, written),
            }
            for term in top
        ]

    def removal(self, scored: Wackiness) -> dict[str, Any]:
        return self._removal(self.system, "removal", scored, "in-domain", 1000)

    def _removal(self, system: OpenSystem, name: str, scored: Wackiness, domain: str, depth: int) -> dict[str, Any]:
        settings, split = self.settings, system.split
        if split is None:
            raise InputError(
                f"{system.collection.name} has no test or dev judgements, so removal cannot be measured on it"
            )
        config = {
            "queries": settings.removal_queries, "repeats": REPEATS, "tie_draws": TIE_DRAWS, "depth": depth,
            "split": split,
        }  # fmt: skip
        parents = {
            "wackiness": scored.fingerprint, "index": system.fingerprint(system.index_path),
            "queries": system.collection.digest(QUERIES), "qrels": system.collection.digest(split),
        }  # fmt: skip

        def make(folder: Path) -> None:
            queries, judged = system.judged(settings.removal_queries)
            vectors, own = self._encoded(system, queries)
            found = removal_curves(
                system.index, vectors, own, judged, scored.terms, settings.seed, settings.n_threads, depth,
                progress=self.progress,
            )  # fmt: skip
            write_json(folder / "removal.json", found)

        path = self.ensure(name, "wackiness-removal", REMOVAL_FORMAT, config, parents, make)
        facts = {"name": self.system.name, "collection": system.collection.name, "domain": domain, "split": split}
        return {**facts, **_read(path / "removal.json")}

    def removal_elsewhere(self, source: str, scored: Wackiness) -> dict[str, Any]:
        """The same on another collection, whose documents and queries the same model encodes."""
        description = self.system.vectors.query_encoder
        collection, data = open_source(source), DataSettings()
        model = (self.system.vectors_path / description["model"]).resolve()
        index, vectors = encode_and_index(
            self.place, f"other-{collection.name}", collection, data, model, description["fingerprint"],
            self.system.index_settings, bits=int(description.get("bits", USUAL_BITS)),
        )  # fmt: skip
        other = OpenSystem(self.system.name, self.system.system, collection, data, index, vectors)
        return self._removal(other, f"removal-{collection.name}", scored, "out-of-domain", 10)

    @property
    def _indexing(self) -> dict[str, Any]:
        """How the system's documents are indexed, and therefore all others that are compared with them."""
        return {"bits": self.system.index_settings.bits, "reorder": self.system.index_settings.reorder}

    def pruning(self, by_queries: Wackiness, by_documents: Wackiness) -> list[dict[str, Any]]:
        settings, system, split = self.settings, self.system, self.system.split
        assert split is not None, "checked before"
        parents = {
            "queries-wackiness": by_queries.fingerprint, "documents-wackiness": by_documents.fingerprint,
            "vectors": system.fingerprint(system.vectors_path), "index": system.fingerprint(system.index_path),
            "queries": system.collection.digest(QUERIES), "qrels": system.collection.digest(split),
        }  # fmt: skip
        by_weight = [[qk, dk, system.fingerprint(index)] for qk, dk, index in system.pruned]
        config = {
            "queries": settings.removal_queries, "shares": list(SHARES), "by_weight": by_weight, "split": split,
            **self._indexing,
        }  # fmt: skip

        def make(folder: Path) -> None:
            queries, judged = system.judged(settings.removal_queries)
            vectors, own = self._encoded(system, queries)
            rows = pruning_rows(
                system, vectors, own, judged, self.document_terms, by_queries.terms, by_documents.terms,
                self.folder / "pruned", settings.seed, settings.n_threads,
            )  # fmt: skip
            write_json(folder / "rows.json", rows)

        path = self.ensure("pruning", "wackiness-pruning", PRUNING_FORMAT, config, parents, make)
        return [{"name": self.system.name, **row} for row in _read(path / "rows.json")]


def _read(path: Path) -> Any:
    return json.loads(read_plain_file(path))
