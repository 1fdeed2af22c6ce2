"""What searches count is what slow, obvious twins count."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.search.counters import COUNTERS
from lexigraft.search.searcher import Searcher
from lexigraft.search.topk import make_key
from tests.conftest import index_of, sparse_matrix
from tests.property.test_search import N_TERMS, ROWS

QUERIES = st.dictionaries(st.integers(0, N_TERMS + 1), st.integers(1, 4).map(float), min_size=1, max_size=6)


def lists_of(index, query):
    """Of each term: its weight, and its impacts by document."""
    found = []
    for term in sorted(query):
        ordinals, impacts = (array.tolist() for array in index.postings(term))
        found.append((int(query[term]), dict(zip(ordinals, impacts, strict=True))))
    return found


def counted_by_maxscore(index, query, k):
    """MaxScore a range at a time, with a dictionary for what the kernel has cursors and windows for."""
    counts, best, threshold = dict.fromkeys(COUNTERS, 0), [], 1
    lists, size = lists_of(index, query), index.meta.range_size
    for first in range(0, index.n_documents, size):
        inside = range(first, first + size)
        here = [(weight, {doc: impacts[doc] for doc in impacts if doc in inside}) for weight, impacts in lists]
        here.sort(key=lambda one: one[0] * max(one[1].values(), default=0))
        bounds = [weight * max(impacts.values(), default=0) for weight, impacts in here]
        n_others = sum(sum(bounds[: i + 1]) < threshold for i in range(len(bounds)))
        others, essential = here[:n_others], here[n_others:]
        for document in sorted({doc for _, impacts in essential for doc in impacts}):
            score = 0
            for weight, impacts in essential:
                if document in impacts:
                    score += weight * impacts[document]
                    counts["NEXT"] += 1
                    counts["SCORE"] += 1
            counts["DOCUMENTS"] += 1
            complete = True
            for i in reversed(range(n_others)):
                if score + sum(bounds[: i + 1]) < threshold:
                    complete = False
                    break
                counts["NEXT-GEQ"] += 1
                weight, impacts = others[i]
                if document in impacts:
                    score += weight * impacts[document]
                    counts["SCORE"] += 1
            key = int(make_key(score, index.tie_rank[document]))
            if complete and score >= threshold and (len(best) < k or key > best[0]):
                counts["INSERT"] += 1
                best = sorted([*best, key])[-k:]
                if len(best) == k:
                    threshold = best[0] >> 32
    return counts


@settings(max_examples=120)
@given(ROWS, QUERIES, st.integers(1, 12), st.sampled_from((64, 16, 3)))
def test_maxscore_counts_what_its_twin_counts(rows, query, k, range_size):
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(sparse_matrix(rows, N_TERMS + 2), Path(folder) / "i", range_size=range_size)
        found = Searcher(index, "maxscore").count(sparse_matrix([query], N_TERMS + 2, ["q"]), k)
        assert found == counted_by_maxscore(index, query, min(k, index.n_documents))
        assert found["SCORE"] >= found["NEXT"]


@settings(max_examples=60)
@given(ROWS, QUERIES, st.sampled_from((64, 16, 3)))
def test_where_everything_is_wanted_every_posting_is_scored_once(rows, query, range_size):
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(sparse_matrix(rows, N_TERMS + 2), Path(folder) / "i", range_size=range_size)
        lists = [impacts for _, impacts in lists_of(index, query)]
        expected = sum(map(len, lists)), len({doc for impacts in lists for doc in impacts})
        for method in ("exhaustive", "maxscore", "blockmax_wand", "sweep", "touched"):
            found = Searcher(index, method).count(sparse_matrix([query], N_TERMS + 2, ["q"]), len(rows))
            assert (found["SCORE"], found["DOCUMENTS"]) == expected, method


@pytest.mark.parametrize("method", ["sweep", "touched"])
def test_fillers_of_gaps_are_steps_and_not_scored(tmp_path, method):
    rows = [{0: 1.0} if place % 300 == 0 or place < 200 else {1: 1.0} for place in range(3000)]
    index = index_of(sparse_matrix(rows, 2), tmp_path / "i")
    counts = Searcher(index, method).count(sparse_matrix([{0: 1.0}], 2, ["q"]), 5)
    n = sum(0 in row for row in rows)
    assert (counts["SCORE"], counts["DOCUMENTS"]) == (n, n)
    assert counts["NEXT"] > n
