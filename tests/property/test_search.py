"""Every search method returns exactly the oracle's ranking, and the oracle what plain arithmetic says."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.settings import IndexSettings
from lexigraft.explain.contributions import explain
from lexigraft.index.codec import DENSE, GAPS, NONE, WIDE
from lexigraft.search.searcher import METHODS, Searcher
from lexigraft.search.topk import cut_to_best, make_key, offer
from tests.conftest import index_of, sparse_matrix

N_TERMS = 8  # few, so that lists are long and ties common
WEIGHTS = st.integers(1, 6).map(float)
ROWS = st.lists(st.dictionaries(st.integers(0, N_TERMS - 1), WEIGHTS, max_size=6), min_size=1, max_size=40)
BITS = st.sampled_from((8, 16, 24))
QUERIES = st.dictionaries(st.integers(0, N_TERMS + 1), st.integers(0, 4).map(float), max_size=6)


def brute_force(index, query, k):
    """The slow, obvious twin: score every document, sort, cut."""
    scores = dict.fromkeys(range(index.n_documents), 0)
    for term, weight in query.items():
        for ordinal, impact in zip(*(array.tolist() for array in index.postings(term)), strict=True):
            scores[ordinal] += int(weight) * impact
    hits = sorted((-score, index.doc_ids[ordinal]) for ordinal, score in scores.items() if score > 0)
    return [(doc_id, -negative * index.meta.scale) for negative, doc_id in hits[:k]]


def vector(query):
    terms = sorted(query)
    return np.array(terms, np.int32), np.array([query[term] for term in terms], np.float32)


@settings(max_examples=150)
@given(ROWS, QUERIES, st.integers(1, 45), st.randoms(use_true_random=False), st.sampled_from((64, 16, 3)), BITS)
def test_all_methods_equal_brute_force(rows, query, k, random, range_size, bits):
    ids = [f"d{number}" for number in range(len(rows))]
    random.shuffle(ids)
    with tempfile.TemporaryDirectory() as folder:
        # The last two lists are empty; a small range makes several of them.
        matrix = sparse_matrix(rows, N_TERMS + 2, ids)
        index = index_of(matrix, Path(folder) / "i", range_size=range_size, settings=IndexSettings(bits=bits))
        expected = brute_force(index, query, k)
        for method in METHODS:
            found = Searcher(index, method).search(*vector(query), k)
            assert list(zip(found.doc_ids, found.scores, strict=True)) == expected


@settings(max_examples=80)
@given(ROWS, QUERIES, st.integers(1, 45), st.data(), st.sampled_from((64, 5)), BITS)
def test_only_allowed_documents_are_found(rows, query, k, data, range_size, bits):
    flags = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    allowed = np.array(flags, np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        options = {"range_size": range_size, "settings": IndexSettings(bits=bits)}
        index = index_of(sparse_matrix(rows, N_TERMS + 2), Path(folder) / "i", **options)
        everything = brute_force(index, query, len(rows))
        expected = [(doc_id, score) for doc_id, score in everything if allowed[index.ordinals(doc_id)[0]]][:k]
        for method in METHODS:
            ordinals, scores = Searcher(index, method).search_ordinals(*vector(query), k, allowed)
            assert list(zip(index.names(ordinals), scores.tolist(), strict=True)) == expected


@settings(max_examples=60)
@given(
    st.lists(
        st.dictionaries(st.integers(0, N_TERMS - 1), st.floats(0.125, 9, width=32), max_size=6), min_size=1, max_size=30
    ),
    st.dictionaries(st.integers(0, N_TERMS - 1), st.floats(0.0, 3, width=32), max_size=6),
    st.sampled_from((16, 24)),
)
def test_more_bits_come_closer_to_the_weights(rows, query, bits):
    with tempfile.TemporaryDirectory() as folder:
        settings = IndexSettings(bits=bits)
        index = index_of(sparse_matrix(rows, N_TERMS), Path(folder) / "i", settings=settings, range_size=7)
        found = Searcher(index).search(*vector(query), len(rows))
        largest = max((weight for row in rows for weight in row.values()), default=0.0)
        for doc_id, score in zip(found.doc_ids, found.scores, strict=True):
            row = rows[int(doc_id[1:])]
            exact = sum(weight * row.get(term, 0.0) for term, weight in query.items())
            error = sum(largest / 2**bits * weight + 3 / 2**16 * row.get(term, 0.0) for term, weight in query.items())
            assert abs(score - exact) <= error + 1e-5
        ranked = [(-score, doc_id) for doc_id, score in zip(found.doc_ids, found.scores, strict=True)]
        assert ranked == sorted(ranked)


@pytest.mark.parametrize("seed", range(6))
def test_all_methods_equal_exhaustive_over_long_lists(tmp_path, seed):
    """All forms of lists, skewed weights and many ties, over several ranges of documents, at k from 1 to all."""
    rng = np.random.default_rng(seed)
    n_documents, n_terms = 15_000, 60
    popularity = 1 / (1 + np.arange(n_terms)) ** rng.uniform(0.3, 1.5)
    rows = []
    for _ in range(n_documents):
        terms = rng.choice(n_terms, rng.integers(0, 6), replace=False, p=popularity / popularity.sum())
        rows.append({int(term): float(rng.integers(1, 4) * (1 + term % 7)) for term in terms})
    for row in rows[::1800]:
        row[n_terms] = float(rng.integers(1, 4))  # a rare term, a common one, and one that no document has
    for row in rows[::2]:
        row[n_terms + 1] = float(rng.integers(1, 4))
    ids = [f"d{number}" for number in rng.permutation(n_documents)]
    options = {"range_size": (65536, 6000, 1024)[seed % 3], "settings": IndexSettings(bits=(8, 16)[seed % 2])}
    index = index_of(sparse_matrix(rows, n_terms + 3, ids), tmp_path / "i", **options)
    assert set(np.unique(index.entries & 3).tolist()) >= {NONE, GAPS, DENSE} | ({WIDE} if seed % 3 < 2 else set())
    oracle = Searcher(index, "exhaustive")
    others = [Searcher(index, method) for method in METHODS if method != "exhaustive"]
    for k in (1, 2, 10, 100, 5000, n_documents):
        for _ in range(8):
            chosen = rng.choice(n_terms + 3, rng.integers(1, 9), replace=False)
            query = {int(term): float(rng.integers(1, 5)) for term in chosen}
            expected = oracle.search(*vector(query), k)
            for searcher in others:
                assert searcher.search(*vector(query), k) == expected, searcher.method
            allowed = (rng.random(n_documents) < 0.3).astype(np.uint8)
            ordinals, scores = oracle.search_ordinals(*vector(query), k, allowed)
            for searcher in others:
                found = searcher.search_ordinals(*vector(query), k, allowed)
                assert (found[0].tolist(), found[1].tolist()) == (ordinals.tolist(), scores.tolist()), searcher.method


@given(ROWS, QUERIES, st.sampled_from((8, 16, 24)))
def test_contributions_sum_to_the_score(rows, query, bits):
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(sparse_matrix(rows, N_TERMS + 2), Path(folder) / "i", settings=IndexSettings(bits=bits))
        found = Searcher(index).search(*vector(query), len(rows))
        for doc_id, score in zip(found.doc_ids, found.scores, strict=True):
            why = explain(index, *vector(query), doc_id)
            assert why.score == score  # exactly: both are the same integer times the same scale
            assert sum(item.points for item in why.contributions) == why.points
            assert why.points * why.scale == score
            assert all(item.contribution == item.points * why.scale for item in why.contributions)
            assert sum(round(item.contribution / index.meta.scale) for item in why.contributions) == round(
                score / index.meta.scale
            )


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1000)), unique_by=lambda pair: pair[1]), st.integers(1, 12))
def test_heap_keeps_the_best(pairs, k):
    heap, size = np.empty(k, np.int64), 0
    for score, rank in pairs:
        size = offer(heap, size, make_key(score, rank))
    expected = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:k]
    assert sorted(heap[:size].tolist(), reverse=True) == [int(make_key(*pair)) for pair in expected]


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=120), st.data())
def test_cutting_keeps_the_largest(values, data):
    k = data.draw(st.integers(1, len(values)))
    keys = np.array(values, np.int64)
    assert cut_to_best(keys, len(keys), k) == sorted(values, reverse=True)[k - 1]
    assert sorted(keys[:k].tolist(), reverse=True) == sorted(values, reverse=True)[:k]
