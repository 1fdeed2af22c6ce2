"""What indexes are like, and what queries touch and take there (corpus vocabulary study, Tables 1, 3, 6, Figure 3)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexigraft.comparison.index_stats_inputs import Asked, MeasuredIndex, asked_queries, open_indexes
from lexigraft.comparison.open_systems import document_contents, take_vectors
from lexigraft.core.cut import Keep
from lexigraft.core.errors import SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import SparseMatrix
from lexigraft.measure.list_maxima import (
    ListMaxima,
    describe,
    maxima_of_index,
    maxima_of_vectors,
    thresholds_up_to,
)
from lexigraft.measure.measures import measure
from lexigraft.measure.query_statistics import added_terms, query_statistics
from lexigraft.measure.speed import Latency, time_calls
from lexigraft.search.searcher import Searcher
from lexigraft.vectors.own_bags import ReadsBags
from lexigraft.vectors.prune import prune
from lexigraft.vocab.batching import batches
from lexigraft.vocab.use import measure_use

DEFAULT, BLOCKMAX, MAXSCORE = "auto", "blockmax_wand", "maxscore"
METHODS = (DEFAULT, BLOCKMAX, MAXSCORE)
QUALITY = "MRR@10"


@dataclass(frozen=True)
class StatisticsSettings:
    """`limit`: at most so many queries, evenly spread, are timed and counted; `documents`: of so many it is looked up
    which terms their texts hold. Everything else is of all."""

    ks: Sequence[int] = (10, 1000)
    runs: int = 5
    limit: int = 500
    documents: int = 10_000

    def __post_init__(self) -> None:
        for name, value in (
            ("k", min(self.ks, default=0)),
            ("runs", self.runs),
            ("limit", self.limit),
            ("documents", self.documents),
        ):
            if value < 1:
                raise SettingError(f"{name} = {value} is not allowed: 1 or more")


def measure_indexes(
    runs: Sequence[Path] = (),
    indexes: Sequence[Path] = (),
    systems: Sequence[str] = (),
    keeps: Sequence[Keep] = ((0, 0),),
    queries: Path | None = None,
    data: str | None = None,
    settings: StatisticsSettings | None = None,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Measure a system of each of `runs` at every (qk, dk) of `keeps`, and `indexes`, all on the same queries; all of
    it comes back as JSON.

    `queries` is a file of them; without it they are those that the runs are measured on, or those of the collection
    `data`. `data` is also where the runs' collection lies, if it has moved.
    """
    settings = settings or StatisticsSettings()
    found = open_indexes(runs, indexes, systems, keeps, data)
    asked = asked_queries(found, queries, data)
    vectors = [prune(one.encode(asked.queries), one.keep[0]) for one in found]
    times = _time_all(found, vectors, settings)
    texts = [query.text for query in asked.queries]
    rows = [
        {
            **_facts(one),
            **query_statistics(of_one, one.index)._asdict(),
            "split_queries": None
            if one.pieces is None
            else measure_use(one.pieces, (), texts).queries_with_a_split_word,
            **_expansion(one, settings.documents, progress),
            QUALITY: _quality(one, of_one, asked),
            "searches": times[place],
            "operations": list(_operations(one, _spread(of_one, settings.limit), settings.ks)),
        }
        for place, (one, of_one) in enumerate(zip(found, vectors, strict=True))
    ]
    return {
        "collection": asked.source,
        "split": asked.split,
        "queries": len(asked.queries),
        "documents": found[0].index.n_documents,
        "passages": found[0].index.meta.passages,
        "timed_queries": _spread(vectors[0], settings.limit).n_rows,
        "runs": settings.runs,
        "threads": 1,
        "systems": rows,
        "list_maxima": _list_maxima(found),
    }


def _facts(one: MeasuredIndex) -> dict[str, Any]:
    meta = one.index.meta
    return {
        "name": one.name,
        "index": str(one.path),
        "system": None if one.system is None else one.system.system,
        "qk": one.keep[0],
        "dk": meta.keep,
        "terms": meta.n_terms,
        "postings": meta.n_postings,
        "bits": meta.bits,
    }


