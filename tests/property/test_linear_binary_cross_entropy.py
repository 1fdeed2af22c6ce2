"""Binary cross-entropy without all its logits equals the formula with them, loss and gradients, in any blocks."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.train.language import linear_binary_cross_entropy as module
from lexigraft.train.language.linear_binary_cross_entropy import (
    Ones,
    linear_binary_cross_entropy,
    linear_binary_cross_entropy_naive,
)


@given(st.integers(0, 7), st.integers(1, 5), st.integers(1, 9), st.integers(1, 40), st.integers(0, 1 << 30))
def test_it_is_the_formula(n_rows, width, n_terms, at_once, seed):
    rng = np.random.default_rng(seed)
    counted = rng.random(n_terms) < 0.8
    rows = [np.flatnonzero(counted & (rng.random(n_terms) < 0.4)) for _ in range(n_rows)]
    indptr = torch.from_numpy(np.cumsum([0, *map(len, rows)], dtype=np.int64))
    ones = Ones(indptr, torch.from_numpy(np.concatenate([np.zeros(0, np.int64), *rows])))
    made = [torch.from_numpy(rng.normal(size=size)) for size in ((n_rows, width), (n_terms, width), (n_terms,))]
    given_ = [[part.clone().requires_grad_() for part in made] for _ in range(2)]
    valid = torch.from_numpy(counted.astype(np.float64))
    usual, module.logits_at_once = module.logits_at_once, lambda device: at_once
    try:
        fast = linear_binary_cross_entropy(given_[0][0], ones, valid, *given_[0][1:])
    finally:
        module.logits_at_once = usual
    slow = linear_binary_cross_entropy_naive(given_[1][0], ones, valid, *given_[1][1:])
    torch.testing.assert_close(fast, slow)
    (fast * 3).backward()
    (slow * 3).backward()
    for one, other in zip(*given_, strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_logits_of_any_size_stay_finite():
    hidden = torch.tensor([[1.0], [-1.0]], requires_grad=True)
    weight, bias = torch.tensor([[1e4], [-1e4]]), torch.zeros(2)
    loss = linear_binary_cross_entropy(
        hidden, Ones(torch.tensor([0, 1, 1]), torch.tensor([0])), torch.ones(2), weight, bias
    )
    assert loss.item() == 1e4  # the second row's second term: a certain word that is not there
    loss.backward()
    assert torch.isfinite(hidden.grad).all()
