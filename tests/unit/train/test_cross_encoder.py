"""How a teacher is trained: its lists, its loss, and what it is validated by."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.settings import TeacherSettings
from lexigraft.train.ranking.cross_encoder import (
    RankingLists,
    Reranking,
    lists_of_step,
    listwise_loss,
    mrr,
    n_steps,
    own_is_first,
)
from lexigraft.train.ranking.negatives import HardNegatives

NEGATIVES = HardNegatives(np.array([0, 6, 7]), np.array([2, 3, 4, 5, 6, 7, 3]), np.full(7, np.nan, np.float32))
LISTS = RankingLists(np.array([0, 1, 1]), np.array([0, 1, 8]), NEGATIVES)


def test_a_list_is_the_own_document_and_negatives_of_its_query():
    settings = TeacherSettings(steps=9, batch=3, n_negatives=2)
    seen = set()
    for step in range(9):
        queries, documents = lists_of_step(LISTS, step, settings, seed=4)
        again = lists_of_step(LISTS, step, settings, seed=4)
        assert np.array_equal(documents, again[1])
        assert sorted(zip(queries.tolist(), documents[:, 0].tolist(), strict=True)) == [(0, 0), (1, 1), (1, 8)]
        for query, row in zip(queries.tolist(), documents[:, 1:].tolist(), strict=True):
            if query == 1:  # it has one negative alone
                assert row == [3, -1]
            else:
                assert len(set(row)) == 2
                assert set(row) <= {2, 3, 4, 5, 6, 7}
                seen.add(tuple(row))
    assert len(seen) > 3  # drawn anew at every step


def test_the_loss_by_hand():
    scores = torch.tensor([[2.0, 1.0, 0.0], [0.0, 1.0, float("-inf")]])
    first = -math.log(math.exp(2) / (math.exp(2) + math.exp(1) + 1))
    second = -math.log(1 / (1 + math.exp(1)))
    assert listwise_loss(scores).item() == pytest.approx((first + second) / 2)
    assert own_is_first(scores).item() == 0.5
    assert own_is_first(torch.zeros(2, 3)).item() == 0.0  # alike is not first


def test_an_absent_document_has_no_gradient():
    scores = torch.zeros(3, requires_grad=True)
    known = torch.tensor([[True, True], [True, False]])
    table = torch.full((2, 2), float("-inf")).masked_scatter(known, scores)
    listwise_loss(table).backward()
    assert scores.grad.tolist() == pytest.approx([-0.25, 0.25, 0.0])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"steps": 7}, 7), ({"epochs": 2.0, "batch": 4}, 50), ({"epochs": 0.5, "batch": 4}, 12), ({"epochs": 0.001}, 1)],
)
def test_how_long_it_trains(settings, expected):
    assert n_steps(TeacherSettings(**settings), 100) == expected


LIST = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=15).filter(
    lambda found: any(relevant for _, relevant in found)
)


@given(st.lists(LIST, min_size=1, max_size=4), st.integers(1, 12))
def test_mrr_is_that_of_lists_ranked_one_by_one(found, k):
    """The slow twin sorts each list, irrelevant ones first among equal scores."""
    rows = [(number, score, relevant) for number, one in enumerate(found) for score, relevant in one]
    expected = []
    for one in found:
        ranked = sorted(one, key=lambda item: (-item[0], item[1]))
        place = 1 + next(at for at, item in enumerate(ranked) if item[1])
        expected.append(1 / place if place <= k else 0.0)
    numbers, scores, relevant = (np.array(column) for column in zip(*rows, strict=True))
    validation = Reranking(numbers, numbers, np.arange(len(rows)), relevant)
    assert mrr(scores.astype(np.float32), validation, k) == pytest.approx(sum(expected) / len(expected))
