"""What documents weigh for terms, looked up in the ranges they lie in, is what whole lists say."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.settings import IndexSettings
from lexigraft.explain.lookup import impacts_of
from tests.conftest import index_of, sparse_matrix

N_TERMS = 6
ROWS = st.lists(
    st.dictionaries(st.integers(0, N_TERMS - 1), st.floats(0.1, 4), max_size=5), min_size=1, max_size=60
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(ROWS, st.data(), st.sampled_from([8, 16, 24]))
def test_impacts_are_those_of_whole_lists(rows, data, bits):
    if not any(rows):
        rows[0][0] = 1.0
    ordinals = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=12))
    terms = data.draw(st.lists(st.integers(0, N_TERMS - 1), unique=True, max_size=N_TERMS))
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(
            sparse_matrix(rows, N_TERMS), Path(folder) / "index", settings=IndexSettings(bits=bits), range_size=16
        )
        found = impacts_of(index, np.array(terms, np.int32), np.array(ordinals, np.int32))
        assert found.shape == (len(terms), len(ordinals))
        for row, term in enumerate(terms):
            whole = dict(zip(*(part.tolist() for part in index.postings(term)), strict=True))
            assert found[row].tolist() == [whole.get(ordinal, 0) for ordinal in ordinals]
