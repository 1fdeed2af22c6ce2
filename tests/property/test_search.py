"""Every search method returns exactly the oracle's ranking, and the oracle what plain arithmetic says."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.explain.contributions import explain
from lexigraft.search.searcher import METHODS, Searcher
from lexigraft.search.topk import make_key, offer, ranked
from tests.conftest import index_of, sparse_matrix

N_TERMS = 8  # few, so that lists are long and ties common
WEIGHTS = st.integers(1, 6).map(float)
ROWS = st.lists(st.dictionaries(st.integers(0, N_TERMS - 1), WEIGHTS, max_size=6), min_size=1, max_size=40)
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
@given(ROWS, QUERIES, st.integers(1, 45), st.randoms(use_true_random=False))
def test_all_methods_equal_brute_force(rows, query, k, random):
    ids = [f"d{number}" for number in range(len(rows))]
    random.shuffle(ids)
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(sparse_matrix(rows, N_TERMS + 2, ids), Path(folder) / "i")  # the last two lists are empty
        expected = brute_force(index, query, k)
        for method in METHODS:
            found = Searcher(index, method).search(*vector(query), k)
            assert list(zip(found.doc_ids, found.scores, strict=True)) == expected


@pytest.mark.parametrize("seed", range(6))
def test_maxscore_equals_exhaustive_over_many_windows(tmp_path, seed):
    """Long lists, skewed weights and many ties, over several windows of documents, at k from 1 to all."""
    rng = np.random.default_rng(seed)
    n_documents, n_terms = 15_000, 60
    popularity = 1 / (1 + np.arange(n_terms)) ** rng.uniform(0.3, 1.5)
    rows = []
    for _ in range(n_documents):
        terms = rng.choice(n_terms, rng.integers(0, 6), replace=False, p=popularity / popularity.sum())
        rows.append({int(term): float(rng.integers(1, 4) * (1 + term % 7)) for term in terms})
    ids = [f"d{number}" for number in rng.permutation(n_documents)]
    index = index_of(sparse_matrix(rows, n_terms, ids), tmp_path / "i")
    oracle, maxscore = Searcher(index, "exhaustive"), Searcher(index, "maxscore")
    for k in (1, 2, 10, 100, 5000, n_documents):
        for _ in range(8):
            chosen = rng.choice(n_terms, rng.integers(1, 9), replace=False)
            query = {int(term): float(rng.integers(1, 5)) for term in chosen}
            assert maxscore.search(*vector(query), k) == oracle.search(*vector(query), k)


@given(ROWS, QUERIES)
def test_contributions_sum_to_the_score(rows, query):
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(sparse_matrix(rows, N_TERMS + 2), Path(folder) / "i")
        found = Searcher(index).search(*vector(query), len(rows))
        for doc_id, score in zip(found.doc_ids, found.scores, strict=True):
            why = explain(index, *vector(query), doc_id)
            assert why.score == score  # exactly: both are the same integer times the same scale
            assert sum(round(item.contribution / index.meta.scale) for item in why.contributions) == round(
                score / index.meta.scale
            )


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1000)), unique_by=lambda pair: pair[1]), st.integers(1, 12))
def test_heap_keeps_the_best(pairs, k):
    heap, size = np.empty(k, np.int64), 0
    for score, rank in pairs:
        size = offer(heap, size, make_key(score, rank))
    ranks, scores = ranked(heap, size)
    expected = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:k]
    assert list(zip(scores.tolist(), ranks.tolist(), strict=True)) == expected
