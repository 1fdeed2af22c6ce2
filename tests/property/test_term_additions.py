"""What terms bring along, added up in arrays, against dictionaries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.vocab import term_additions
from lexigraft.vocab.lookup import SMALLEST_WEIGHT
from lexigraft.vocab.term_additions import TermAdditions, expanding_table, heaviest

N_TERMS = 6
EIGHTHS = st.integers(1, 40).map(lambda number: number / 8)  # their sums are exact, whatever their order
ENTRIES = st.lists(st.tuples(st.integers(0, N_TERMS - 1), st.integers(0, N_TERMS - 1), EIGHTHS), max_size=30)


def columns(entries):
    terms, brought, weights = zip(*entries, strict=True) if entries else ((), (), ())
    return np.array(terms, np.int64), np.array(brought, np.int64), np.array(weights, np.float32)


@settings(max_examples=100, deadline=None)
@given(st.lists(ENTRIES, max_size=6), st.sampled_from([1, 7, 1 << 20]))
def test_sums_are_those_of_a_dictionary(batches, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(term_additions, "FOLDED_AT_ONCE", at_once)
        additions, expected = TermAdditions(N_TERMS, 3), {}
        for batch in batches:
            additions.add(*columns(batch))
            for term, other, weight in batch:
                expected[term, other] = expected.get((term, other), 0) + weight
        terms, brought, sums = additions.sums()
    assert list(zip(terms.tolist(), brought.tolist(), strict=True)) == sorted(expected)
    assert sums.tolist() == [expected[pair] for pair in sorted(expected)]


@given(st.lists(st.tuples(st.integers(0, 4), EIGHTHS), max_size=30).map(sorted), st.integers(0, 4))
def test_the_heaviest_of_each(entries, keep):
    groups, weights = np.array([g for g, _ in entries], np.int64), np.array([w for _, w in entries], np.float64)
    expected = []
    for group in set(groups.tolist()):
        places = [place for place, (of, _) in enumerate(entries) if of == group]
        expected += sorted(places, key=lambda place: (-weights[place], place))[:keep]
    assert heaviest(groups, weights, keep).tolist() == sorted(expected)


def test_memory_is_bounded(monkeypatch):
    """Of a term that brings everything, the heaviest are kept; the others lose what they had."""
    monkeypatch.setattr(term_additions, "FOLDED_AT_ONCE", 100)
    n_terms, rng = 1000, np.random.default_rng(0)
    additions = TermAdditions(n_terms, 2)
    for _ in range(20):
        brought = rng.permutation(n_terms)
        additions.add(np.zeros(n_terms, np.int64), brought, np.where(brought < 5, 10, 1).astype(np.float32))
        assert len(additions.sums()[0]) == term_additions.LEAST_ROOM
    _, brought, sums = additions.sums()
    assert (brought[:5].tolist(), sums[:5].tolist()) == ([0, 1, 2, 3, 4], [200.0] * 5)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(EIGHTHS, min_size=N_TERMS, max_size=N_TERMS),
    st.dictionaries(st.tuples(st.integers(0, N_TERMS - 1), st.integers(0, N_TERMS - 1)), st.just(1e-9) | EIGHTHS),
    st.integers(1, 4),
)
def test_a_table_is_its_rows(own, pairs, wanted):
    pairs = {pair: weight for pair, weight in sorted(pairs.items()) if pair[0] != pair[1]}
    terms, others = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    table = expanding_table(np.array(own), terms, others, np.array(list(pairs.values()), np.float64), wanted)
    mean = sum(own) / N_TERMS
    for term in range(N_TERMS):
        loud = {
            other: weight for (of, other), weight in pairs.items() if of == term and weight / mean > SMALLEST_WEIGHT
        }
        kept = sorted(loud, key=lambda other, loud=loud: (-loud[other], other))[:wanted]
        expected = {term: own[term] / mean, **{other: loud[other] / mean for other in kept}}
        span = slice(table.indptr[term], table.indptr[term + 1])
        assert table.terms[span].tolist() == sorted(expected)
        assert table.weights[span].tolist() == pytest.approx([expected[other] for other in sorted(expected)])
    assert (table.terms.dtype, table.weights.dtype, table.indptr.dtype) == (np.int32, np.float32, np.int64)
    assert table.weights[table.terms == np.repeat(np.arange(N_TERMS), np.diff(table.indptr))].mean() == pytest.approx(1)
