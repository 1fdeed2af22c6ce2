"""Effectiveness (E1): per-query measures of rankings against judgements.

`ir_measures` computes whatever it can name, through trec_eval. Where trec_eval has no build (Linux on ARM, for one),
the measures of this field are computed here by the same definitions: RR@k, R@k and nDCG@k with linear gain; tests hold
the two equal. A report says which of the two measured it.

The order of a ranking is taken as given: trec_eval would re-sort equal scores by descending id, so positions, not
scores, are what is handed to it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from lexigraft.core.errors import InputError, MissingExtraError
from lexigraft.core.grades import checked_grade
from lexigraft.core.types import Measurement, Qrel, Ranking
from lexigraft.measure.measure_names import own_measure, parsed_measure, require_plain

Judgements = Mapping[str, Mapping[str, int]]


def judgements(qrels: Iterable[Qrel]) -> dict[str, dict[str, int]]:
    """Relevance by query and document; queries without a positive judgement are left out, as nothing can be found.
    Raises for a grade that is none, whoever gave it."""
    by_query: dict[str, dict[str, int]] = {}
    for query, document, relevance in qrels:
        grade = checked_grade(relevance, f"query {query!r}, document {document!r}: the relevance")
        by_query.setdefault(query, {})[document] = grade
    return {query: judged for query, judged in by_query.items() if any(grade > 0 for grade in judged.values())}


def measure(rankings: Iterable[Ranking], judged: Judgements, measures: Sequence[str]) -> list[Measurement]:
    """One `Measurement` per name in `measures`; a judged query without a ranking counts as 0."""
    ranked = {ranking.query_id: ranking.doc_ids for ranking in rankings}
    if trec_eval_available():
        return _measure_with_ir_measures(ranked, judged, measures)
    functions = [(name, _own_measure(name)) for name in measures]
    return [
        Measurement(name, {query: function(ranked.get(query, ()), grades) for query, grades in judged.items()})
        for name, function in functions
    ]


def check_measures(names: Sequence[str]) -> None:
    """Raise for a name that `measure` would not know, before long work rather than after it."""
    measure([], {}, names)


def measured_by() -> str:
    """What `measure` uses here, for reports."""
    return f"ir_measures {version('ir-measures')} (trec_eval)" if trec_eval_available() else "lexigraft"


@cache
def trec_eval_available() -> bool:
    try:
        import ir_measures  # noqa: F401
        import pytrec_eval  # noqa: F401
    except ImportError:
        return False
    return True


def _measure_with_ir_measures(
    ranked: Mapping[str, Sequence[str]], judged: Judgements, measures: Sequence[str]
) -> list[Measurement]:
    by_cutoff: dict[int | None, dict[Any, list[str]]] = {}
    for name in measures:
        parsed = parsed_measure(name)
        by_cutoff.setdefault(parsed.params.get("cutoff"), {}).setdefault(parsed, []).append(name)
    qrels = {query: dict(grades) for query, grades in judged.items()}
    per_query: dict[str, dict[str, float]] = {name: dict.fromkeys(judged, 0.0) for name in measures}
    for cutoff, names in by_cutoff.items():  # a measure at k sees k documents: most are made for far deeper rankings
        run = {query: {doc: float(-place) for place, doc in enumerate(docs[:cutoff])} for query, docs in ranked.items()}
        for metric in _calculated(list(names), qrels, run) if qrels else ():
            for name in names[metric.measure]:  # one measure may have been asked for by several names
                per_query[name][metric.query_id] = metric.value
    return [Measurement(name, per_query[name]) for name in measures]


def _calculated(measures: list[Any], qrels: Judgements, run: Mapping[str, Mapping[str, float]]) -> Iterator[Any]:
    import ir_measures

    try:
        yield from ir_measures.iter_calc(measures, qrels, run)
    except Exception as error:  # some are computed by programs of others, each of which fails in its own way
        named = ", ".join(map(str, measures))
        raise InputError(
            f"{named} cannot be computed for these judgements and rankings ({type(error).__name__}); ERR and "
            "exponential gain, for example, are for grades from 0 to 4, queries whose ids are numbers, and ids without "
            "white space"
        ) from error


def _own_measure(name: str) -> Callable[[Sequence[str], Mapping[str, int]], float]:
    require_plain(name)
    found = own_measure(name)
    if found is None:
        raise MissingExtraError(
            f"the measure {name!r}",
            "ir-measures",
            "pip install ir-measures, or use MRR@k, R@k and nDCG@k, which need nothing",
        )
    formula, k = {"RR": reciprocal_rank, "R": recall, "nDCG": ndcg}[found[0]], found[1]
    return lambda docs, grades: formula(docs, grades, k)


def reciprocal_rank(docs: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """1 / the place of the first relevant document, 0 where none is among the first k."""
    return next((1 / place for place, doc in enumerate(docs[:k], 1) if grades.get(doc, 0) > 0), 0.0)


def recall(docs: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """The share of the relevant documents that is among the first k."""
    relevant = sum(grade > 0 for grade in grades.values())
    return sum(grades.get(doc, 0) > 0 for doc in docs[:k]) / relevant


def ndcg(docs: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Sum of grade / log2(place + 1) over the first k, divided by the same of the ideal order (linear gain)."""
    ideal = _dcg(sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k])
    return _dcg([max(grades.get(doc, 0), 0) for doc in docs[:k]]) / ideal


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))
