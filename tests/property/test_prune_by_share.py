"""Rows cut to the terms that weigh at least a share of their heaviest, against a loop over rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.cut import query_cut
from lexigraft.core.errors import SettingError
from lexigraft.vectors.prune import prune_row, prune_rows

ROWS = st.lists(
    st.dictionaries(st.integers(0, 9), st.integers(1, 8).map(lambda value: value / 4), max_size=6), max_size=6
)


@given(ROWS, st.sampled_from([0.25, 0.5, 0.75]), st.integers(0, 3))
def test_against_a_loop(rows, share, start):
    indptr = start + np.cumsum([0, *map(len, rows)], dtype=np.int64)  # a chunk of a stream begins anywhere
    terms = np.array([term for row in rows for term in sorted(row)], np.int32)
    weights = np.array([row[term] for row in rows for term in sorted(row)], np.float32)
    found, kept_terms, kept_weights = prune_rows(indptr, terms, weights, share)
    assert found[0] == 0
    for place, row in enumerate(rows):
        expected = {term: weight for term, weight in row.items() if weight >= share * max(row.values())}
        here = slice(found[place], found[place + 1])
        assert dict(zip(kept_terms[here].tolist(), kept_weights[here].tolist(), strict=True)) == expected
        whole = slice(indptr[place] - start, indptr[place + 1] - start)
        alone = prune_row(terms[whole], weights[whole], share)
        assert alone[0].tolist() == kept_terms[here].tolist()


def test_by_hand():
    """Half of 3.0 is 1.5: a term that weighs just that stays."""
    terms, weights = np.array([2, 5, 7], np.int32), np.array([1.5, 3.0, 1.4], np.float32)
    assert [part.tolist() for part in prune_row(terms, weights, 0.5)] == [[2, 5], [1.5, 3.0]]


@pytest.mark.parametrize(("keep", "expected"), [(0, 0), (0.0, 0), (1, 1), (8.0, 8), (0.5, 0.5)])
def test_what_may_be_kept_of_a_query(keep, expected):
    found = query_cut(keep)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize("keep", [-1, -0.5, 2.5, float("inf"), float("nan")])
def test_what_may_not(keep):
    with pytest.raises(SettingError, match="is not allowed"):
        query_cut(keep)
