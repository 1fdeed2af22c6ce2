import random

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
