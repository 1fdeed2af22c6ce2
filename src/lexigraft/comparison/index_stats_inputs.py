"""Indexes of runs, and standalone ones, opened to be measured side by side on the same queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexigraft.comparison.bench_search import list_queries
from lexigraft.comparison.measured_systems import cell_name
from lexigraft.comparison.open_systems import OpenSystem, open_systems
from lexigraft.core.artifact import read_manifest
from lexigraft.core.cut import Keep, document_cut
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.settings import DataSettings
from lexigraft.core.types import Query, SparseMatrix
from lexigraft.data.collection import CORPUS, QUERIES, Collection
from lexigraft.index.inverted import Index
from lexigraft.index.live.state import is_live
from lexigraft.index.store import open_index
from lexigraft.search.encoded_index import EncodedIndex
from lexigraft.stages.evaluate import known_judgements
from lexigraft.stages.layout import JUDGED, RunFolder
from lexigraft.stages.vocabularies import judged_collection, open_vocabulary
from lexigraft.vectors.query_encoder import QueryEncoder, encode_queries
from lexigraft.vocab import tokenizer_files
from lexigraft.vocab.opened import PIECES, OpenVocabulary

COMPARED_IDS = 1000  # of the documents of two indexes, evenly spread in their order


class Asked(NamedTuple):
    """The queries that all indexes are measured on; `judged` is None where it is not known what they should find."""

    queries: list[Query]
    judged: dict[str, dict[str, int]] | None
    source: str
    split: str | None


@dataclass(frozen=True)
class MeasuredIndex:
    """An index and the first `qk` terms of queries it is asked with. Of a run's, `system` is what it is an index of; a
    lone one has none."""

    name: str
    path: Path
    index: Index
    keep: Keep
    system: OpenSystem | None = None
    run: RunFolder | None = None

    @cached_property
    def encoder(self) -> QueryEncoder:
        if self.system is not None:
            return self.system.encoder  # opened once for all prunings
        return EncodedIndex(self.path, self.index).encoder

    def encode(self, queries: Sequence[Query]) -> SparseMatrix:
        """The queries' vectors, whole."""
        if self.system is not None:
            return self.system.encode(queries)
        return encode_queries(queries, self.encoder, self.index.vocabulary)

    @cached_property
    def pieces(self) -> OpenVocabulary | None:
        """The tokenizer whose pieces are the terms of this index; None where its terms are words."""
        places = []
        if self.run is not None and self.system is not None:
            places.append(self.run.of_name(self.system.system).model("vocabulary"))
        if "model" in self.index.meta.query_encoder:
            model = (self.path / self.index.meta.query_encoder["model"]).resolve()
            places += [model, model / "backbone"]
        terms = set(self.index.vocabulary.terms)
        for place in places:
            if tokenizer_files.is_tokenizer(place):
                opened = open_vocabulary(place)
                if opened.kind == PIECES and terms.issuperset(opened.vocabulary.terms):
                    return opened
        return None


