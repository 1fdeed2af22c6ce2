"""What teachers say of a batch, worked out by hand."""

import math

import numpy as np
import pytest
import torch

from lexigraft.core.settings import FinetuneSettings
from lexigraft.train.ranking.lessons import DenseTeacher, Lessons, SparseRows, SparseTeacher
from lexigraft.train.ranking.objective import Objective
from lexigraft.train.ranking.pairs import Judged, PairBatch, TrainingPairs, batch_of_step

CPU = torch.device("cpu")


def rows(*texts):
    """[{term: weight}] as CSR."""
    lengths = [len(text) for text in texts]
    terms = [term for text in texts for term in sorted(text)]
    weights = [text[term] for text in texts for term in sorted(text)]
    return SparseRows(
        np.cumsum([0, *lengths], dtype=np.int64), np.array(terms, np.int32), np.array(weights, np.float32)
    )


QUERIES = rows({0: 1.0, 2: 2.0}, {}, {1: 3.0})
DOCUMENTS = rows({0: 4.0}, {1: 5.0, 2: 6.0}, {2: 7.0})
SPARSE = SparseTeacher(QUERIES, DOCUMENTS, 3)
DENSE = DenseTeacher(
    np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], np.float16), np.array([[0.5, 0.5], [1, 0], [0, 1]], np.float16)
)


def at(*places):
    return np.array(places, np.int64)


def test_a_sparse_teacher_scores_any_rows_in_any_order():
    found = SPARSE.scores(at(2, 0, 1, 0), at(1, 0), CPU)
    assert found.tolist() == [[15.0, 0.0], [12.0, 4.0], [0.0, 0.0], [12.0, 4.0]]


def test_a_dense_teacher_scores_any_rows():
    assert DENSE.scores(at(2, 0), at(0, 1, 2), CPU).tolist() == [[1.0, 1.0, 1.0], [0.5, 1.0, 0.0]]


def test_several_teachers_are_heard_alike_after_their_temperatures():
    found = Lessons([SPARSE, DENSE], [2.0, 0.5]).scores(at(0), at(0, 1), CPU)
    assert found.tolist() == [[(4 / 2 + 0.5 / 0.5) / 2, (12 / 2 + 1 / 0.5) / 2]]


def test_scores_of_sparse_rows_are_those_of_dense_products():
    """The slow twin: every row written out."""
    rng = np.random.default_rng(0)
    written = [(rng.random((20, 30)) * (rng.random((20, 30)) < 0.2)).astype(np.float32) for _ in range(2)]
    queries, documents = (
        rows(*({term: float(row[term]) for term in np.flatnonzero(row)} for row in texts)) for texts in written
    )
    some, others = rng.integers(0, 20, 15), rng.integers(0, 20, 9)
    found = SparseTeacher(queries, documents, 30).scores(some, others, CPU).numpy()
    np.testing.assert_allclose(found, written[0][some] @ written[1][others].T, rtol=1e-5)


class Said(Lessons):
    """Scores as a test says them."""

    def scores(self, queries, documents, device):
        return torch.tensor(self.teachers, device=device)[torch.from_numpy(queries)][:, torch.from_numpy(documents)]


def losses(said, relevant, **changes):
    settings = FinetuneSettings(
        joint_flops=0.0, ramp=0, temperature=0.5, teachers=("other",), **{"qk": 0, "dk": 0, "in_batch": 0.0, **changes}
    )
    batch = PairBatch(at(0, 1), at(0, 1), np.array(relevant))
    queries, documents = torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[1.0, 0.5], [0.0, 1.0]])
    return Objective(settings, 2, CPU, Said(said, [])).losses(queries, documents, batch, 0)


def kl(aim, scores):
    total = sum(math.exp(score) for score in scores)
    return sum(p * (math.log(p) - math.log(math.exp(score) / total)) for p, score in zip(aim, scores, strict=True))


def test_the_loss_is_the_divergence_over_all_documents_of_the_batch():
    """Scores are [[1, 0], [1, 2]], over .5; the teacher gives odds of 3 to 1 and of 1 to 1."""
    found = losses([[math.log(3), 0.0], [0.0, 0.0]], np.eye(2, dtype=bool))
    expected = (kl([0.75, 0.25], [2, 0]) + kl([0.5, 0.5], [2, 4])) / 2
    assert set(found) == {"loss", "taught"}
    assert float(found["taught"]) == pytest.approx(expected, rel=1e-5)
    assert float(found["loss"]) == pytest.approx(expected, rel=1e-5)


def test_other_relevant_documents_are_not_compared():
    """Document 1 is relevant to query 0, too: of that query one document is left, and nothing is said of it."""
    found = losses([[math.log(3), 0.0], [0.0, 0.0]], [[True, True], [False, True]])
    assert float(found["taught"]) == pytest.approx(kl([0.5, 0.5], [2, 4]), rel=1e-5)


def test_masked_and_unmasked_vectors_hear_the_same_with_one_weight():
    found = losses([[math.log(3), 0.0], [0.0, 0.0]], np.eye(2, dtype=bool), dk=1, taught=2.0, in_batch=1.0)
    masked = (kl([0.75, 0.25], [2, 0]) + kl([0.5, 0.5], [0, 4])) / 2  # document 0 keeps its first term
    unmasked = (kl([0.75, 0.25], [2, 0]) + kl([0.5, 0.5], [2, 4])) / 2
    assert (float(found["taught"]), float(found["taught_unmasked"])) == pytest.approx((masked, unmasked), rel=1e-5)
    ranks = float(found["rank"] + found["rank_unmasked"])
    assert float(found["loss"]) == pytest.approx(ranks + 2 * (masked + unmasked), rel=1e-5)


def test_hard_negatives_are_spoken_of_too():
    pairs = TrainingPairs(range(3), range(3), at(0, 2), at(0, 1))
    batch = batch_of_step(pairs, Judged(pairs), 0, 2, 0)
    assert SPARSE.scores(batch.queries, batch.documents, CPU).shape == (2, 2)
