"""Wackiness by kernels equals wackiness by its formula; removal and rank measures equal their slow twins."""

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.errors import InputError
from lexigraft.explain.removal import (
    cuts_ties,
    log_scaled,
    remove_terms,
    wackiest_first,
    wackiest_share,
    without_expansion,
)
from lexigraft.explain.wackiness import TermScores, TextTerms, measure_importance, score_terms
from lexigraft.explain.wackiness_curve import curve, curve_runs, draw_size
from lexigraft.measure.measures import measure
from lexigraft.measure.ranks import RANK_MEASURES, RankJudge
from lexigraft.search.many import search_many
from lexigraft.search.searcher import Searcher
from tests.conftest import index_of, sparse_matrix

N_TERMS = 7
bags = st.dictionaries(st.integers(0, N_TERMS - 1), st.integers(1, 4), max_size=5)
rows = st.dictionaries(st.integers(0, N_TERMS - 1), st.sampled_from([0.25, 0.5, 1.0, 2.0]), max_size=5)


def counts_of(texts):
    matrix = sparse_matrix(texts, N_TERMS)
    return TextTerms(matrix.indptr, matrix.term_ids, matrix.weights.astype(np.int32))


def slow_importance(inputs, own, documents, found):
    """{(input, term): S}, by the formula."""
    values = {}
    for x, vector in enumerate(inputs):
        for term in set(vector) - set(own[x]):
            frequency = sum(term in document for document in documents)
            total = sum(sum(documents[d].values()) for d in found[x])
            count = sum(documents[d].get(term, 0) for d in found[x])
            values[x, term] = count / total * math.log(len(documents) / frequency) if total and frequency else 0.0
    return values


