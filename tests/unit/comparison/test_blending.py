"""Which blend is taken: ranks by hand, and the rule against noise."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from lexigraft.comparison.affordable import Asked
from lexigraft.comparison.blending import CANDIDATES, NOTHING, candidate_ranks, chosen, first_rank, recommend_blend
from lexigraft.stages.operating_point import OperatingPoint
from lexigraft.vectors.blend import Blend, Parts, blended
from tests.conftest import sparse_matrix


def test_first_rank_counts_who_is_ahead_and_breaks_ties_by_id():
    scores, order = np.array([3.0, 1.0, 3.0, 5.0]), np.array([2, 0, 1, 3])
    assert first_rank(scores, np.array([3]), order) == 1
    assert first_rank(scores, np.array([0]), order) == 3  # behind 3, and behind 2, whose id comes first
    assert first_rank(scores, np.array([2, 1]), order) == 2
    assert first_rank(scores, np.array([], np.int64), order) == 0
    assert first_rank(np.zeros(4), np.array([1]), order) == 0
    assert first_rank(np.arange(20.0), np.array([5]), np.arange(20)) == 0  # 14 are ahead


def test_ranks_of_candidates_are_those_of_the_blended_vectors():
    draw = np.random.default_rng(1)

    def part(density):
        values = draw.random((12, 6)) * (draw.random((12, 6)) < density)
        return csr_matrix(values)

    chunks = [Parts(part(0.5), part(0.3), part(0.3)) for _ in range(2)]
    queries = [{0: 1.0, 3: 2.0}, {1: 1.0}, {2: 1.0, 4: 1.0, 5: 1.0}]
    asked = Asked(sparse_matrix(queries, 6), [np.array([3]), np.array([20, 7]), np.array([11])])
    names = [f"{number:02}" for number in range(24)]
    found = candidate_ranks(asked, chunks, names, 1.5)
    for candidate in CANDIDATES:
        rows = np.vstack([blended(parts, candidate, 1.5).toarray() for parts in chunks])
        for number, query in enumerate(queries):
            scores = sum(rows[:, term] * weight for term, weight in query.items())
            slow = first_rank(np.asarray(scores), asked.relevant[number], np.arange(24))
            assert found[candidate][number] == slow


def ranks_of(better, n=100):
    """All candidates find everything at the second rank, `better` some of it at the first."""
    found = {candidate: np.full(n, 2) for candidate in CANDIDATES}
    for candidate, n_first in better.items():
        found[candidate][:n_first] = 1
    return found


def test_the_least_expansion_within_a_standard_error_of_the_best_is_taken():
    found = ranks_of({Blend(0.25, 0.5): 41, Blend(0, 0.1): 10})
    found[Blend(0.25, 0.2)][2:42] = 1  # .005 behind, with a standard error of .0087
    taken = chosen(found, 2.0)
    assert taken.blend == Blend(0.25, 0.2)
    assert taken.p == pytest.approx(0, abs=1e-9)
    assert "MRR@10 0.7000 on 100 made queries" in taken.why
    assert recommend_blend(taken, OperatingPoint(0, 9, "", mrr=0.51)).system == "blend"
    assert recommend_blend(taken, OperatingPoint(0, 9, "", mrr=0.5)).system == "bm25"


def test_bm25_is_taken_unless_a_blend_is_ahead_by_more_than_chance():
    taken = chosen(ranks_of({Blend(0.25, 0.5): 3}), 2.0)  # one standard error is .0086, the difference .015, p = .08
    assert taken.blend == NOTHING
    assert taken.p == pytest.approx(0.0826, abs=2e-3)
    assert recommend_blend(taken, OperatingPoint(0, 9, "", mrr=0.51)).system == "bm25"
    assert chosen(ranks_of({NOTHING: 50}), 2.0).blend == NOTHING


def test_one_query_is_enough_to_end():
    assert chosen(ranks_of({Blend(0.25, 0.5): 1}, n=1), 2.0).blend == NOTHING
