"""What a teacher is worth, and by what its scores are divided."""

import math

import numpy as np
import pytest
from scipy import sparse

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.learn.lessons import likeliest_temperature, mean_reciprocal_rank, open_lessons, write_rows


def test_the_temperature_is_that_of_honest_odds():
    """Three of four wanted documents are ahead by 1, one is behind by 1: the likeliest odds are 3 to 1, so that
    1 / t = log 3."""
    scores = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    temperature, loss = likeliest_temperature(scores, np.array([0, 0, 1, 1]))
    assert temperature == pytest.approx(1 / math.log(3), rel=1e-3)
    assert loss == pytest.approx(-0.75 * math.log(0.75) - 0.25 * math.log(0.25), rel=1e-6)


def test_a_temperature_scales_with_the_scores():
    rng = np.random.default_rng(0)
    scores, wanted = rng.normal(size=(50, 8)), rng.integers(0, 8, 50)
    scores[np.arange(50), wanted] += 1
    one, ten = (likeliest_temperature(scores * times, wanted)[0] for times in (1, 10))
    assert ten == pytest.approx(10 * one, rel=1e-2)


def test_reciprocal_ranks_take_ties_and_nothing_found_for_the_worst():
    scores = np.array([[3.0, 2.0, 1.0], [2.0, 2.0, 1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    assert mean_reciprocal_rank(scores, np.array([0, 0, 0, 0])) == pytest.approx((1 + 1 / 2 + 0 + 1 / 3) / 4)
    assert mean_reciprocal_rank(scores, np.array([0, 0, 0, 0]), depth=2) == pytest.approx((1 + 1 / 2) / 4)


def test_lessons_are_read_as_they_were_written_and_only_those_that_are_heard(tmp_path):
    import torch

    table = np.array([[0.0, 2.0], [1.0, 0.0]], np.float32)
    for side in ("queries", "documents"):
        write_rows(tmp_path, f"good.{side}", sparse.csr_matrix(table))
        write_rows(tmp_path, f"dense.{side}", table)
    facts = {
        "bm25": {"mrr": 0.5}, "good": {"mrr": 0.6, "temperature": 2.0, "heard": True},
        "bad": {"mrr": 0.4, "temperature": 1.0, "heard": False}, "dense": {"temperature": 1.0, "heard": True},
    }  # fmt: skip
    write_json(tmp_path / "teachers.json", facts)
    lessons, read = open_lessons(tmp_path, 2, 2)
    assert read == facts and lessons is not None and list(lessons.temperatures) == [2.0, 1.0]
    both = np.array([0, 1])
    product = table @ table.T
    np.testing.assert_allclose(lessons.scores(both, both, torch.device("cpu")).numpy(), (product / 2 + product) / 2)
    write_json(tmp_path / "teachers.json", {"bm25": {"mrr": 0.5}, "bad": facts["bad"]})
    assert open_lessons(tmp_path, 2, 2)[0] is None


def write_teachers(folder):
    table = np.array([[0.0, 2.0], [1.0, 0.0]], np.float32)
    for side in ("queries", "documents"):
        write_rows(folder, f"good.{side}", sparse.csr_matrix(table))
        write_rows(folder, f"dense.{side}", table)
    heard = {"temperature": 1.0, "heard": True}
    write_json(folder / "teachers.json", {"good": heard, "dense": heard})


@pytest.mark.parametrize(
    ("file", "array", "says"),
    [
        ("good.queries.indptr.npy", np.array([0, 5, 2]), "does not say where 2 rows of 2 entries begin"),
        ("good.queries.indptr.npy", np.array([0, 2]), "has 2 numbers instead of 3"),
        ("good.queries.indptr.npy", np.array([0.0, 1, 2]), "holds float64"),
        ("good.documents.term_ids.npy", np.array([0, 7], np.int32), "outside of 0 to 1"),
        ("good.documents.term_ids.npy", np.array([0, -1], np.int32), "outside of 0 to 1"),
        ("good.documents.weights.npy", np.array([1, np.nan], np.float32), "not finite"),
        ("good.documents.weights.npy", np.array([1], np.float32), "has 1 numbers instead of 2"),
        ("dense.queries.npy", np.ones((2, 3), np.float32), "of another width"),
        ("dense.queries.npy", np.ones((3, 2), np.float32), "has 3 rows instead of 2"),
        ("dense.documents.npy", np.full((2, 2), np.inf, np.float32), "not finite"),
        ("dense.documents.npy", np.ones(4, np.float32), "of 1 dimensions"),
    ],
)
def test_arrays_of_a_stranger(tmp_path, file, array, says):
    """Before, training took them as they came: rows of other texts, and numbers that are none."""
    write_teachers(tmp_path)
    open_lessons(tmp_path, 2, 2)
    np.save(tmp_path / file, array)
    with pytest.raises(ArtifactError, match=says) as raised:
        open_lessons(tmp_path, 2, 2)
    assert str(tmp_path / file.split(".")[0]) in str(raised.value)


@pytest.mark.parametrize(
    "facts",
    [{"good": 3}, {"good": {"heard": True}}, {"good": {"heard": True, "temperature": 0}}, {"../good": {"heard": True}}],
)
def test_facts_of_a_stranger(tmp_path, facts):
    write_teachers(tmp_path)
    write_json(tmp_path / "teachers.json", facts)
    with pytest.raises(ArtifactError, match=r"teachers\.json"):
        open_lessons(tmp_path, 2, 2)
