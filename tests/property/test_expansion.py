"""RM3, counts and statistics of vectors against slow, obvious twins."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.settings import IndexSettings, LexicalSettings
from lexigraft.core.types import Document, Vocabulary
from lexigraft.expand.rm3 import expanded_queries
from lexigraft.expand.settings import Rm3Settings
from lexigraft.search.searcher import Searcher
from lexigraft.vectors import counts as counts_store
from lexigraft.vectors.analysis import Analyser
from lexigraft.vectors.counts import open_counts, write_counts
from lexigraft.vectors.prune import prune
from lexigraft.vectors.stats import vector_statistics
from tests.conftest import index_of, sparse_matrix
from tests.golden.test_rm3 import counts_of

N_TERMS = 8
BAGS = st.lists(st.dictionaries(st.integers(0, N_TERMS - 1), st.integers(1, 4), max_size=5), min_size=1, max_size=7)
QUERY = st.dictionaries(st.integers(0, N_TERMS - 1), st.integers(1, 3).map(float), max_size=3)


def slow_rm3(found, query, bags, how):
    """`found`: (row, score) of the feedback documents."""
    total = sum(score for _, score in found)
    model = Counter()
    for row, score in found:
        for term, count in bags[row].items():
            if sum(term in bag for bag in bags) <= how.max_share * len(bags):
                model[term] += count / sum(bags[row].values()) * score / total
    best = sorted(model.items(), key=lambda item: (-item[1], item[0]))
    if not best:
        return query, None
    kept = best[: how.fb_terms]
    mass = sum(value for _, value in kept)
    mixed = Counter({term: how.original_weight * count / sum(query.values()) for term, count in query.items()})
    for term, value in kept:
        mixed[term] += (1 - how.original_weight) * value / mass
    tie = len(best) > how.fb_terms and best[how.fb_terms][1] == pytest.approx(kept[-1][1])
    return {term: weight for term, weight in mixed.items() if weight > 0}, tie


@settings(max_examples=60)
@given(
    BAGS, QUERY, st.integers(1, 4), st.integers(1, 6), st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    st.sampled_from([0.4, 1.0]), st.booleans(),
)  # fmt: skip
def test_rm3(bags, query, fb_docs, fb_terms, original, max_share, reorder):
    how = Rm3Settings(fb_docs, fb_terms, original, "linear", max_share)
    ids = [f"d{number:02}" for number in np.random.default_rng(len(bags)).permutation(len(bags))]
    weights = [{term: float(count) for term, count in bag.items()} for bag in bags]
    with tempfile.TemporaryDirectory() as folder:
        matrix = sparse_matrix(weights, N_TERMS, ids)
        searcher = Searcher(index_of(matrix, Path(folder) / "index", settings=IndexSettings(reorder=reorder)))
        queries = sparse_matrix([query], N_TERMS, ["q"])
        ranking = searcher.search(*queries.row(0), fb_docs)
        row_of = {row_id: row for row, row_id in enumerate(ids)}
        found = [(row_of[doc_id], score) for doc_id, score in zip(ranking.doc_ids, ranking.scores, strict=True)]
        expected, tie = slow_rm3(found, query, bags, how)
        expanded = expanded_queries(queries, searcher, counts_of(bags, N_TERMS, ids), how)
        terms, values = expanded.row(0)
        assert terms.tolist() == sorted(terms.tolist())
        if tie:  # rounding decides which of equal terms is kept
            assert values.sum() == pytest.approx(1)
            assert original == 0 or set(query) <= set(terms.tolist())
        else:
            assert dict(zip(terms.tolist(), values.tolist(), strict=True)) == pytest.approx(expected)
        if not found:
            assert dict(zip(terms.tolist(), values.tolist(), strict=True)) == query


WORDS = st.lists(st.sampled_from("amber Birch cedar cedars the delta 한국어 x-y".split()), max_size=8)


@given(st.lists(WORDS, min_size=1, max_size=6), st.sampled_from(["english", "none"]))
def test_counts_are_those_of_the_analysis(texts, stemmer):
    how = LexicalSettings(stemmer=stemmer)
    analyser = Analyser(how)
    documents = [Document(f"d{number}", "", " ".join(words)) for number, words in enumerate(texts)]
    vocabulary = Vocabulary(("delta", "cedar", "amber", "absent"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts"
        with write_artifact(path, Manifest(counts_store.KIND, counts_store.FORMAT_VERSION, {})) as draft:
            write_counts(documents, how, vocabulary, draft)
        found = open_counts(path)
        assert list(found.row_ids) == [document.doc_id for document in documents]
        for row, document in enumerate(documents):
            terms = analyser.terms(document.text)
            expected = Counter(vocabulary.id_of[term] for term in terms if term in vocabulary.id_of)
            span = slice(found.indptr[row], found.indptr[row + 1])
            pairs = list(zip(found.term_ids[span].tolist(), found.counts[span].tolist(), strict=True))
            assert pairs == sorted(expected.items())
            assert found.lengths[row] == len(terms)
        frequency = [sum(term in analyser.terms(document.text) for document in documents) for term in vocabulary.terms]
        assert found.document_frequency.tolist() == frequency
        assert found.vocab_fingerprint == vocabulary.fingerprint


ROWS = st.lists(
    st.dictionaries(st.integers(0, 9), st.floats(0.015625, 8, width=32), max_size=10), min_size=1, max_size=12
)


@given(ROWS, st.lists(st.integers(0, 6), min_size=1, max_size=3, unique=True), st.integers(1, 40))
def test_statistics_of_vectors(rows, prunings, entries_at_once):
    matrix = sparse_matrix(rows, 10)
    found = vector_statistics(matrix, prunings, [1, 2, 5], entries_at_once=entries_at_once)
    assert [item["keep"] for item in found["prunings"]] == prunings
    for item in found["prunings"]:
        pruned = prune(matrix, item["keep"])
        sizes = np.diff(pruned.indptr)
        weights = [pruned.weights[pruned.term_ids == term].astype(np.float64) for term in range(10)]
        assert item["L0"] == pytest.approx(sizes.mean())
        assert item["L0-std"] == pytest.approx(sizes.std(), abs=1e-12)
        assert item["pos-ls-len-std"] == pytest.approx(np.std([len(some) for some in weights]))
        for part in item["by_threshold"]:
            stds = [some.std() for some in weights if len(some) >= part["threshold"]]
            assert part["logit-cnt"] == len(stds)
            assert part["logit-score-std"] == (pytest.approx(np.mean(stds), abs=1e-9) if stds else None)
