"""The recall that validation goes by is the one that reports show."""

import numpy as np
import pytest
import torch

from lexigraft.train.ranking.ranking_validation import recall

ir_measures = pytest.importorskip("ir_measures")


@pytest.mark.parametrize("k", [1, 10])
def test_it_is_that_of_ir_measures(k):
    rng = np.random.default_rng(k)
    scores = rng.permuted(np.tile(np.arange(40.0), (200, 1)), axis=1)  # no two alike, so that no tie is to be broken
    wanted = rng.integers(0, 40, len(scores))
    judged = [ir_measures.Qrel(str(row), str(column), 1) for row, column in enumerate(wanted)]
    run = [
        ir_measures.ScoredDoc(str(row), str(column), score)
        for row, values in enumerate(scores)
        for column, score in enumerate(values)
    ]
    measure = ir_measures.parse_measure(f"R@{k}")
    expected = ir_measures.calc_aggregate([measure], judged, run)[measure]
    assert 0 < expected < 1
    assert recall(torch.from_numpy(scores), torch.from_numpy(wanted), k) == pytest.approx(expected)


def test_a_model_that_scores_all_alike_finds_nothing():
    assert recall(torch.zeros(5, 20), torch.arange(5), 10) == 0.0
