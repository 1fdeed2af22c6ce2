"""What searches of an index take and do: every method side by side, on one thread, beside what they cost anywhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexigraft.core.cut import DocumentCut
from lexigraft.core.errors import InputError, LexigraftError, SettingError
from lexigraft.core.types import Query, SparseMatrix
from lexigraft.data.readers.topics import read_queries
from lexigraft.index import texts
from lexigraft.index.inverted import Index
from lexigraft.measure.cost import mean_terms, postings_per_query
from lexigraft.measure.speed import time_calls, time_side_by_side
from lexigraft.search.encoded_index import EncodedIndex
from lexigraft.search.searcher import METHODS, Searcher
from lexigraft.stages.finished_run import open_run
from lexigraft.stages.layout import JUDGED, RunFolder
from lexigraft.stages.one_thread import one_thread
from lexigraft.vectors.query_encoder import QueryEncoder

FEWER_ENCODINGS = 10  # a model takes ten times as long to encode a query as an index to answer it


def bench_run(
    run: Path, system: str | None, dk: DocumentCut, queries: Path | None, methods: Sequence[str], ks: Sequence[int],
    runs: int, limit: int,
) -> dict[str, Any]:  # fmt: skip
    """Measure an index of a run's judged view with `queries`, or those that the run is measured on."""
    folder = RunFolder(run)
    name = folder.require_terms(folder.searchable(system)[1])
    index = folder.index(JUDGED, name, dk)
    asked = list_queries(queries) if queries is not None else _measured_queries(folder)
    return {"system": name, **bench_index(index, asked, methods, ks, runs, limit)}


def bench_index(
    index: Path, queries: Sequence[Query], methods: Sequence[str], ks: Sequence[int], runs: int, limit: int
) -> dict[str, Any]:
    """Search at most `limit` of the queries, evenly spread, `runs` times, with each method and k."""
    if unknown := [method for method in methods if method not in METHODS]:
        raise SettingError(f"search method {unknown[0]!r} is not known; one of {', '.join(METHODS)}")
    if not queries:
        raise InputError("there is no query to measure with")
    encoded = EncodedIndex(index)
    opened = encoded.index
    some = [queries[place] for place in range(0, len(queries), -(-len(queries) // limit))]
    vectors = encoded.encode_queries(some)
    searchers = {method: Searcher(opened, method) for method in methods}
    return {
        "index": str(index),
        **index_facts(opened, index),
        "queries": vectors.n_rows,
        "terms_per_query": mean_terms(vectors.indptr),
        "postings_per_query": postings_per_query(vectors, opened),
        "runs": runs,
        "threads": 1,
        "ms_encode": _encoding_times(encoded.encoder, some, runs),
        "searches": [row for k in ks for row in _search_rows(searchers, vectors, k, runs)],
    }


def _search_rows(searchers: dict[str, Searcher], vectors: SparseMatrix, k: int, runs: int) -> list[dict[str, Any]]:
    times = time_side_by_side(searchers, vectors, k, runs)
    counted = next(iter(searchers.values())).index.meta.bits < 24  # which are searched by what counts nothing
    counts = {method: searcher.count(vectors, k) if counted else None for method, searcher in searchers.items()}
    return [{"method": method, "k": k, "ms": times[method]._asdict(), "counts": counts[method]} for method in searchers]


def _searched_files(index: Path) -> list[Path]:
    return [file for file in index.rglob("*") if file.is_file() and not file.name.startswith(f"{texts.NAME}.")]


def index_facts(index: Index, path: Path) -> dict[str, Any]:
    """Sizes of an index: on disk, without the texts that it may keep, and of its lists a posting."""
    lists = index.entries.nbytes + index.stream.nbytes
    return {
        "documents": index.n_documents,
        "passages": index.meta.passages,
        "terms": index.n_terms,
        "postings": index.meta.n_postings,
        "bits": index.meta.bits,
        "bytes_on_disk": sum(file.stat().st_size for file in _searched_files(path)),
        "bytes_per_posting": lists / max(1, index.meta.n_postings),
    }


def list_queries(path: Path) -> list[Query]:
    """The queries of a file, as collections have them: .jsonl, .tsv, or TREC topics."""
    if not path.is_file():
        raise InputError(f"there is no file {path}; give queries as .jsonl, .tsv or TREC topics")
    return [query for _, query in read_queries(path)]


def _encoding_times(encoder: QueryEncoder, queries: Sequence[Query], runs: int) -> dict[str, float]:
    texts = [query.text for query in queries[: max(1, len(queries) // FEWER_ENCODINGS)]]
    with one_thread():
        return time_calls({"encode": lambda place: encoder.encode(texts[place])}, len(texts), runs)["encode"]._asdict()


def _measured_queries(folder: RunFolder) -> list[Query]:
    """The queries with judgements that the run was measured on, or all, where it was not."""
    try:
        run = open_run(folder.root)
        on = None if run.split is None and run.reported is None else run.reported_on()
        queries = list((on.collection if on is not None else run.collection).queries())
    except LexigraftError as error:
        raise InputError(f"{error}; or give --queries FILE") from error
    judged = None if on is None else {qrel.query_id for qrel in on.collection.qrels(on.split)}
    return [query for query in queries if judged is None or query.query_id in judged]
