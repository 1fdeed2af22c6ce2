"""Which teachers are heard where BM25 is one of them: those that are of use beside it."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from lexigraft.learn import lessons
from lexigraft.learn.lessons import FACTS, worth, worth_of_mean, write_lessons
from lexigraft.learn.training_data import ValidationSet


class Scored:
    """Query i scores document j by row i: queries are rows, documents unit vectors."""

    def __init__(self, scores):
        self.scores = np.array(scores, np.float32)

    def queries(self, texts):
        return self.scores[[int(text) for text in texts]]

    def documents(self, doc_ids):
        return np.eye(self.scores.shape[1], dtype=np.float32)[[int(doc_id) for doc_id in doc_ids]]


VALIDATION = ValidationSet(["0", "1"], ["", "", ""], [0, 1], ["a", "b"], ["0", "1", "2"])
# Wanted are documents 0 and 1: BM25 has ranks 1 and 2. `other` has ranks 3 and 1, and with BM25 1 and 1.
BM25 = Scored([[9, 1, 2], [1, 4, 5]])
OTHER = Scored([[1.0, 1.1, 1.2], [1, 9, 1]])
WRONG = Scored([[0.1, 9, 8], [9, 0.1, 8]])


def test_the_mean_of_two_systems_is_worth_what_their_sum_ranks():
    assert worth(BM25, VALIDATION).mrr == pytest.approx((1 + 1 / 2) / 2)
    assert worth(OTHER, VALIDATION).mrr == pytest.approx((1 / 3 + 1) / 2)
    both = worth_of_mean([BM25, OTHER], [1.0, 1.0], VALIDATION)  # [5, 1.05, 1.6], [1, 6.5, 3]
    assert both.mrr == 1
    halved = worth_of_mean([BM25, OTHER], [1.0, 100.0], VALIDATION)  # the second hardly speaks
    assert halved.mrr == pytest.approx((1 + 1 / 2) / 2)


@pytest.mark.parametrize(
    ("teachers", "heard"),
    [
        (["other"], []),  # worse than BM25 by itself
        (["bm25", "other"], ["bm25", "other"]),
        (["bm25", "wrong"], ["bm25"]),  # of no use beside it either
    ],
)
def test_a_teacher_beside_bm25_is_heard_where_their_mean_is_better(teachers, heard, tmp_path, monkeypatch, caplog):
    systems = {"bm25": BM25, "other": OTHER, "wrong": WRONG}
    monkeypatch.setattr(lessons, "vectors_of_system", lambda folder, name: systems[name])
    data = SimpleNamespace(validation=VALIDATION, pairs=SimpleNamespace(queries=["0"], doc_ids=["0", "2"]))
    write_lessons(None, teachers, data, tmp_path)
    facts = json.loads((tmp_path / FACTS).read_text())
    assert [name for name, fact in facts.items() if fact.get("heard")] == heard
    assert {file.name.partition(".")[0] for file in tmp_path.glob("*.npy")} == set(heard)
    assert ("nothing is learned from it" in caplog.text) == (heard != teachers)
    if teachers == ["bm25", "other"]:
        assert facts["other"]["with_bm25"]["mrr"] == 1
