"""An index in an engine that scales: how fast it loads and answers, how large it is, and whether it ranks alike.

    python -m bench.engine_million ENGINE --documents 1000000 --work FOLDER --out FILE.json
    python -m bench.engine_million ENGINE --data debian_desc2title --work FOLDER --out FILE.json

ENGINE is an address, or one of postgresql, milvus-lite, qdrant-edge, qdrant-local, which are started here and leave
nothing behind. The index is made (bench/made_index.py), or BM25's over a real collection, whose dev queries are asked.
It is loaded by the product's own code (`lexigraft.engines.loading`) with the defaults of `lexigraft engine load`. Then
queries are asked one after the other, warm, by one thread or by `--clients`; every ranking is compared with the local
engine's: the same scores, and the same documents but for ties at the last place. Last, documents are deleted, and the
collection is dropped. `load_average` says how busy the machine was, and `cpu_s` and `cpu_ms` what the work took of its
processors, client and server together: on a machine with other work, those are the numbers to compare.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bench.cpu_time import cpu_seconds
from bench.engine_places import KINDS, EnginePlace, opened_place
from bench.made_index import Query, made_index, made_queries
from lexigraft.core.artifact import write_json
from lexigraft.core.errors import LexigraftError
from lexigraft.engines.engine import Description, Engine, EngineHit
from lexigraft.engines.loading import load_index
from lexigraft.engines.searching import search_engine
from lexigraft.index.inverted import Index
from lexigraft.index.metadata import Metadata
from lexigraft.search.searcher import Searcher

WARM_UP = 10
DELETED = 1000


class TooLongError(LexigraftError):
    """A load was stopped for its time."""


def of_collection(data: Path, folder: Path, n_queries: int) -> tuple[Index, None, list[Query]]:
    """BM25's index of a collection, and the first of its dev queries that share a term with it."""
    from lexigraft.core.settings import Settings
    from lexigraft.data.sources import open_source
    from lexigraft.index.store import open_index
    from lexigraft.stages.standalone import build
    from lexigraft.vectors.query_encoder import open_query_encoder

    path = folder / data.name
    if not path.exists():
        build(str(data), path, Settings())
    index = open_index(path)
    collection = open_source(str(data))
    judged = {qrel.query_id for qrel in collection.qrels("dev")}
    texts = [query.text for query in collection.queries() if query.query_id in judged]
    encoder = open_query_encoder(index.meta.query_encoder, index.vocabulary, path)
    encoded = [row for row in encoder.encode_all(texts) if len(row[0])]
    return index, None, encoded[:n_queries]


def loaded(place: EnginePlace, index: Index, metadata: Metadata | None, most_minutes: float) -> dict[str, Any]:
    """Load the index, or what of it fits into the time; then the load can be repeated, and goes on."""
    begun, shown = time.monotonic(), 0.0
    state = {"rows": 0}

    def on_progress(done: int, total: int) -> None:
        nonlocal shown
        state["rows"], now = done, time.monotonic()
        if now - shown > 10:
            shown = now
            print(f"{done:,} of {total:,} after {now - begun:,.0f} s", file=sys.stderr, flush=True)
        if now - begun > 60 * most_minutes:
            raise TooLongError(f"{done:,} of {total:,} rows were loaded in {most_minutes:g} minutes")

    busy, used = os.getloadavg()[0], cpu_seconds()
    try:
        before = load_index(index, place.engine, "bench", place.name, metadata, on_progress=on_progress).n_before
        stopped = None
    except TooLongError as error:
        before, stopped = 0, str(error)
    seconds, used = time.monotonic() - begun, cpu_seconds() - used
    new = (index.n_documents if stopped is None else state["rows"]) - before
    begun = time.monotonic()
    place.settle()
    return {
        "load_s": round(seconds, 1), "rows_per_s": round(new / seconds), "cpu_s": round(used, 1),
        "settle_s": round(time.monotonic() - begun, 1),
        "stopped": stopped, "rows_before": before, "load_average": round(busy, 1),
        "mb": None if (size := place.size()) is None else round(size / 1e6, 1),
    }  # fmt: skip


