"""The terms near a word, against a table of distances for each pair."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.vocab.nearest_terms import SHORTEST, NearTerms

WORDS = st.text("abé\u4e2d\U00010348", max_size=7)


def edits_between(left, right):
    """Optimal string alignment, a cell after the other."""
    rows = [[i + j for j in range(len(right) + 1)] for i in range(len(left) + 1)]
    for i, a in enumerate(left, 1):
        for j, b in enumerate(right, 1):
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


LONG_ENOUGH = WORDS.filter(lambda word: len(word) >= SHORTEST)


@given(st.lists(WORDS, unique=True), LONG_ENOUGH, st.integers(0, 2), st.integers(0, 3))
def test_all_that_are_near_and_no_others(terms, word, limit, ending):
    expected = {}
    for place, term in enumerate(terms):
        for left in range(min(ending, len(word) - 1) + 1):
            edits = edits_between(word[: len(word) - left], term)
            if term and limit and edits <= limit:
                expected[place] = min(expected.get(place, np.inf), edits + left / 2)
    places, edits = NearTerms(terms).near(word, limit, ending)
    assert dict(zip(places.tolist(), edits.tolist(), strict=True)) == expected
    assert places.tolist() == sorted(expected)