def _spread(vectors: SparseMatrix, limit: int) -> SparseMatrix:
    """At most `limit` of the queries, evenly spread."""
    return take_vectors(vectors, range(0, vectors.n_rows, -(-vectors.n_rows // limit)))


def _time_all(
    found: Sequence[MeasuredIndex], vectors: Sequence[SparseMatrix], settings: StatisticsSettings
) -> list[list[dict[str, Any]]]:
    """Of each index, a row a method and k; all indexes and methods take turns, so that other work hits all alike."""
    timed = [_spread(of_one, settings.limit) for of_one in vectors]
    rows: list[list[dict[str, Any]]] = [[] for _ in found]
    for k in settings.ks:
        calls = {
            f"{place} {method}": _call(Searcher(one.index, method), timed[place], k)
            for place, one in enumerate(found)
            for method in _methods(one)
        }
        for name, taken in time_calls(calls, timed[0].n_rows, settings.runs).items():
            place, method = name.split()
            rows[int(place)].append({"k": k, "method": method, "ms": Latency._asdict(taken)})
    return rows


def _methods(one: MeasuredIndex) -> Sequence[str]:
    """Impacts of 24 bits are searched in one way only."""
    return METHODS if one.index.meta.bits < 24 else (DEFAULT,)


def _call(searcher: Searcher, queries: SparseMatrix, k: int) -> Callable[[int], object]:
    rows = [queries.row(row) for row in range(queries.n_rows)]
    return lambda place: searcher.search(*rows[place], k)


def _operations(one: MeasuredIndex, queries: SparseMatrix, ks: Sequence[int]) -> Iterator[dict[str, Any]]:
    """What MaxScore does for a query, at each k."""
    if MAXSCORE in _methods(one):
        searcher = Searcher(one.index, MAXSCORE)
        for k in ks:
            yield {"k": k, "method": MAXSCORE, **searcher.count(queries, k)}


def _quality(one: MeasuredIndex, queries: SparseMatrix, asked: Asked) -> float | None:
    if asked.judged is None:
        return None
    rankings = Searcher(one.index).search_batch(queries, 10)
    [found] = measure(rankings, asked.judged, [QUALITY])
    return found.mean


def _expansion(one: MeasuredIndex, limit: int, progress: Progress) -> dict[str, Any]:
    """How many terms of an indexed document its text does not hold, on average over documents evenly spread."""
    unknown = {"expansion_terms": None, "expansion_documents": 0}
    system = one.system
    if system is None or not system.vectors_path.is_dir() or not isinstance(one.encoder, ReadsBags):
        return unknown
    matrix = system.vectors.matrix
    rows = range(0, matrix.n_rows, max(1, -(-matrix.n_rows // limit)))
    texts = (text for row, text in enumerate(document_contents(system, progress)) if row % rows.step == 0)
    added, done = 0, 0
    for some in batches(texts, len):
        own = one.encoder.own_bags(some)
        taken = prune(take_vectors(matrix, rows[done : done + len(some)]), one.keep[1])
        added, done = added + int(added_terms(taken, own.indptr, own.terms).sum()), done + len(some)
    return {"expansion_terms": added / done, "expansion_documents": done} if done else unknown


def _list_maxima(found: Sequence[MeasuredIndex]) -> dict[str, Any]:
    """Of each index over its lists that hold something and over all |V|, at the same thresholds."""
    maxima = [_maxima(one) for one in found]
    thresholds = thresholds_up_to(max(float(one.scores.max(initial=0)) for one in maxima))
    return {
        "thresholds": thresholds.tolist(),
        "systems": [
            {
                "name": one.name,
                "bits": of_one.bits,
                "non_empty": describe(of_one.scores[of_one.scores > 0], thresholds)._asdict(),
                "all": describe(of_one.scores, thresholds)._asdict(),
            }
            for one, of_one in zip(found, maxima, strict=True)
        ],
    }


def _maxima(one: MeasuredIndex) -> ListMaxima:
    """Of 16 bits from a run's vectors, where they still lie there; else as the index has them."""
    if one.index.meta.bits == 8 and one.system is not None and one.system.vectors_path.is_dir():
        return maxima_of_vectors(one.system.vectors.matrix, one.keep[1])
    return maxima_of_index(one.index)
