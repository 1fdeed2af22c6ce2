"""The loss of chance, counted, is the ranking loss of equal scores, computed."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lexigraft.train.ranking.chance import chance_loss
from lexigraft.train.ranking.losses import in_batch_loss


@st.composite
def marks(draw):
    """Queries, at least as many documents, and which are marked as relevant; a query's own may or may not be."""
    n = draw(st.integers(1, 6))
    return draw(arrays(np.bool_, (n, n + draw(st.integers(0, 4)))))


@given(marks(), st.floats(0.05, 20), st.booleans(), st.floats(0, 30), st.floats(-5, 5))
def test_chance_is_the_loss_of_equal_scores(relevant, temperature, symmetric, margin, score):
    scores = torch.full(relevant.shape, score, dtype=torch.float64)
    slow = in_batch_loss(scores, torch.from_numpy(relevant), temperature, symmetric, margin).item()
    fast = chance_loss(relevant, temperature, symmetric, margin)
    assert fast == pytest.approx(slow, rel=1e-6, abs=1e-9)  # the slow one's margin is in single precision


def test_without_margin_and_other_relevant_documents_it_is_the_log_of_how_many_there_are():
    assert chance_loss(np.eye(4, 7, dtype=bool), 0.3, False, 0.0) == pytest.approx(np.log(7))
    assert chance_loss(np.eye(4, 7, dtype=bool), 0.3, True, 0.0) == pytest.approx((np.log(7) + np.log(4)) / 2)