def answered(
    engine: Engine, description: Description, queries: Sequence[Query], options: argparse.Namespace
) -> tuple[list[list[EngineHit]], dict[str, Any]]:
    """What every query finds that is asked within the time, and how long one took."""
    k, clients = options.k, options.clients
    end = time.perf_counter() + 60 * options.search_minutes

    def ask(query: Query) -> tuple[list[EngineHit], float] | None:
        begun = time.perf_counter()
        if begun > end:
            return None
        hits = search_engine(engine, description, query, k)
        return hits, time.perf_counter() - begun

    for query in queries[:WARM_UP]:
        ask(query)
    busy, used = os.getloadavg()[0], cpu_seconds()
    with ThreadPoolExecutor(clients) as pool:
        found = [one for one in pool.map(ask, queries) if one is not None]  # always the first ones
    cost = round(1000 * (cpu_seconds() - used) / len(found), 2)
    facts = {"clients": clients, "load_average": round(busy, 1), "cpu_ms": cost, **_times(found)}
    return [hits for hits, _ in found], facts


def _times(found: Sequence[tuple[Any, float]]) -> dict[str, float]:
    seconds = np.array([one for _, one in found])
    return {f"p{share}_ms": round(1000 * float(np.percentile(seconds, share)), 3) for share in (50, 99)}


def compared(index: Index, queries: Sequence[Query], k: int, found: Sequence[list[EngineHit]]) -> dict[str, Any]:
    """How many rankings are the local engine's: the same scores, and the same documents above the last score; and how
    long that one takes, on one thread."""
    searcher, equal, times = Searcher(index), 0, []
    for query in queries[:WARM_UP]:
        searcher.search(*query, k)
    for query, hits in zip(queries, found, strict=True):
        begun = time.perf_counter()
        right = searcher.search(*query, k)
        times.append((None, time.perf_counter() - begun))
        last = hits[-1].score if len(hits) == k else -1.0
        expected = {(name, score) for name, score in zip(right.doc_ids, right.scores, strict=True) if score > last}
        equal += [hit.score for hit in hits] == list(right.scores) and {
            (hit.row_id, hit.score) for hit in hits if hit.score > last
        } == expected
    return {"k": k, "queries": len(queries), "equal_up_to_ties": equal, "local": _times(times)}


def deleted(place: EnginePlace, index: Index) -> dict[str, Any]:
    """Delete some rows by id, count what is left, and drop the collection."""
    chosen = [index.doc_ids[row] for row in range(0, index.n_documents, max(1, index.n_documents // DELETED))][:DELETED]
    before, begun = place.engine.count(), time.perf_counter()
    place.engine.delete(chosen)
    seconds = time.perf_counter() - begun
    after = place.engine.count()
    place.engine.drop()
    gone = place.engine.describe() is None
    return {"rows": before, "deleted": before - after, "delete_s": round(seconds, 3), "dropped": gone}


def measure(place: EnginePlace, options: argparse.Namespace) -> dict[str, Any]:
    if options.data is None:
        index, metadata = made_index(options.work / f"made-{options.documents}", options.documents)
        queries, vectors = made_queries(options.queries), "made"
    else:
        index, metadata, queries = of_collection(options.data, options.work, options.queries)
        vectors = options.data.name
    facts: dict[str, Any] = {
        "engine": place.name, "version": place.version, "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "vectors": vectors, "documents": index.n_documents, "postings": index.meta.n_postings,
    }  # fmt: skip
    facts["load"] = loaded(place, index, metadata, options.minutes)
    description = place.engine.describe()
    assert description is not None
    if facts["load"]["stopped"] is None:
        found, facts["search"] = answered(place.engine, description, queries, options)
        facts["rankings"] = compared(index, queries[: len(found)], options.k, found)
    return facts | {"deletion": deleted(place, index)}


def keep(facts: dict[str, Any], file: Path) -> None:
    """Add a measurement to those in a file; an older one of the same things goes."""
    same = ("engine", "vectors", "documents")
    kept = json.loads(file.read_text()) if file.exists() else []
    kept = [one for one in kept if any(one[key] != facts[key] for key in same)]
    write_json(file, [*kept, facts])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", metavar="ENGINE", help=f"an address, or one of {', '.join(KINDS)}")
    parser.add_argument("--documents", type=int, default=1_000_000, help="made documents")
    parser.add_argument("--data", type=Path, help="a collection with dev queries, in the place of made documents")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--clients", type=int, default=1, help="queries that are asked at a time")
    parser.add_argument("--minutes", type=float, default=15, help="a load that takes longer is stopped and noted")
    parser.add_argument("--search-minutes", type=float, default=15, help="queries are asked within this time")
    parser.add_argument("--work", type=Path, required=True, help="a folder for indexes and files of engines")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to add the measurement to")
    options = parser.parse_args()
    with opened_place(options.engine, options.work / "engines") as place:
        facts = measure(place, options)
    keep(facts, options.out)
    print(json.dumps(facts))


if __name__ == "__main__":
    try:
        main()
    except LexigraftError as error:
        sys.exit(f"error: {error}")
