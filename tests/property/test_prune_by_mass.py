"""Rows cut to the fewest of their heaviest terms that have a share of the row's mass, against a loop, and by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.cut import document_cut, mass_cut, query_cut
from lexigraft.core.errors import SettingError
from lexigraft.vectors import prune as pruning
from lexigraft.vectors.prune import prune_row, prune_rows, terms_of_mass_by_numpy
from lexigraft.vectors.weight_ranks import mass_ranks

ROWS = st.lists(
    st.dictionaries(st.integers(0, 9), st.integers(1, 8).map(lambda value: value / 4), max_size=6), max_size=6
)


def arrays(rows, start=0):
    indptr = start + np.cumsum([0, *map(len, rows)], dtype=np.int64)
    terms = np.array([term for row in rows for term in sorted(row)], np.int32)
    weights = np.array([row[term] for row in rows for term in sorted(row)], np.float32)
    return indptr, terms, weights


def slowly(row, hundredths):
    """The heaviest first, of equal ones the lower id, until they have enough; in exact numbers."""
    kept, wanted = {}, Fraction(hundredths, 100) * sum(map(Fraction, row.values()))
    for term, weight in sorted(row.items(), key=lambda item: (-item[1], item[0])):
        if kept and sum(map(Fraction, kept.values())) >= wanted:
            break
        kept[term] = weight
    return kept


@given(ROWS, st.integers(1, 99), st.integers(0, 3))
def test_against_a_loop_in_exact_numbers(rows, hundredths, start):
    keep = mass_cut(hundredths / 100)
    indptr, terms, weights = arrays(rows, start)  # a chunk of a stream begins anywhere
    found, kept_terms, kept_weights = prune_rows(indptr, terms, weights, keep)
    counts = terms_of_mass_by_numpy(indptr - start, weights, hundredths / 100)
    ranks = mass_ranks(indptr - start, weights)
    assert found[0] == 0
    for place, row in enumerate(rows):
        expected = slowly(row, hundredths)
        here, whole = slice(found[place], found[place + 1]), slice(indptr[place] - start, indptr[place + 1] - start)
        assert dict(zip(kept_terms[here].tolist(), kept_weights[here].tolist(), strict=True)) == expected
        assert counts[place] == len(expected)
        assert prune_row(terms[whole], weights[whole], keep)[0].tolist() == sorted(expected)
        assert terms[whole][ranks[whole] <= hundredths].tolist() == sorted(expected)


@given(ROWS, st.integers(1, 99))
def test_the_kernel_equals_its_twin(rows, hundredths):
    indptr, _, weights = arrays(rows)
    of_kernel = pruning._terms_of_mass(indptr, weights, hundredths / 100)
    assert of_kernel.tolist() == terms_of_mass_by_numpy(indptr, weights, hundredths / 100).tolist()


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("m0.4", [5]),  # 4 of 10 is just enough
        ("m0.41", [2, 5]),  # then 2 and 9 are equal: the lower id
        ("m0.6", [2, 5]),
        ("m0.7", [2, 5, 9]),
        ("m0.8", [2, 5, 9]),
        ("m0.81", [2, 3, 5, 9]),  # of 3 and 7, too
        ("m0.9", [2, 3, 5, 9]),
        ("m0.91", [2, 3, 5, 7, 9]),
        ("m0.01", [5]),  # never none
    ],
)
def test_by_hand(keep, expected):
    """Weights 4, 2, 2, 1 and 1, which are 10 together."""
    terms, weights = np.array([2, 3, 5, 7, 9], np.int32), np.array([2, 1, 4, 1, 2], np.float32)
    assert prune_row(terms, weights, keep)[0].tolist() == expected


def test_rounding_is_no_reason_for_one_more_term():
    """Ten times .1 is less than 1 in floating point, and three of them are .3 of it all the same."""
    terms, weights = np.arange(10, dtype=np.int32), np.full(10, 0.1, np.float32)
    for tenths in range(1, 10):
        assert len(prune_row(terms, weights, mass_cut(tenths / 10))[0]) == tenths


def test_ranks_by_hand():
    """4, 3, 2 and 1: before the second there are .4, so from .41 on it is kept."""
    ranks = mass_ranks(np.array([0, 4, 4]), np.array([3, 4, 1, 2], np.float32))
    assert ranks.tolist() == [41, 1, 91, 71]


@pytest.mark.parametrize(
    ("given", "of_query", "of_document"),
    [
        ("m0.8", "m0.8", "m0.8"), ("m.80", "m0.8", "m0.8"), ("m0.25", "m0.25", "m0.25"), ("7", 7, 7), (0, 0, 0),
        ("0.5", 0.5, None),
    ],
)  # fmt: skip
def test_how_a_cut_is_written(given, of_query, of_document):
    assert (query_cut(given), type(query_cut(given))) == (of_query, type(of_query))
    if of_document is None:
        with pytest.raises(SettingError, match=r"dk = 0\.5 is not allowed: 0 \(the whole document\)"):
            document_cut(given)
    else:
        assert document_cut(given) == of_document


@pytest.mark.parametrize("text", ["m0", "m1", "m1.5", "m", "0.8m", "mass", "m-0.5", "", "m0.0", "nan", "inf", "-1"])
def test_what_is_no_cut(text):
    for read in (query_cut, document_cut):
        with pytest.raises(SettingError, match="is not allowed"):
            read(text)
