"""Impacts of tokens to weights of terms: the fast way against a loop, on any texts."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.model.impact import weigh_terms

N_TERMS = 5


@st.composite
def texts(draw):
    n, length = draw(st.integers(1, 4)), draw(st.integers(1, 7))

    def table(values):
        row = st.lists(values, min_size=length, max_size=length)
        return torch.tensor(draw(st.lists(row, min_size=n, max_size=n)))

    impacts = table(st.sampled_from([0.0, 0.5, 1.0, 2.25]))  # few values, so that many are equal
    return impacts, table(st.integers(0, N_TERMS - 1)), table(st.booleans())


@given(texts())
def test_weights_and_gradients_are_those_of_the_loop(given_texts):
    impacts, terms, is_there = given_texts
    impacts.requires_grad_()
    found = weigh_terms(impacts, terms, is_there, N_TERMS)
    (found * torch.arange(1.0, N_TERMS + 1)).sum().backward()
    for text in range(len(impacts)):
        gradient = [0.0] * impacts.shape[1]
        for term in range(N_TERMS):
            places = [at for at in range(impacts.shape[1]) if terms[text, at] == term and is_there[text, at]]
            best = max(places, key=lambda at: (float(impacts[text, at]), -at), default=None)
            assert found[text, term].item() == (0.0 if best is None else impacts[text, best].item())
            if best is not None:
                gradient[best] = term + 1.0
        assert impacts.grad[text].tolist() == gradient
