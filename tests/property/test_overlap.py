"""The overlap threshold finds exactly the documents that hold enough of the query's terms, in every form of list."""

import math
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.settings import IndexSettings
from lexigraft.index.codec import DENSE, GAPS, NONE, WIDE
from lexigraft.search.overlap import OverlapSearcher, needed_terms, overlap_mask
from lexigraft.search.searcher import METHODS, Searcher
from tests.conftest import index_of, sparse_matrix

N_TERMS = 8
ROWS = st.lists(
    st.dictionaries(st.integers(0, N_TERMS - 1), st.integers(1, 6).map(float), max_size=6), min_size=1, max_size=40
)
QUERIES = st.dictionaries(st.integers(0, N_TERMS + 1), st.integers(0, 4).map(float), max_size=8)


def vector(query):
    terms = sorted(query)
    return np.array(terms, np.int32), np.array([query[term] for term in terms], np.float32)


def slowly(rows, query, share):
    """The slow, obvious twin: which rows hold enough of the terms that are asked for and that any row has."""
    asked = {term for term, weight in query.items() if weight > 0 and any(term in row for row in rows)}
    return [len(asked & row.keys()) >= max(1, math.ceil(share * len(asked))) for row in rows]


@settings(max_examples=120)
@given(ROWS, QUERIES, st.integers(0, 20), st.sampled_from((64, 16, 3)), st.sampled_from((8, 16, 24)), st.data())
def test_mask_equals_counting(rows, query, twentieths, range_size, bits, data):
    share = Fraction(twentieths, 20)
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        matrix = sparse_matrix(rows, N_TERMS + 2)
        options = IndexSettings(bits=bits)
        index = index_of(matrix, Path(folder) / "i", settings=options, range_size=range_size)
        expected = np.array(slowly(rows, query, share), np.uint8)
        assert overlap_mask(index, *vector(query), float(share)).tolist() == expected.tolist()
        assert overlap_mask(index, *vector(query), float(share), flags).tolist() == (expected & flags).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_mask_over_long_lists(tmp_path, seed):
    """All forms of lists, gaps that need fillers, several ranges; and what is found is what is allowed, in order."""
    rng = np.random.default_rng(seed)
    n_documents, n_terms = 9_000, 40
    popularity = 1 / (1 + np.arange(n_terms)) ** 1.2
    rows = []
    for _ in range(n_documents):
        terms = rng.choice(n_terms, rng.integers(0, 6), replace=False, p=popularity / popularity.sum())
        rows.append({int(term): float(rng.integers(1, 9)) for term in terms})
    for row in rows[::700]:
        row[n_terms] = 2.0
    index = index_of(sparse_matrix(rows, n_terms + 2), tmp_path / "i", range_size=(65536, 4000, 5000)[seed])
    assert set(np.unique(index.entries & 3).tolist()) == {NONE, WIDE, GAPS, DENSE}
    for _ in range(6):
        chosen = rng.choice(n_terms + 2, rng.integers(1, 9), replace=False)
        query = {int(term): float(rng.integers(1, 5)) for term in chosen}
        everything = Searcher(index).search(*vector(query), n_documents)
        for share in (0.3, 0.5, 1.0):
            expected = slowly(rows, query, share)
            assert overlap_mask(index, *vector(query), share).astype(bool).tolist() == expected
            hits = [doc_id for doc_id in everything.doc_ids if expected[int(doc_id[1:])]][:50]
            for method in METHODS:
                found = OverlapSearcher(Searcher(index, method), share).search(*vector(query), 50)
                assert list(found.doc_ids) == hits


@given(st.integers(0, 400), st.integers(0, 1000))
def test_how_many_terms_are_needed_is_exact(n_terms, thousandths):
    assert needed_terms(n_terms, thousandths / 1000) == max(1, math.ceil(Fraction(thousandths, 1000) * n_terms))
