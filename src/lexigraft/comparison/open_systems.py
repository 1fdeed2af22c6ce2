"""A system of a run, opened for the study of its expansion: its index, its encoder, and texts as terms."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.artifact import Manifest, hash_file, open_artifact, read_manifest
from lexigraft.core.cut import DocumentCut
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.pinned import of_one_version
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import DataSettings, IndexSettings
from lexigraft.core.types import Query, SparseMatrix
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.expand.generated import REPEATS, open_generated, read_generated
from lexigraft.expand.generated import expanded_queries as with_generated_text
from lexigraft.expand.rm3 import expanded_queries
from lexigraft.expand.settings import Rm3Settings
from lexigraft.explain.wackiness import Find, TextTerms, document_frequency, text_lengths
from lexigraft.index.inverted import Index
from lexigraft.index.store import open_index
from lexigraft.learn.training_data import TRAIN
from lexigraft.search.encoded_index import EncodedIndex
from lexigraft.search.searcher import Searcher
from lexigraft.stages.encode import passage_config, searched_documents
from lexigraft.stages.evaluate import known_judgements
from lexigraft.stages.finished_run import open_run
from lexigraft.stages.layout import JUDGED, RunFolder
from lexigraft.vectors import counts as counts_store
from lexigraft.vectors.own_bags import bag_reader
from lexigraft.vectors.query_encoder import QueryEncoder, encode_queries
from lexigraft.vectors.store import DocumentVectors, open_vectors
from lexigraft.vocab.bags import TermBags
from lexigraft.vocab.batching import batches
from lexigraft.vocab.ragged_store import RaggedWriter, open_ragged

log = logging.getLogger(__name__)

WITH_RM3 = "+rm3"
TERMS_KIND, TERMS_FORMAT = "document-terms", 1
TEXTS_AT_ONCE = 4096


@dataclass(frozen=True)
class OpenSystem:
    """One system over one collection; what it opens stays open."""

    name: str
    system: str
    collection: Collection
    data: DataSettings
    index_path: Path
    vectors_path: Path
    pruned: tuple[tuple[DocumentCut, DocumentCut, Path], ...] = ()  # (qk, dk, index) of the run's prunings by weight
    feedback: Rm3Settings | None = None  # its queries are expanded by what they find
    query_texts: Path | None = None  # its queries are expanded by the text that this file has for them

    @cached_property
    def index(self) -> Index:
        return open_index(self.index_path)

    @cached_property
    def vectors(self) -> DocumentVectors:
        return open_vectors(self.vectors_path)

    @cached_property
    def encoder(self) -> QueryEncoder:
        return EncodedIndex(self.index_path, self.index).encoder

    @cached_property
    def split(self) -> str | None:
        """The judgements to measure with; None where there are none."""
        return self.collection.evaluation_split(self.data.split)

    @property
    def index_settings(self) -> IndexSettings:
        """How its index was made, for others that are to be compared with it."""
        return IndexSettings(bits=self.index.meta.bits, reorder=self.index.meta.reordered)

    @property
    def is_model(self) -> bool:
        """Whether a model encodes its texts, and not BM25."""
        return self.index.meta.query_encoder.get("kind") == "model"

    @property
    def query_expansion(self) -> dict[str, Any]:
        """How queries are expanded beside their encoder, for a recipe; empty where they are not."""
        if self.query_texts is not None:
            return {"generated": hash_file(self.query_texts), "repeats": REPEATS}
        return {} if self.feedback is None else {"feedback": asdict(self.feedback)}

    @cached_property
    def expandable(self) -> frozenset[str] | None:
        """The ids of the queries that text was generated for; None where the system expands any query."""
        return None if self.query_texts is None else frozenset(name for name, _ in read_generated(self.query_texts))

    def fingerprint(self, path: Path) -> str:
        manifest = read_manifest(path)
        if manifest is None:
            raise ArtifactError(f"there is no artifact at {path}; continue the run with the command that began it")
        return manifest.fingerprint

    def encode(self, queries: Sequence[Query], progress: Progress = SILENT) -> SparseMatrix:
        """The queries' vectors, some thousand at a time."""
        starts = range(0, len(queries), TEXTS_AT_ONCE)
        with self._row_writer(queries) as rows_of:
            parts = [
                rows_of(queries[start : start + TEXTS_AT_ONCE])
                for start in progress.track(starts, f"encoding queries ({self.name})", len(starts))
            ]
        ends = np.cumsum([0, *(int(part.indptr[-1]) for part in parts)])
        starts_of = [part.indptr[:-1] + end for part, end in zip(parts, ends, strict=False)]
        return SparseMatrix(
            [query.query_id for query in queries],
            np.concatenate([*starts_of, ends[-1:]]).astype(np.int64),
            np.concatenate([np.zeros(0, np.int32), *(part.term_ids for part in parts)]),
            np.concatenate([np.zeros(0, np.float32), *(part.weights for part in parts)]),
            self.index.n_terms,
            self.index.meta.vocab_fingerprint,
        )

    @contextmanager
    def _row_writer(self, queries: Sequence[Query]) -> Iterator[Callable[[Sequence[Query]], SparseMatrix]]:
        """What writes the vectors of some of the `queries`: with generated text, where the system has a file of it."""
        encoder, vocabulary = self.encoder, self.index.vocabulary
        if self.query_texts is None or self.expandable is None:
            yield lambda some: encode_queries(some, encoder, vocabulary)
            return
        bare = [query.query_id for query in queries if query.query_id not in self.expandable]
        if queries and len(bare) == len(queries):
            raise InputError(
                f"{self.query_texts} has no text for any of the {len(queries):,} queries that are searched with (such "
                f"as {bare[0]!r}); generate some, or measure without removal: --no-removal"
            )
        if bare:
            message = "%s: %d of %d queries have no generated text and stay as they are (such as %s)"
            log.warning(message, self.query_texts, len(bare), len(queries), bare[0])
        with open_generated(self.query_texts) as texts:
            yield lambda some: with_generated_text(some, texts, encoder, vocabulary)

    def expand(
        self, vectors: SparseMatrix, document_terms: Callable[[], TextTerms], progress: Progress = SILENT
    ) -> SparseMatrix:
        """What the system searches with in place of `vectors`, where it expands them by what they find."""
        if self.feedback is None:
            return vectors
        documents = document_terms()
        counts = counts_store.TermCounts(
            self.vectors.matrix.row_ids, *documents, text_lengths(documents),
            document_frequency(documents, self.index.n_terms), self.index.meta.vocab_fingerprint,
        )  # fmt: skip
        return expanded_queries(vectors, Searcher(self.index), counts, self.feedback, progress)

    def own_terms(self, texts: list[str]) -> TextTerms:
        """The terms that texts hold, counted."""
        bags = bag_reader(self.encoder).own_bags(texts)
        return TextTerms(bags.indptr, bags.terms, bags.counts)

    def finder(self, k: int) -> Find:
        """Vectors to the rows, in the order of the vectors and of the document terms, of their k best documents."""
        searcher, row_of = Searcher(self.index), self.row_of_ordinal

        def find(terms: NDArray[np.int32], weights: NDArray[np.float32]) -> NDArray[np.int64]:
            return row_of[searcher.search_ordinals(terms, weights, k)[0]]

        return find

    @cached_property
    def row_of_ordinal(self) -> NDArray[np.int64]:
        """An index may have its documents in an order of its own."""
        if not self.index.meta.reordered:
            return np.arange(self.index.n_documents)
        row_of = {identifier: row for row, identifier in enumerate(self.vectors.matrix.row_ids)}
        return np.array([row_of[identifier] for identifier in self.index.doc_ids], np.int64)

    def judged(self, limit: int) -> tuple[list[Query], dict[str, dict[str, int]]]:
        """At most `limit` of the measured queries, evenly spread, and their judgements; none without judgements."""
        if self.split is None:
            return [], {}
        queries = list(self.collection.queries())
        judged = known_judgements(self.collection.qrels(self.split), self.split, queries, self.index)
        measured = [query for query in queries if query.query_id in judged]
        some = measured[:: -(-len(measured) // limit)]
        return some, {query.query_id: judged[query.query_id] for query in some}


def open_system(run: Path, system: str | None, name: str, data: str | None) -> OpenSystem:
    """A system of the run at `run`, its learned model where None, over the judged view of its collection, which lies
    where the run says or at `data`. A name that ends with +rm3 is that system with queries expanded by RM3."""
    folder = RunFolder(run)
    if system is not None and system.endswith(WITH_RM3):
        base = open_system(run, system.removesuffix(WITH_RM3), name, data)
        if base.is_model:
            raise SettingError(f"{system}: RM3 expands the words of a query; give it BM25: bm25{WITH_RM3}")
        return replace(base, system=system, feedback=Rm3Settings(), pruned=())
    chosen = folder.require_terms(folder.searchable(system)[1])
    index = folder.index(JUDGED, chosen, 0)
    if not index.is_dir():
        raise ArtifactError(f"{run} has no judged index of {chosen} yet; continue it with the command that began it")
    opened = open_run(run, data)
    budgets = opened.system(chosen).prunings
    prunings = ((qk, dk, folder.index(JUDGED, chosen, dk)) for qk, dk in budgets if (qk, dk) != (0, 0))
    made = tuple(pruning for pruning in prunings if pruning[2].is_dir())
    vectors = folder.vectors(JUDGED, chosen)
    return OpenSystem(name, chosen, opened.collection, opened.settings.data, index, vectors, made)


def open_systems(runs: Sequence[Path], systems: Sequence[str], data: str | None) -> list[OpenSystem]:
    """A system of each run, named apart. `systems`: one for all runs or one for each; their models where none."""
    if not runs:
        raise SettingError("no run was given; give the folder of one or more: --run RUN")
    if len(systems) > 1 and len(systems) != len(runs):
        raise SettingError(f"{len(systems)} systems for {len(runs)} runs; give one for all, or one for each in order")
    chosen: list[str | None] = [*systems] or [None]
    if len(chosen) == 1:
        chosen *= len(runs)
    opened: list[OpenSystem] = []
    for run, system in zip(runs, chosen, strict=True):
        wanted = run.resolve().name
        one = open_system(run, system, wanted, data)
        taken = {other.name for other in opened}
        names = (wanted, f"{wanted}-{one.system}", *(f"{wanted}-{one.system}-{n}" for n in range(2, len(runs) + 2)))
        free = (name for name in names[one.feedback is not None :] if name not in taken)
        opened.append(replace(one, name=next(free)))
    return opened


def input_queries(
    collection: Collection, limit: int, seed: int, expandable: frozenset[str] | None = None
) -> tuple[list[Query], str]:
    """(at most `limit` queries, drawn, in their order; which they are): those that train, or all where none do; of
    these only the `expandable`, where not all are."""
    queries, which = list(collection.queries()), "all queries"
    if expandable is not None and queries:
        known = [query for query in queries if query.query_id in expandable]
        if not known:
            raise InputError(
                f"no text was generated for any of the {len(queries):,} queries of {collection.name} (such as "
                f"{queries[0].query_id!r}); the file has ids such as {min(expandable, default='none')!r}"
            )
        which = "all queries" if len(known) == len(queries) else "queries with generated text"
        queries = known
    if TRAIN in collection.splits:
        wanted = {qrel.query_id for qrel in collection.qrels(TRAIN) if qrel.relevance > 0}
        if trained := [query for query in queries if query.query_id in wanted]:
            which = "training queries" if which == "all queries" else "training queries with generated text"
            queries = trained
    if not queries:
        raise InputError(
            f"{collection.name} has no queries to expand; take its documents as queries: --documents --queries 0"
        )
    return [queries[place] for place in drawn_places(len(queries), limit, seed)], which


def drawn_places(n: int, limit: int, seed: int) -> list[int]:
    """At most `limit` of n places, ascending."""
    if n <= limit:
        return list(range(n))
    return sorted(np.random.default_rng(seed).permutation(n)[:limit].tolist())


def terms_manifest(system: OpenSystem) -> Manifest:
    """What the document terms of a system depend on: its documents, and what reads them."""
    parents = {"vectors": system.fingerprint(system.vectors_path), "corpus": system.collection.digest(CORPUS)}
    return Manifest(TERMS_KIND, TERMS_FORMAT, passage_config(system.data), parents)


def write_document_terms(system: OpenSystem, folder: Path, progress: Progress = SILENT) -> None:
    """The terms of every document, or passage, in the order of the vectors."""
    reader = bag_reader(system.encoder)
    with RaggedWriter(folder, "terms") as writer:
        for some in batches(document_contents(system, progress), len):
            writer.append(reader.own_bags(some))


def document_contents(system: OpenSystem, progress: Progress = SILENT) -> Iterator[str]:
    """The documents' texts, each held against the id that the vectors have in its place."""
    stream = searched_documents(system.collection, system.data, SILENT)
    tracked = progress.track(stream, f"counting terms ({system.name})", system.index.n_documents)
    ids = iter(system.vectors.matrix.row_ids)
    for place, document in enumerate(tracked, 1):
        if (expected := next(ids, None)) != document.doc_id:
            raise InputError(
                f"document {place:,} of the collection is {document.doc_id!r}, and of the vectors of {system.name} "
                f"{expected!r}; continue the run, which encodes what has changed, or give its own collection as --data"
            )
        yield document.contents
    if (missing := next(ids, None)) is not None:
        raise InputError(
            f"the collection has no document {missing!r}, which {system.name} was made with; continue the run, which "
            "indexes what has changed"
        )


@of_one_version
def open_document_terms(folder: Path) -> TextTerms:
    """What `write_document_terms` wrote, memory-mapped."""
    open_artifact(folder, TERMS_KIND, TERMS_FORMAT, checksums=False)
    bags = open_ragged(TermBags, folder, "terms")
    return TextTerms(bags.indptr, bags.terms, bags.counts)


def take_vectors(matrix: SparseMatrix, rows: Sequence[int]) -> SparseMatrix:
    """Some rows of a matrix."""
    indptr, at = _spans(matrix.indptr, rows)
    return SparseMatrix(
        [matrix.row_ids[row] for row in rows], indptr, matrix.term_ids[at], matrix.weights[at], matrix.n_terms,
        matrix.vocab_fingerprint,
    )  # fmt: skip


def take_counts(counts: TextTerms, rows: Sequence[int]) -> TextTerms:
    """Some rows of counted terms."""
    indptr, at = _spans(counts.indptr, rows)
    return TextTerms(indptr, counts.terms[at], counts.counts[at])


def _spans(indptr: NDArray[np.int64], rows: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(row pointers of the rows taken, the places of their entries)."""
    places = np.asarray(rows, np.int64)
    lengths = indptr[places + 1] - indptr[places]
    taken = np.zeros(len(places) + 1, np.int64)
    np.cumsum(lengths, out=taken[1:])
    return taken, np.repeat(indptr[places] - taken[:-1], lengths) + np.arange(taken[-1])