def parse_keep(text: str) -> Keep:
    """`5,20` as (5, 20), `5,m0.8` as (5, "m0.8")."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(part.isdecimal() or part.startswith("m") for part in parts):
        raise SettingError(
            f"--keep {text!r} is not allowed: query terms and document terms, such as 5,20 (0: all), or shares of the "
            "mass, such as 5,m0.8"
        )
    return document_cut(parts[0], "--keep"), document_cut(parts[1], "--keep")


def parse_keeps(texts: Sequence[str] | None) -> list[Keep]:
    """Each once; everything where none is given."""
    return list(dict.fromkeys(parse_keep(text) for text in texts or ("0,0",)))


def open_indexes(
    runs: Sequence[Path], indexes: Sequence[Path], systems: Sequence[str], keeps: Sequence[Keep], data: str | None
) -> list[MeasuredIndex]:
    """Every pruning of `keeps` of a system of each run, then standalone indexes, all of the same documents."""
    if not runs and not indexes:
        raise SettingError("nothing to measure was given; give --run RUN or --index INDEX, once or more")
    if indexes and any(dk for _, dk in keeps):
        raise SettingError(
            "--keep with document terms is for runs; an --index has the terms it was made with: give qk,0"
        )
    if systems and not runs:
        raise SettingError("--system names a system of a run; give --run RUN, or leave it out")
    opened = open_systems(runs, systems, data) if runs else []
    for one in opened:
        if one.feedback is not None:
            raise SettingError(
                f"--system {one.system}: its index is that of {one.system.rpartition('+')[0]}; give that"
            )
    _require_same_collection(opened)
    found = [
        _of_run(one, RunFolder(run), keep) for one, run in zip(opened, runs, strict=True) for keep in keeps
    ]  # fmt: skip
    for path in indexes:
        index, name = _open_plain(path), _free_name(path, [one.name for one in found])
        found += [MeasuredIndex(cell_name(name, qk, 0), path, index, (qk, 0)) for qk, _ in keeps]
    _require_same_documents(found)
    return found


def _of_run(system: OpenSystem, run: RunFolder, keep: Keep) -> MeasuredIndex:
    qk, dk = keep
    path = run.index(JUDGED, system.system, dk)
    if not path.is_dir():
        made = sorted(other.name for other in path.parent.glob("index-dk*"))
        raise ArtifactError(
            f"{run.root} has no index of {system.system} with dk = {dk}; present: "
            f"{', '.join(['index', *made])}; make it with: lexigraft evaluate --run {run.root} --system "
            f"{system.system} --qk {qk} --dk {dk}"
        )
    index = system.index if dk == 0 else open_index(path)
    _require_its_vectors(index, path, system.vectors_path, run)
    return MeasuredIndex(cell_name(system.name, qk, dk), path, index, keep, system, run)


def _require_its_vectors(index: Index, path: Path, vectors: Path, run: RunFolder) -> None:
    """Raise where vectors were made anew and the index that is open was not: list maxima would be those of another
    model."""
    of = read_manifest(vectors)
    if of is not None and index.parents.get("vectors", of.fingerprint) != of.fingerprint:
        raise ArtifactError(
            f"{path} is not of the vectors at {vectors}, which were made later; continue the run with the command "
            f"that began {run.root}"
        )


def _open_plain(path: Path) -> Index:
    if is_live(path):
        raise InputError(
            f"{path} is a live index: its lists lie in several segments and hold deleted documents, so they "
            "have no one length or maximum; build a plain one with: lexigraft index --data DIR, or --vectors VECTORS"
        )
    return open_index(path)


def _free_name(path: Path, taken: Sequence[str]) -> str:
    short = path.resolve().name
    return str(path) if short in taken else short


def _require_same_collection(systems: Sequence[OpenSystem]) -> None:
    for one in systems[1:]:
        first = systems[0]
        for what, called in ((CORPUS, "documents"), (QUERIES, "queries")):
            if first.collection.digest(what) != one.collection.digest(what):
                raise InputError(
                    f"{first.name} is of {first.collection.name} and {one.name} of {one.collection.name}, whose "
                    f"{called} are others: their numbers cannot be compared; measure each by itself, with an "
                    "--out of its own"
                )


def _require_same_documents(found: Sequence[MeasuredIndex]) -> None:
    """By their number, and by some of their ids."""
    first = found[0]
    expected = _some_ids(first.index)
    for one in found[1:]:
        if one.index.n_documents != first.index.n_documents or _some_ids(one.index) != expected:
            raise InputError(
                f"{first.path} has {first.index.n_documents:,} rows and {one.path} {one.index.n_documents:,}, which "
                "are not of the same documents: their numbers cannot be compared; measure each by itself, with an "
                "--out of its own"
            )


def _some_ids(index: Index) -> list[str]:
    step = max(1, index.n_documents // COMPARED_IDS)
    return index.doc_ids.take(index.ordinal_of_rank[::step].astype(np.int64))


def asked_queries(found: Sequence[MeasuredIndex], file: Path | None, data: str | None) -> Asked:
    """The queries of `file`; or those that the runs are measured on; or the collection `data`'s."""
    if file is not None:
        return _some(Asked(list_queries(file), None, str(file), None))
    if found[0].system is not None:
        return _some(_of_collection(found[0].system.collection, found[0].system.split, found[0].index))
    if data is None:
        raise InputError(
            f"an index has no queries of its own; give {found[0].path} some: --queries FILE, or --data DIR"
        )
    settings = DataSettings()
    with judged_collection(data, settings) as collection:
        return _some(_of_collection(collection, collection.evaluation_split(settings.split), found[0].index))


def _of_collection(collection: Collection, split: str | None, index: Index) -> Asked:
    queries = list(collection.queries())
    if split is None:
        return Asked(queries, None, collection.name, None)
    judged = known_judgements(collection.qrels(split), split, queries, index)
    return Asked([query for query in queries if query.query_id in judged], judged, collection.name, split)


def _some(asked: Asked) -> Asked:
    if not asked.queries:
        raise InputError(f"{asked.source} has no queries to measure with; give --queries FILE")
    return asked
