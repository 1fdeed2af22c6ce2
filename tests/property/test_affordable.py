"""Prunings that a cost pays for, against the plain way: prune, count, score everything and sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.comparison import affordable
from lexigraft.comparison.affordable import Asked, affordable_prunings, mean_reciprocal_ranks, pruning_costs
from lexigraft.core.cut import mass_cut
from lexigraft.core.types import SparseMatrix
from lexigraft.vectors.prune import prune
from lexigraft.vectors.weight_ranks import weight_ranks


def matrix(rows, n_terms, ids):
    indptr = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    terms = np.array([term for row in rows for term in sorted(row)], np.int32)
    weights = np.array([row[term] for row in rows for term in sorted(row)], np.float32)
    return SparseMatrix(ids, indptr, terms, weights, n_terms, "v")


def sparse_rows(n_terms, least, most):
    weight = st.integers(1, 6).map(lambda value: value / 2)  # many ties, exact in any order
    row = st.dictionaries(st.integers(0, n_terms - 1), weight, min_size=0, max_size=6)
    return st.lists(row, min_size=least, max_size=most)


def plain_cost(queries, documents):
    shared = [
        set(queries.row(q)[0]) & set(documents.row(d)[0])
        for q in range(queries.n_rows)
        for d in range(documents.n_rows)
    ]
    return sum(map(len, shared)) / (queries.n_rows * documents.n_rows)


def plain_mrr(queries, relevant, documents):
    total = 0.0
    for q in range(queries.n_rows):
        asked = dict(zip(*map(list, queries.row(q)), strict=True))
        scores = []
        for d in range(documents.n_rows):
            score = sum(float(w) * float(asked.get(t, 0)) for t, w in zip(*documents.row(d), strict=True))
            if score > 0:
                scores.append((-score, documents.row_ids[d], d))
        ranked = [d for _, _, d in sorted(scores)][:10]
        places = [ranked.index(d) for d in relevant[q] if d in ranked]
        total += 1 / (min(places) + 1) if places else 0
    return total / queries.n_rows


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_costs_and_worth_are_those_of_the_plain_way(data):
    n_terms = 8
    documents = data.draw(sparse_rows(n_terms, 1, 12))
    queries = data.draw(sparse_rows(n_terms, 1, 4))
    ids = data.draw(st.permutations([f"d{i:02}" for i in range(len(documents))]))
    docs, asked = matrix(documents, n_terms, ids), matrix(queries, n_terms, [f"q{i}" for i in range(len(queries))])
    relevant = [
        np.array(sorted(data.draw(st.sets(st.integers(0, len(documents) - 1), min_size=1, max_size=2))), np.int64)
        for _ in queries
    ]
    costs = pruning_costs([asked], docs)[0]
    for dk in range(1, len(costs) + 1):
        assert costs[dk - 1] == pytest.approx(plain_cost(asked, prune(docs, dk)))
    by_mass = pruning_costs([asked], docs, by_mass=True)[0]
    for hundredths in (1, 30, 50, 75, 99, 100)[: len(by_mass)]:
        cut = docs if hundredths == 100 else prune(docs, mass_cut(hundredths / 100))
        assert by_mass[hundredths - 1] == pytest.approx(plain_cost(asked, cut))
    for keep in (0, 1, 3, "m0.3", "m0.5", "m0.99"):
        found = mean_reciprocal_ranks([asked], [keep], relevant, docs)[0]
        assert found == pytest.approx(plain_mrr(asked, relevant, prune(docs, keep)))


def test_chunks_change_nothing(monkeypatch):
    generator = np.random.default_rng(3)
    rows = [{int(t): float(generator.random()) + 0.01 for t in generator.choice(30, 9, False)} for _ in range(200)]
    docs, asked = matrix(rows, 30, [f"d{i}" for i in range(200)]), matrix(rows[:20], 30, [f"q{i}" for i in range(20)])
    relevant = [np.array([row]) for row in range(20)]
    whole, cheapest = affordable_prunings(Asked(asked, relevant), docs, 1.0)
    assert cheapest == pytest.approx(plain_cost(prune(asked, 3), prune(docs, 1)))
    monkeypatch.setattr(affordable, "row_ranges", lambda indptr: ((at, min(at + 7, 200)) for at in range(0, 200, 7)))
    assert affordable_prunings(Asked(asked, relevant), docs, 1.0) == (whole, cheapest)
    looked_at = {3, 4, 5, 6, 7, 8, 0, *affordable.QUERY_SHARES}
    assert all(one.flops <= 1.0 for one in whole) and {one.qk for one in whole} == looked_at
    for one in whole:  # and one more term a document costs too much
        assert one.mrr == mean_reciprocal_ranks([prune(asked, one.qk)], [one.dk], relevant, docs)[0]
        assert one.dk == 0 or pruning_costs([prune(asked, one.qk)], docs)[0][one.dk] > 1.0


def test_documents_cut_by_mass():
    generator = np.random.default_rng(4)
    rows = [{int(t): float(generator.random()) + 0.01 for t in generator.choice(30, 9, False)} for _ in range(100)]
    docs, asked = matrix(rows, 30, [f"d{i}" for i in range(100)]), matrix(rows[:20], 30, [f"q{i}" for i in range(20)])
    given = Asked(asked, [np.array([row]) for row in range(20)])
    cuts = affordable.query_cuts_of("mass")
    assert set(affordable.query_cuts_of("count")) < set(cuts)
    by_count, _ = affordable_prunings(given, docs, 1.0, cuts)
    by_mass, _ = affordable_prunings(given, docs, 1.0, cuts, "mass")
    both, _ = affordable_prunings(given, docs, 1.0, cuts, "both")
    assert len(by_mass) > 10 and {(one.qk, one.dk) for one in both} == {(one.qk, one.dk) for one in by_count + by_mass}
    for one in by_mass:
        assert one.flops == pytest.approx(plain_cost(prune(asked, one.qk), prune(docs, one.dk)))
        assert one.mrr == pytest.approx(plain_mrr(prune(asked, one.qk), given.relevant, prune(docs, one.dk)))
        if one.dk:  # a hundredth more costs too much
            more = float(one.dk[1:]) + 0.01
            assert more > 0.995 or plain_cost(prune(asked, one.qk), prune(docs, mass_cut(more))) > 1.0


def test_nothing_is_so_cheap():
    docs = matrix([{0: 1.0}, {0: 2.0}], 2, ["a", "b"])
    asked = matrix([{0: 1.0}], 2, ["q"])
    assert affordable_prunings(Asked(asked, [np.array([0])]), docs, 0.5) == ([], 1.0)


def test_ranks_of_weights():
    assert weight_ranks(np.array([0, 3, 3, 5]), np.array([1, 3, 1, 2, 2], np.float32)).tolist() == [2, 1, 3, 1, 2]
