"""Measures and costs worked out by hand."""

import math

import pytest

from lexigraft.core.types import Ranking
from lexigraft.measure.cost import flops, postings_lengths
from lexigraft.measure.measures import measure
from tests.conftest import index_of, sparse_matrix


def test_effectiveness():
    # q1: places 2 and 3 are relevant (grades 2 and 1), a third relevant one (grade 1) is missed, place 1 is judged -1.
    # q2: the only relevant one is at place 11.
    runs = [
        Ranking("q1", ("w", "x", "y"), (3.0, 2.0, 1.0)),
        Ranking("q2", (*(f"n{place}" for place in range(1, 11)), "z"), (1.0,) * 11),
    ]
    judged = {"q1": {"w": -1, "x": 2, "y": 1, "m": 1}, "q2": {"z": 1}}
    found = {item.measure: item for item in measure(runs, judged, ["MRR@10", "R@10", "R@100", "nDCG@10"])}
    assert found["MRR@10"].per_query == pytest.approx({"q1": 1 / 2, "q2": 0})
    assert found["R@10"].per_query == pytest.approx({"q1": 2 / 3, "q2": 0})
    assert found["R@100"].mean == pytest.approx((2 / 3 + 1) / 2)
    gain = 2 / math.log2(3) + 1 / 2  # log2(place + 1) at places 2 and 3
    ideal = 2 + 1 / math.log2(3) + 1 / 2
    assert found["nDCG@10"].per_query == pytest.approx({"q1": gain / ideal, "q2": 0})
    assert found["nDCG@10"].per_query["q1"] == pytest.approx(1.761860 / 3.130930, abs=1e-6)


def test_cost(tmp_path):
    # Lists of 2, 1, 3 and 0 documents; the queries touch 2 + 3 and 1 postings: 6 / (2 queries x 3 documents).
    index = index_of(sparse_matrix([{0: 1.0, 2: 1.0}, {0: 1.0, 1: 1.0, 2: 1.0}, {2: 1.0}], 4), tmp_path / "i")
    assert flops(sparse_matrix([{0: 1.0, 2: 9.0}, {1: 1.0}], 4), index) == 1.0
    lengths = postings_lengths(index)
    assert (lengths.mean, lengths.var, lengths.max) == (1.5, 1.25, 3)  # the empty list counts
    assert lengths.std == pytest.approx(math.sqrt(1.25))
