"""The maxima of lists are those of their decoded postings, whatever the form of a list and the number of ranges."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.settings import IndexSettings
from lexigraft.index.codec import DENSE, GAPS, WIDE
from lexigraft.measure.list_maxima import describe, gini, maxima_of_index, maxima_of_vectors, share_above
from tests.conftest import index_of, sparse_matrix

N_DOCUMENTS, RANGE_SIZE = 1300, 600  # three ranges, the last of them short
DENSITIES = (0.5, 0.05, 0.0, 0.0, 0.3)  # dense, gaps, one far apart, empty, dense
FAR_APART = 2, [595, 1150]  # a term, and the only documents that hold it
SCORES = st.lists(st.floats(0, 100), max_size=40).map(np.array)


def drawn_matrix(seed):
    rng = np.random.default_rng(seed)
    holds = rng.random((N_DOCUMENTS, len(DENSITIES))) < np.array(DENSITIES)
    holds[FAR_APART[1], FAR_APART[0]] = True
    weights = rng.gamma(1.0, 1.0, holds.shape) + 1e-3
    return sparse_matrix(
        [
            {term: float(weights[row, term]) for term in np.flatnonzero(holds[row]).tolist()}
            for row in range(N_DOCUMENTS)
        ],
        len(DENSITIES),
    )


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.sampled_from((8, 16, 24)), st.sampled_from((0, 1)))
def test_maxima_are_those_of_the_postings(seed, bits, keep):
    matrix = drawn_matrix(seed)
    options = {"settings": IndexSettings(bits=bits), "keep": keep, "range_size": RANGE_SIZE}
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(matrix, Path(folder) / "i", **options)
        impacts = [index.postings(term)[1] for term in range(index.n_terms)]
        if bits == 8 and not keep:
            assert {WIDE, GAPS, DENSE} <= set((index.entries & 3).ravel().tolist())
        found = maxima_of_index(index)
        assert found.scores.tolist() == [int(of.max(initial=0)) * index.meta.scale for of in impacts]
        assert found.bits == bits
        if bits == 16:
            np.testing.assert_array_equal(maxima_of_vectors(matrix, keep).scores, found.scores)


@given(SCORES, st.lists(st.floats(-1, 101), max_size=10).map(np.array))
def test_shares_count_what_is_higher(scores, thresholds):
    expected = [sum(score > threshold for score in scores) / max(1, len(scores)) for threshold in thresholds]
    np.testing.assert_allclose(share_above(scores, thresholds), expected, atol=1e-12)


@given(SCORES)
def test_gini_is_half_the_mean_difference_to_the_mean(scores):
    found = gini(scores)
    if not scores.any():
        assert found is None
        return
    differences = np.abs(scores[:, None] - scores).mean()
    np.testing.assert_allclose(found, differences / (2 * scores.mean()), atol=1e-9)


@given(SCORES.filter(len))
def test_percentiles_occur(scores):
    found = describe(scores, np.array([0.0]))
    assert {found.median, found.p99, found.largest} <= set(scores.tolist())
    assert (scores <= found.median).mean() >= 0.5
    assert found.lists == len(scores)
