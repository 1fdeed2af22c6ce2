"""The stage that measures: judged queries are encoded once, searched at every pruning, measured and timed."""

import logging
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TextIO

from lexigraft.core.artifact import write_json
from lexigraft.core.cut import Keep, QueryCut
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import EvaluateSettings, SearchSettings
from lexigraft.core.types import Measurement, Qrel, Query, Ranking, SparseMatrix
from lexigraft.data.collection import Collection
from lexigraft.index.inverted import Index
from lexigraft.index.store import open_index
from lexigraft.measure.cost import flops, mean_ms, mean_terms, postings_lengths, time_searches
from lexigraft.measure.measures import judgements, measure, measured_by
from lexigraft.measure.speed import Latency, time_within
from lexigraft.measure.trec import write_run
from lexigraft.search.batch import answer_in_turn
from lexigraft.search.encoded_index import EncodedIndex
from lexigraft.search.refine import refined
from lexigraft.search.searcher import Searcher
from lexigraft.search.searching import Searching
from lexigraft.stages.one_thread import one_thread
from lexigraft.vectors.encoding_facts import EncodingFacts, terms_before_cut
from lexigraft.vectors.prune import prune, prune_row
from lexigraft.vectors.query_encoder import QueryEncoder, encode_counted
from lexigraft.vectors.store import open_vectors

REPORTED = ("MRR@10", "R@10", "nDCG@10")
RANKINGS_AT_ONCE = 256
ASKED_FOR = 10  # results, by a person
FEWER_ENCODINGS = 10  # a model takes ten times as long to encode a query as the index to answer it

log = logging.getLogger(__name__)


class JudgedQueries(NamedTuple):
    """The queries of a split as an index's encoder writes them; ties one system to one set of judgements. The encoder
    stays open, and with `timed_texts` it is measured what a query takes from its text to ranked ids."""

    judged: dict[str, dict[str, int]]
    vectors: SparseMatrix
    ms_encode: float
    encoder: QueryEncoder
    timed_texts: list[str]
    before_cut: EncodingFacts | None = None  # of a model that cuts its vectors


