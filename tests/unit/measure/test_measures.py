import random

import numpy as np
import pytest

from lexigraft.core.errors import LexigraftError
from lexigraft.core.types import Qrel, Ranking
from lexigraft.measure import measures
from lexigraft.measure.measures import judgements, measure, trec_eval_available

NAMES = ["MRR@10", "R@10", "R@100", "nDCG@10"]


def test_queries_without_positives_are_left_out():
    rows = [Qrel("a", "1", 0), Qrel("b", "1", 1), Qrel("b", "2", 0), Qrel("c", "1", -1)]
    assert judgements(rows) == {"b": {"1": 1, "2": 0}}


def test_a_judged_query_without_ranking_counts_as_zero():
    found = measure([Ranking("a", ("1",), (1.0,))], {"a": {"1": 1}, "b": {"1": 1}}, ["MRR@10"])
    assert found[0].per_query == {"a": 1.0, "b": 0.0}
    assert found[0].mean == 0.5


def test_the_order_given_is_the_order_measured():
    # trec_eval alone would put "b" before "a", because their scores are equal.
    found = measure([Ranking("q", ("a", "b"), (1.0, 1.0))], {"q": {"a": 1}}, ["MRR@10"])
    assert found[0].mean == 1.0


def test_an_unknown_measure():
    with pytest.raises(LexigraftError, match="nonsense"):
        measure([], {"q": {"a": 1}}, ["nonsense@3"])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nDCG@0", "its cutoff may be 1 to 1,000,000"),
        ("R@99999999999999999999", "its cutoff may be 1 to 1,000,000"),
        (f"R@{'9' * 50}", "its cutoff may be 1 to 1,000,000"),
        ("P(rel=9999999999)@5", "its rel may be -100,000 to 100,000"),
        ("nDCG(gains={1: 1e400})@5", "its gains may be"),
        ("nDCG@-1", "problem parsing"),
        ("R", "it needs a cutoff"),
        pytest.param("(" * 3000, "at most 100 plain characters", id="brackets"),
        ("nDCG@10\x1b[31m", "at most 100 plain characters"),
        ("\udcff", "at most 100 plain characters"),
        ("", "problem parsing"),
    ],
)
@pytest.mark.skipif(not trec_eval_available(), reason="trec_eval is not installed on this machine")
def test_a_measure_that_trec_eval_could_not_bear_is_refused_before_it_sees_it(name, says):
    with pytest.raises(LexigraftError, match=says) as found:
        measure([Ranking("q", ("a", "b"), (2.0, 1.0))], {"q": {"b": 1}}, [name])
    assert "\n" not in str(found.value) and str(found.value).isprintable()
    with pytest.raises(LexigraftError, match=says):
        measures.check_measures([name])


def test_without_trec_eval_the_same_cutoffs_are_refused(monkeypatch):
    monkeypatch.setattr(measures, "trec_eval_available", lambda: False)
    for name in ("nDCG@0", "R@1000001", f"R@{'9' * 50}", "(" * 3000):
        with pytest.raises(LexigraftError):
            measures.check_measures([name])
    measures.check_measures(["R@1000000"])


@pytest.mark.parametrize("grade", [100_001, 3 * 10**9, -(10**30), pytest.param(10**5000, id="digits"), 1.5, True, "2"])
def test_a_grade_that_is_none_is_refused_whoever_gives_it(grade):
    with pytest.raises(LexigraftError, match=r"query 'q', document 'd': the relevance .* is not a whole number"):
        judgements([Qrel("q", "d", grade)])


def test_grades_up_to_the_largest_are_measured():
    judged = judgements([Qrel("q", "a", 100_000), Qrel("q", "b", np.int32(-100_000))])
    assert judged == {"q": {"a": 100_000, "b": -100_000}}
    assert measure([Ranking("q", ("b", "a"), (2.0, 1.0))], judged, ["MRR@10"])[0].mean == 0.5


@pytest.mark.skipif(not trec_eval_available(), reason="trec_eval is not installed on this machine")
def test_what_the_program_behind_a_measure_does_not_take_is_an_error_that_names_the_measure():
    with pytest.raises(LexigraftError, match="ERR@5 cannot be computed"):
        measure([Ranking("q one", ("a",), (1.0,))], {"q one": {"a": 1}}, ["ERR@5"])


@pytest.mark.skipif(not trec_eval_available(), reason="trec_eval is not installed on this machine")
def test_our_measures_equal_trec_eval(monkeypatch):
    rng = random.Random(0)
    docs = [f"d{number}" for number in range(150)]
    judged = {f"q{n}": {doc: rng.choice([-1, 0, 0, 1, 2, 3]) for doc in rng.sample(docs, 40)} for n in range(50)}
    judged = {query: grades for query, grades in judged.items() if any(grade > 0 for grade in grades.values())}
    runs = [Ranking(query, tuple(rng.sample(docs, rng.randrange(150))), ()) for query in list(judged)[5:]]
    reference = measure(runs, judged, NAMES)
    monkeypatch.setattr(measures, "trec_eval_available", lambda: False)
    for theirs, ours in zip(reference, measure(runs, judged, NAMES), strict=True):
        assert theirs.per_query == pytest.approx(ours.per_query, abs=1e-6)


@pytest.mark.skipif(not trec_eval_available(), reason="trec_eval is not installed on this machine")
def test_a_measure_at_k_sees_no_more_than_k_documents_and_one_without_k_sees_all():
    runs, judged = [Ranking("q", tuple("abcdefgh"), ())], {"q": {"b": 1, "h": 1}}
    values = {item.measure: item.mean for item in measure(runs, judged, ["P@2", "AP", "AP@4", "MRR", "R@8"])}
    expected = {"P@2": 1 / 2, "AP": (1 / 2 + 2 / 8) / 2, "AP@4": 1 / 4, "MRR": 1 / 2, "R@8": 1}
    assert values == pytest.approx(expected)


def test_two_names_of_one_measure_have_the_same_value():
    rankings, judged = [Ranking("q", ("a", "b"), (2.0, 1.0))], {"q": {"b": 1}}
    found = {item.measure: item.mean for item in measure(rankings, judged, ["MRR@10", "RR@10", "R@10", "Recall@10"])}
    assert found == {"MRR@10": 0.5, "RR@10": 0.5, "R@10": 1.0, "Recall@10": 1.0}
