"""What a query takes from its text to ranked ids (E1), and which part of that is encoding: systems side by side."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lexigraft.comparison.index_stats_inputs import MeasuredIndex, asked_queries, open_indexes
from lexigraft.core.cut import Keep
from lexigraft.core.errors import SettingError
from lexigraft.measure.speed import Latency, time_calls
from lexigraft.search.searcher import Searcher
from lexigraft.stages.one_thread import one_thread
from lexigraft.vectors.prune import prune_row

Ask = Callable[[str, int], object]  # a text, and how many results


def bench_text(
    runs: Sequence[Path],
    indexes: Sequence[Path] = (),
    systems: Sequence[str] = (),
    keeps: Sequence[Keep] = ((0, 0),),
    queries: Path | None = None,
    data: str | None = None,
    ks: Sequence[int] = (10, 1000),
    times: int = 5,
    limit: int = 200,
) -> dict[str, Any]:
    """Ask each system at most `limit` of the queries, evenly spread, `times` times for each k, all on one thread and in
    turns. What is measured, and on which queries, is chosen as by `measure_indexes`."""
    if limit < 1:
        raise SettingError(f"limit = {limit} is not allowed: 1 or more")
    found = open_indexes(runs, indexes, systems, keeps, data)
    asked = asked_queries(found, queries, data)
    texts = [query.text for query in asked.queries[:: -(-len(asked.queries) // limit)]]
    asks = {one.name: text_search(one) for one in found}
    if len(asks) < len(found):
        raise SettingError("the same system is given twice; give each once")
    encoders: dict[str, Ask] = {one.name: lambda text, k, one=one: one.encoder.encode(text) for one in found}  # type: ignore[misc]
    encoding = time_texts(encoders, texts, 1, times)
    return {
        "collection": asked.source,
        "documents": found[0].index.n_documents,
        "passages": found[0].index.meta.passages,
        "queries": len(texts),
        "runs": times,
        "threads": 1,
        "systems": [
            {"name": name, "k": k, "ms": taken._asdict(), "ms_encode": encoding[name]._asdict()}
            for k in ks
            for name, taken in time_texts(asks, texts, k, times).items()
        ],
    }


def text_search(one: MeasuredIndex) -> Ask:
    """Text to a ranking by an index and the encoder it was made with, the query cut to its `qk` heaviest terms."""
    searcher, encoder, qk = Searcher(one.index), one.encoder, one.keep[0]

    def ask(text: str, k: int) -> object:
        terms, weights = encoder.encode(text)
        return searcher.search(*prune_row(terms, weights, qk), k)

    return ask


def time_texts(asks: dict[str, Ask], texts: Sequence[str], k: int, runs: int) -> dict[str, Latency]:
    """Of each, the milliseconds of a text for k results; after one pass that is not measured, each pass is all texts by
    one, and they take turns."""
    calls: dict[str, Callable[[int], object]] = {
        name: (lambda place, ask=ask: ask(texts[place], k))  # type: ignore[misc]
        for name, ask in asks.items()
    }
    with one_thread():
        return time_calls(calls, len(texts), runs)