def encode_judged(
    collection: Collection, split: str, index_path: Path, settings: EvaluateSettings, qrels: list[Qrel] | None = None
) -> JudgedQueries:
    """Encode every judged query of a split, or of those `qrels` of it, once, for all prunings, and time encoding one at
    a time."""
    opened = EncodedIndex(index_path)
    all_queries = list(collection.queries())
    judged = known_judgements(collection.qrels(split) if qrels is None else qrels, split, all_queries, opened.index)
    queries = [query for query in all_queries if query.query_id in judged]
    n_timed = max(1, settings.timing_queries // FEWER_ENCODINGS)
    timed = [queries[place].text for place in spread(len(queries), n_timed)]
    with one_thread():
        ms_encode = mean_ms(lambda place: opened.encoder.encode(timed[place]), len(timed), settings.timing_runs)
    vectors, before_cut = encode_counted(queries, opened.encoder, opened.index.vocabulary)
    return JudgedQueries(judged, vectors, ms_encode, opened.encoder, timed, before_cut)


def searcher_of(index: Index, qk: QueryCut, search: SearchSettings, vectors_path: Path) -> Searching:
    """What searches an index as the settings say; `qk` is of the first of two passes."""
    return refined(Searcher(index, search.method), search.overlap, search.two_step, qk, vectors_path)


def asked_vectors(queries: JudgedQueries, qk: QueryCut, search: SearchSettings) -> SparseMatrix:
    """What that searcher is given: queries cut to qk terms, or whole ones where it has a second pass."""
    return queries.vectors if search.two_step else prune(queries.vectors, qk)


def what_is_kept(queries: JudgedQueries, vectors_path: Path, keep: Keep) -> dict[str, Any]:
    """Terms that queries and documents keep (0: all), the model's own cut included, and how many they had on average
    before any cut (None where vectors of a former version do not say)."""
    documents, (qk, dk) = open_vectors(vectors_path, checksums=False), keep
    facts, n_rows = documents.encoding, documents.matrix.n_rows
    n_terms, n_query_terms = int(documents.matrix.indptr[-1]), int(queries.vectors.indptr[-1])
    before = terms_before_cut(facts, str(documents.query_encoder.get("kind")), n_terms)
    asked = n_query_terms if queries.before_cut is None else queries.before_cut.terms_before
    own_dk = int(facts.get("most_terms", 0)) if before != n_terms else 0
    own_qk = queries.before_cut.most_terms if queries.before_cut is not None and asked != n_query_terms else 0
    return {
        "kept": [smaller_cut(qk, own_qk), smaller_cut(dk, own_dk)],
        "L0_q_before": asked / max(1, queries.vectors.n_rows),
        "L0_d_before": None if before is None else before / max(1, n_rows),
    }


def smaller_cut(one: QueryCut, other: int) -> QueryCut:
    """The smaller of two numbers of terms that are kept, of which 0 means all; a share or a mass is always said."""
    if isinstance(one, str):
        return one
    return min(one or other, other or one)


def time_from_text(
    queries: JudgedQueries, searcher: Searching, qk: QueryCut, search: SearchSettings, runs: int
) -> Latency:
    """What a query takes from its text to its ten best documents: encoded, cut and searched in one call that is timed,
    on one thread."""

    def ask(place: int) -> object:
        terms, weights = queries.encoder.encode(queries.timed_texts[place])
        asked = (terms, weights) if search.two_step else prune_row(terms, weights, qk)
        return searcher.search(*asked, ASKED_FOR)

    with one_thread():
        return time_within(ask, len(queries.timed_texts), runs)


def evaluate_queries(
    queries: JudgedQueries,
    index_path: Path,
    vectors_path: Path,
    system: str,
    keep: Keep,
    search: SearchSettings,
    settings: EvaluateSettings,
    folder: Path,
    progress: Progress = SILENT,
) -> None:
    """Search every judged query, cut to qk terms; leave `run.trec`, `per_query.json` and the report's `row.json`.

    With `search.two_step` that is the first pass: the second has the whole query and the vectors at `vectors_path`.
    FLOPS and L0 are of the first."""
    opened, (qk, dk) = open_index(index_path), keep
    encoded, asked = prune(queries.vectors, qk), asked_vectors(queries, qk, search)
    searcher = searcher_of(opened, qk, search, vectors_path)

    def rank(row: int) -> Ranking:
        return searcher.search(*asked.row(row), search.k, asked.row_ids[row])

    found = answer_in_turn(rank, encoded.n_rows)
    rankings = progress.track(found, f"searching with {system}", encoded.n_rows)
    names = measure_names(settings)
    with (folder / "run.trec").open("w", encoding="utf-8") as run_file:
        measurements = measure_and_write(rankings, queries.judged, names, run_file, system, settings.run_depth)
    timed = spread(encoded.n_rows, settings.timing_queries)
    from_text = time_from_text(queries, searcher, qk, search, settings.timing_runs)
    row = {
        "system": system,
        "qk": qk,
        "dk": dk,
        **what_is_kept(queries, vectors_path, keep),
        "L0_q": mean_terms(encoded.indptr),
        "L0_d": opened.meta.n_postings / opened.n_documents,
        "FLOPS": flops(encoded, opened),
        **{item.measure: item.mean for item in measurements},
        "ms_encode": queries.ms_encode,
        **time_searches([asked.row(row) for row in timed], searcher, search.k, settings.timing_runs)._asdict(),
        "ms_text_to_ids": from_text.mean,
        "ms_text_to_ids_p50": from_text.p50,
        "documents": opened.n_documents,
        **({"passages": True} if opened.meta.passages else {}),  # it is these that were counted, here and by FLOPS
        "queries": encoded.n_rows,
        "terms": opened.n_terms,
        "postings": opened.meta.n_postings,
        "postings_length": postings_lengths(opened)._asdict(),
        "measured_by": measured_by(),
    }
    write_json(folder / "per_query.json", {item.measure: item.per_query for item in measurements})
    write_json(folder / "row.json", row)


def measure_names(settings: EvaluateSettings) -> list[str]:
    """What every report has, and what was asked for beside it."""
    return [*REPORTED, *(name for name in settings.measures if name not in REPORTED)]


def measure_and_write(
    rankings: Iterator[Ranking],
    judged: dict[str, dict[str, int]],
    names: list[str],
    file: TextIO,
    tag: str,
    depth: int,
) -> list[Measurement]:
    """Measure every ranking and write its beginning, some hundred at a time: many deep rankings are large."""
    per_query: dict[str, dict[str, float]] = {name: {} for name in names}
    while batch := list(islice(rankings, RANKINGS_AT_ONCE)):
        write_run(file, batch, tag, depth)
        for item in measure(batch, {ranking.query_id: judged[ranking.query_id] for ranking in batch}, names):
            per_query[item.measure].update(item.per_query)
    return [Measurement(name, values) for name, values in per_query.items()]


class HoldsDocuments(Protocol):
    """Whatever is searched."""

    def holds(self, doc_id: str) -> bool:
        """Whether a document is there."""
        ...


def known_judgements(
    qrels: list[Qrel], split: str, queries: list[Query], opened: HoldsDocuments
) -> dict[str, dict[str, int]]:
    """Judgements of the queries that exist. Those of unknown documents stay, as in trec_eval: what is not in the
    collection cannot be found, and counts as missed. Both kinds are counted in a warning."""
    query_ids = {query.query_id for query in queries}
    known = [qrel for qrel in qrels if qrel.query_id in query_ids]
    if n_left_out := len(qrels) - len(known):
        example = next(qrel.query_id for qrel in qrels if qrel.query_id not in query_ids)
        message = "%s judgements: %d of %d are left out, their query is unknown (such as %s)"
        log.warning(message, split, n_left_out, len(qrels), example)
    absent = sorted({qrel.doc_id for qrel in known if qrel.relevance > 0 and not opened.holds(qrel.doc_id)})
    if absent:
        message = "%s judgements: %d relevant documents are not in the collection (such as %s) and count as missed"
        log.warning(message, split, len(absent), absent[0])
    judged = judgements(known)
    if n_empty := len({qrel.query_id for qrel in known}) - len(judged):
        log.warning("%s judgements: %d queries have no relevant document and are not measured", split, n_empty)
    if not judged:
        raise InputError(f"no known query of split {split!r} has a relevant document; nothing can be measured")
    return judged


def spread(n: int, limit: int) -> range:
    """At most `limit` of n places, evenly spaced."""
    return range(0, n, max(1, -(-n // limit)))
