"""Statistics of vectors worked out by hand: four rows over four terms, one of which is in no row."""

import math

import pytest

from lexigraft.vectors.stats import DOCUMENT_PRUNINGS, scaled_thresholds, vector_statistics
from tests.conftest import sparse_matrix

#       term 0   1    2   3
ROWS = [{0: 1.0, 1: 2.0}, {0: 3.0}, {0: 5.0, 1: 4.0, 2: 1.0}, {}]


def by_keep(**options):
    found = vector_statistics(sparse_matrix(ROWS, 4), (0, 1), **options)
    assert (found["rows"], found["terms"]) == (4, 4)
    return {item["keep"]: item for item in found["prunings"]}


def test_whole_rows():
    found = by_keep(thresholds=[3, 2, 1, 4])[0]
    # Terms a row: 2, 1, 3, 0. Mean 1.5, variance (.25 + .25 + 2.25 + 2.25) / 4 = 1.25.
    assert found["L0"] == 1.5
    assert found["L0-std"] == pytest.approx(math.sqrt(1.25))
    # Rows a term: 3, 2, 1, 0. The same numbers.
    assert found["pos-ls-len-std"] == pytest.approx(math.sqrt(1.25))
    # Term 0 has 1, 3, 5: mean 3, variance 8/3. Term 1 has 2, 4: std 1. Term 2 has 1: std 0.
    three, two, one, four = found["by_threshold"]
    root = math.sqrt(8 / 3)
    assert three == {"threshold": 3, "logit-score-std": pytest.approx(root), "logit-cnt": 1}
    assert two == {"threshold": 2, "logit-score-std": pytest.approx((root + 1) / 2), "logit-cnt": 2}
    assert one == {"threshold": 1, "logit-score-std": pytest.approx((root + 1) / 3), "logit-cnt": 3}
    assert four == {"threshold": 4, "logit-score-std": None, "logit-cnt": 0}


def test_the_heaviest_term_of_each_row():
    found = by_keep(thresholds=[2, 1])[1]
    # Left: row 0 has term 1 (2), row 1 term 0 (3), row 2 term 0 (5). Terms a row: 1, 1, 1, 0.
    assert found["L0"] == 0.75
    assert found["L0-std"] == pytest.approx(math.sqrt(3 / 16))
    # Rows a term: 2, 1, 0, 0. Mean .75, variance (1.5625 + .0625 + .5625 + .5625) / 4 = .6875.
    assert found["pos-ls-len-std"] == pytest.approx(math.sqrt(0.6875))
    assert found["by_threshold"][0] == {"threshold": 2, "logit-score-std": pytest.approx(1.0), "logit-cnt": 1}
    assert found["by_threshold"][1] == {"threshold": 1, "logit-score-std": pytest.approx(0.5), "logit-cnt": 2}


def test_thresholds_are_the_studys_share_of_the_rows():
    assert scaled_thresholds(20_372_952) == (10_000, 5_000, 1_000)
    assert scaled_thresholds(2_037_296) == (1_001, 501, 101)  # a tenth, and a bit: rounded up
    assert scaled_thresholds(100_000) == (50, 25, 5)  # 49.08, 24.5, 4.9
    assert scaled_thresholds(100) == (1,)  # all the same, once
    assert vector_statistics(sparse_matrix(ROWS, 4), DOCUMENT_PRUNINGS)["thresholds"] == [1]
