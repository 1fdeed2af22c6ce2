"""Two-step search equals its definition: candidates of a pruned search, ranked by full vectors."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.settings import IndexSettings
from lexigraft.core.types import document_of
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.search.searcher import Searcher
from lexigraft.search.two_step import TwoStepSearcher
from lexigraft.vectors.prune import prune
from lexigraft.vectors.store import DocumentVectors
from tests.conftest import sparse_matrix, vocabulary_of

N_TERMS = 8
WEIGHTS = st.integers(1, 64).map(lambda number: number / 16)  # sums of products are exact: ties are ties
ROWS = st.lists(st.dictionaries(st.integers(0, N_TERMS - 1), WEIGHTS, max_size=6), min_size=1, max_size=30)
QUERIES = st.dictionaries(st.integers(0, N_TERMS - 1), WEIGHTS, max_size=6)


def vector(query):
    terms = sorted(query)
    return np.array(terms, np.int32), np.array([query[term] for term in terms], np.float32)


def vectors_of(rows, ids, passages=False):
    matrix = sparse_matrix(rows, N_TERMS, ids)
    return DocumentVectors(matrix, list(ids), vocabulary_of(N_TERMS), {"kind": "none"}, "", passages)


def built(vectors, folder, keep=0, settings=None):
    with write_artifact(folder, Manifest(index_store.KIND, index_store.FORMAT_VERSION, {})) as draft:
        build_index(vectors, draft, keep, settings or IndexSettings(), range_size=16)
    return index_store.open_index(folder)


def slowly(rows, ids, query, name=str):
    """The slow, obvious twin: every document's best dot product with the whole query, by score, then id."""
    best = {}
    for row, row_id in zip(rows, ids, strict=True):
        score = sum(weight * row[term] for term, weight in query.items() if term in row)
        best[name(row_id)] = max(best.get(name(row_id), 0.0), score)
    ranked = sorted((-score, doc_id) for doc_id, score in best.items() if score > 0)
    return [(doc_id, -negative) for negative, doc_id in ranked]


@settings(max_examples=80)
@given(ROWS, QUERIES, st.integers(1, 30), st.booleans(), st.randoms(use_true_random=False))
def test_all_documents_as_candidates_give_the_exact_ranking(rows, query, k, reorder, random):
    ids = [f"d{number}" for number in range(len(rows))]
    random.shuffle(ids)
    with tempfile.TemporaryDirectory() as folder:
        vectors = vectors_of(rows, ids)
        index = built(vectors, Path(folder) / "i", settings=IndexSettings(reorder=reorder))
        found = TwoStepSearcher(Searcher(index), vectors, max(k, len(rows))).search(*vector(query), k, "q")
        assert list(zip(found.doc_ids, found.scores, strict=True)) == slowly(rows, ids, query)[:k]


@settings(max_examples=80)
@given(ROWS, QUERIES, st.integers(1, 8), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_candidates_come_from_the_pruned_search(rows, query, n, qk, dk, reorder):
    ids = [f"d{number}" for number in range(len(rows))]
    with tempfile.TemporaryDirectory() as folder:
        vectors = vectors_of(rows, ids)
        index = built(vectors, Path(folder) / "i", dk, IndexSettings(reorder=reorder))
        cut = prune(sparse_matrix([query], N_TERMS), qk)
        candidates = set(Searcher(index).search(*cut.row(0), n).doc_ids)
        expected = [pair for pair in slowly(rows, ids, query) if pair[0] in candidates]
        found = TwoStepSearcher(Searcher(index), vectors, n, qk).search(*vector(query), n)
        assert list(zip(found.doc_ids, found.scores, strict=True)) == expected


@settings(max_examples=60)
@given(ROWS, QUERIES, st.integers(1, 30), st.data())
def test_passages_are_folded(rows, query, k, data):
    owners = sorted(data.draw(st.lists(st.integers(0, 5), min_size=len(rows), max_size=len(rows))))
    ids = [f"d{owner}#{owners[:place].count(owner)}" for place, owner in enumerate(owners)]
    with tempfile.TemporaryDirectory() as folder:
        vectors = vectors_of(rows, ids, passages=True)
        index = built(vectors, Path(folder) / "i")
        found = TwoStepSearcher(Searcher(index), vectors, max(k, len(rows))).search(*vector(query), k)
        expected = slowly(rows, ids, query, document_of)[:k]
        assert list(zip(found.doc_ids, found.scores, strict=True)) == expected
