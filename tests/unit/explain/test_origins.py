"""Where the words of a grafted document come from."""

import numpy as np
import pytest

from lexigraft.core.origin import Lender, Origin, sum_of
from lexigraft.explain.contributions import explain_rows
from lexigraft.explain.documents import explain_document
from lexigraft.explain.lookup import impacts_of
from lexigraft.explain.origins import Origins, split, weights_of
from lexigraft.grafted.shares import SHARPNESS, own_lifts
from lexigraft.grafted.stored import read_facts, read_neighbours
from lexigraft.index.store import open_index
from lexigraft.stages.layout import JUDGED
from lexigraft.vectors.store import open_vectors
from tests.grafted_run import write_grafted_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_grafted_run(tmp_path_factory.mktemp("grafted") / "run")


@pytest.fixture(scope="module")
def opened(run):
    """(The index, the origins of its words)."""
    origins = Origins(run.vectors(JUDGED, "grafted"), run.vectors(JUDGED, "bm25"))
    return open_index(run.index(JUDGED, "grafted", 0)), origins


def parted(parts, impact):
    return split(np.array([[part] for part in parts]), np.array([impact]))[:, 0].tolist()


def test_an_impact_is_split_by_hand():
    assert parted([60.4, 20.4, 7.0], 100) == [60, 21, 7, 12]  # sums: 60.4, 80.8 and 87.8
    assert parted([0.4, 0.4, 0.4], 50) == [0, 1, 0, 49]  # sums: .4, .8 and 1.2: none is lost, and none counted twice
    assert parted([0.0, 0.0, 0.0], 1) == [0, 0, 0, 1]  # all of it is the vector's


def test_a_single_impact_that_is_left_is_rounding():
    assert parted([60.3, 20.1, 6.9], 88) == [61, 20, 7, 0]
    assert parted([0.3, 0.1, 0.0], 1) == [1, 0, 0, 0]  # a weight is never rounded to nothing
    assert parted([70.0, 40.0, 0.0], 100) == [70, 30, 0, 0]  # cut to the largest impact there is


@pytest.mark.parametrize("seed", range(20))
def test_parts_add_up_and_are_near(seed):
    rng = np.random.default_rng(seed)
    parts = rng.random((rng.integers(1, 12), 50)) * rng.choice([0, 1, 100], (1, 50))
    impacts = np.rint(parts.sum(axis=0) + rng.choice([0, 30], 50)).astype(np.int64) + 1
    whole = split(parts, impacts)
    assert np.array_equal(whole.sum(axis=0), impacts) and whole.min() >= 0
    assert np.abs(whole[:-1] - parts).max() <= 2


def test_what_an_origin_says():
    lenders = tuple(
        Lender(name, f"On {name}", points) for name, points in [("d4", 20), ("d1", 5), ("d2", 1), ("d3", 1)]
    )
    origin = Origin(61, lenders, 12)
    assert (origin.borrowed, origin.points, origin.kind) == (27, 100, "own")
    assert origin.said == "own 61%, borrowed 27% (d4, d1, d2 and 1 more), vector 12%"
    assert Origin(0, lenders[:1], 30).kind == "vector" and Origin(0, lenders, 27).kind == "borrowed"
    assert Origin(3, (), 0).said == "own 100%" and sum_of([]).said == ""
    assert origin.times(3) == Origin(183, tuple(one._replace(points=3 * one.points) for one in lenders), 36)
    assert origin.times(3).as_json()["lenders"][0] == {"doc_id": "d4", "title": "On d4", "points": 60}
    both = sum_of([origin, Origin(1, (Lender("d1", "On d1", 30),), 0)])
    assert (both.own, both.borrowed, both.vector) == (62, 57, 12)
    assert [(one.doc_id, one.points) for one in both.lenders] == [("d1", 35), ("d4", 20), ("d2", 1), ("d3", 1)]


def test_every_impact_is_what_the_formula_says(run, opened):
    """Y of the document, and of each neighbour times its share, counted here once more."""
    index, origins = opened
    lexical = open_vectors(run.vectors(JUDGED, "bm25"))
    neighbours, lifted = (
        read_neighbours(run.vectors(JUDGED, "grafted")),
        own_lifts(lexical.matrix.indptr, read_facts(run.vectors(JUDGED, "grafted")).lifted),
    )
    terms = np.arange(index.n_terms, dtype=np.int32)
    for row in range(index.n_documents):
        impacts = impacts_of(index, terms, np.array([row], np.int32))[:, 0].astype(int)
        held = np.flatnonzero(impacts)
        shares = np.exp(SHARPNESS * (neighbours.cosines[row] - neighbours.cosines[row][0]))
        shares *= 0.2 / shares.sum()
        for term, found in zip(held, origins.of(index, row, held.tolist(), impacts[held].tolist()), strict=True):
            assert found.points == impacts[term]
            at = np.array([term], np.int32)
            assert found.own == pytest.approx(weights_of(lexical, row, at)[0] / index.meta.scale, abs=2)
            lift = lifted[row] if found.own else 1.0
            lent = {lexical.matrix.row_ids[one]: lift * share * weights_of(lexical, one, at)[0] / index.meta.scale
                    for one, share in zip(neighbours.rows[row], shares, strict=True)}  # fmt: skip
            assert {one.doc_id: one.points for one in found.lenders} == pytest.approx(
                {name: points for name, points in lent.items() if points > 0.5}, abs=2
            )


def test_words_that_a_document_does_not_hold(opened):
    index, origins = opened
    found = explain_document(index, origins, index.ordinals("cat")[0])
    own = {"cat", "sat", "mat", "pur"}
    assert own.isdisjoint(word.term for word in found.added)
    borrowed = {word.term: word.origin.lenders[0] for word in found.borrowed}
    assert borrowed["kitten"].doc_id == "kitten" and borrowed["kitten"].title == "A kitten"
    assert all(word.origin.own == 0 for word in found.added)
    assert [word.weight for word in found.added] == sorted((word.weight for word in found.added), reverse=True)
    assert found.n_terms == len(own) + len(found.added) and f"{len(found.added)} of them" in found.said
    assert {*found.borrowed, *found.told} == {*found.added}


def test_kinds_are_those_of_the_parts(opened):
    index, origins = opened
    every = np.arange(index.n_terms, dtype=np.int32)
    for why in explain_rows(index, every, np.ones(len(every), np.float32), range(index.n_documents)):
        found = origins.explained(index, why.doc_ordinal, why.contributions)
        assert sum(item.origin.points for item in found) == why.points
        assert origins.kinds(index, why.doc_ordinal, found) == [item.origin.kind for item in found]