@given(st.data(), st.lists(bags, min_size=1, max_size=6), st.integers(1, 90), st.integers(1, 2))
def test_importance_and_scores_are_the_formula(data, documents, n_inputs, threads):
    inputs = [data.draw(rows) for _ in range(n_inputs % 10)] * (1 + n_inputs // 10)  # several blocks of inputs
    own = [data.draw(bags) if x % 3 else {} for x in range(len(inputs))]
    hits = st.lists(st.integers(0, len(documents) - 1), unique=True, max_size=3)
    found_for = {tuple(sorted(row.items())): data.draw(hits) for row in inputs}

    def find(terms, weights):
        return np.array(found_for[tuple(zip(terms.tolist(), weights.tolist(), strict=True))], np.int32)

    found = [found_for[tuple(sorted(row.items()))] for row in inputs]
    matrix = sparse_matrix(inputs, N_TERMS)
    measured = measure_importance(matrix, counts_of(own), counts_of(documents), find, threads)
    expected = slow_importance(inputs, own, documents, found)
    assert measured.values == pytest.approx([expected[key] for key in sorted(expected)])
    assert measured.n_found_nothing == sum(
        not found[x] and bool(set(inputs[x]) - set(own[x])) for x in range(len(inputs))
    )
    scores = score_terms(measured, N_TERMS)
    means = {}
    for term in range(N_TERMS):
        values = [value for (_, t), value in expected.items() if t == term]
        assert scores.counts[term] == len(values)
        if values:
            means[term] = sum(values) / len(values)
    largest = max(means.values(), default=0.0)
    for term in range(N_TERMS):
        if term not in means:
            assert np.isnan(scores.scores[term])
        else:
            assert scores.scores[term] == pytest.approx(1 - means[term] / largest if largest else 1.0, abs=1e-6)


@given(st.lists(st.floats(0, 1, width=32) | st.just(math.nan), min_size=1, max_size=40), st.integers(1, 12))
def test_curve_is_the_mean_of_equal_bins(scores, bins):
    known = sorted((score for score in scores if not math.isnan(score)), reverse=True)
    if not known:
        return
    n_bins = min(bins, len(known))
    cut = [known[i * len(known) // n_bins : (i + 1) * len(known) // n_bins] for i in range(n_bins)]
    assert curve(np.array(scores, np.float32), bins) == pytest.approx([sum(part) / len(part) for part in cut])


@given(st.lists(rows, min_size=2, max_size=12), st.integers(0, 3))
def test_draws_are_the_same_for_the_same_seed_and_never_larger_than_half(inputs, seed):
    documents = counts_of([{0: 1, 1: 1}, {2: 1}])
    own = counts_of([{} for _ in inputs])
    matrix = sparse_matrix(inputs, N_TERMS)
    importance = measure_importance(matrix, own, documents, lambda *_: np.array([0, 1], np.int32))
    drawn = []
    for run in range(4):
        chosen = np.zeros(len(inputs), bool)
        chosen[np.random.default_rng((seed, run)).permutation(len(inputs))[: len(inputs) // 2]] = True
        drawn.append(chosen)
    has_terms = [any(inputs[place] for place in np.flatnonzero(chosen)) for chosen in drawn]
    if not any(has_terms):
        with pytest.raises(InputError, match="no input of any draw"):
            curve_runs(importance, N_TERMS, 100, 4, 10_000, seed)
        return
    left = curve_runs(importance, N_TERMS, 100, 4, 10_000, seed)
    bins = left.curves.shape[1]
    for found, chosen, known in zip(left.curves, drawn, has_terms, strict=True):
        if known:
            assert found == pytest.approx(curve(score_terms(importance, N_TERMS, chosen).scores, bins))
        else:  # its place stays, so that draws of other systems are compared with the same
            assert np.isnan(found).all()
    assert left.n_drawn == draw_size(len(inputs), 10_000) <= len(inputs) / 2
    assert left.curves.shape == (4, left.curves.shape[1])
    assert left.areas == pytest.approx(left.curves.mean(axis=1), nan_ok=True)


@given(st.lists(st.tuples(rows, bags), min_size=1, max_size=8), st.sets(st.integers(0, N_TERMS - 1)))
def test_removal_keeps_what_texts_hold(inputs, removed):
    matrix, own = sparse_matrix([row for row, _ in inputs], N_TERMS), counts_of([bag for _, bag in inputs])
    left = remove_terms(matrix, own, np.array(sorted(removed), np.int64))
    for place, (row, bag) in enumerate(inputs):
        kept = {term: weight for term, weight in row.items() if term in bag or term not in removed}
        terms, weights = left.matrix.row(place)
        assert dict(zip(terms.tolist(), weights.tolist(), strict=True)) == kept
        assert left.changed[place] == (len(kept) < len(row))
    everything = remove_terms(matrix, own, np.arange(N_TERMS))
    assert np.array_equal(everything.matrix.term_ids, without_expansion(matrix, own).matrix.term_ids)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30))
def test_wackiest_terms_come_first_and_all_that_were_seen(terms):
    counts = np.array([count for count, _ in terms])
    scores = TermScores(np.where(counts > 0, [s for _, s in terms], np.nan).astype(np.float32), counts, 1.0, 0)
    order = wackiest_first(scores)
    assert sorted(order.tolist()) == np.flatnonzero(counts).tolist()
    assert (np.diff(scores.scores[order]) <= 0).all()
    assert len(wackiest_share(scores, 0.5)) == len(order) // 2
    again = wackiest_first(scores, draw=1)
    assert np.array_equal(again, wackiest_first(scores, draw=1))
    for n in range(len(order) + 1):  # only where the cut goes through equal scores can draws differ in what comes first
        tied = 0 < n < len(order) and scores.scores[order[n - 1]] == scores.scores[order[n]]
        assert cuts_ties(scores, n) == tied
        assert tied or set(order[:n].tolist()) == set(again[:n].tolist())
    steps = log_scaled(len(order))
    assert steps == sorted(set(steps))
    assert (steps[-1] == len(order)) if len(order) else not steps


@given(st.data())
def test_measures_of_rows_are_those_of_names(data):
    documents = data.draw(st.lists(rows, min_size=1, max_size=30))
    queries = data.draw(st.lists(rows, min_size=1, max_size=6))
    # Judgements of documents that are not there, and of grade 0 and below, too.
    names = st.sampled_from([f"d{number}" for number in range(len(documents) + 3)])
    judged = {
        f"q{number}": {**data.draw(st.dictionaries(names, st.integers(-1, 3), max_size=6)), data.draw(names): 1}
        for number in range(len(queries))
    }
    with TemporaryDirectory() as folder:
        index = index_of(sparse_matrix(documents, N_TERMS), Path(folder) / "index")
        asked = sparse_matrix(queries, N_TERMS, list(judged))
        searcher = Searcher(index)
        found = search_many(searcher, asked, 1000, threads=2)
        values = RankJudge(index, asked.row_ids, judged).measure(found)
        rankings = searcher.search_batch(asked, 1000)
        for column, item in enumerate(measure(rankings, judged, RANK_MEASURES)):
            assert values[:, column] == pytest.approx([item.per_query[query_id] for query_id in asked.row_ids])
        some = np.arange(len(queries))[::-1].copy()
        again = RankJudge(index, asked.row_ids, judged).measure(search_many(searcher, asked, 1000, rows=some), some)
        assert np.array_equal(again, values[::-1])
