"""Hard negatives and teacher scores of a small collection, from files as users have them."""

import gzip
import math

import numpy as np
import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.settings import FinetuneSettings
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import open_collection
from lexigraft.data.write import write_collection
from lexigraft.learn.training_data import training_data

RUN = """\
q2 Q0 d1 2 7.5 bm25
q1 Q0 d1 1 9.0 bm25
q1 Q0 d3 2 8.0 bm25
q1 Q0 d2 3 7.0 bm25
q1 Q0 d5 4 6.5 bm25
q1 Q0 d4 5 6.0 bm25
q1 Q0 d3 6 5.0 bm25
q2 Q0 d4 1 7.5 bm25
"""


@pytest.fixture
def collection(tmp_path):
    """d1 and d5 are relevant to q1; d2 has the text of d1."""
    texts = {"d1": "one", "d2": "one", "d3": "three", "d4": "four", "d5": "five", "d 6": "six"}
    documents = [Document(doc_id, "", text) for doc_id, text in texts.items()]
    qrels = [Qrel("q1", "d1", 1), Qrel("q1", "d5", 2), Qrel("q2", "d3", 1), Qrel("q1", "d4", 0)]
    queries = [Query("q1", "first"), Query("q2", "second"), Query("q3", "third")]
    write_collection(tmp_path / "data", documents, queries, {"train": qrels})
    return open_collection(tmp_path / "data")


def data(collection, tmp_path, run=RUN, scores=None, **changes):
    (tmp_path / "run.trec").write_text(run)
    settings = {"negatives": str(tmp_path / "run.trec"), "n_negatives": 1, "validate_every": 0}
    if scores is not None:
        (tmp_path / "scores.tsv").write_text(scores)
        settings |= {"teacher": str(tmp_path / "scores.tsv"), "kl": 1.0}
    return training_data(collection, None, FinetuneSettings(**settings | changes)).pairs


def negatives_of(pairs):
    indptr, documents, _ = pairs.negatives
    return {
        query: [pairs.documents[row] for row in documents[indptr[i] : indptr[i + 1]]]
        for i, query in enumerate(pairs.queries)
    }


def test_negatives_are_the_highest_that_are_not_relevant(collection, tmp_path):
    pairs = data(collection, tmp_path)
    # by score, equal scores by rank, each once; neither the relevant d1 and d5 nor d2, which reads as d1
    assert negatives_of(pairs) == {"first": ["three", "four"], "second": ["four", "one"]}
    assert pairs.documents == ["one", "five", "three", "four"]  # a text that is there already is not read again
    assert pairs.teacher is None
    assert np.isnan(pairs.negatives.scores).all()


def test_depth_counts_what_is_not_judged_relevant(collection, tmp_path):
    pairs = data(collection, tmp_path, negatives_depth=1)
    assert negatives_of(pairs) == {"first": ["three"], "second": ["four"]}


def test_what_a_run_names_and_nobody_knows_is_said(collection, tmp_path, caplog):
    run = RUN + "q9 Q0 d3 1 1.0 bm25\nq2 Q0 d9 3 1.0 bm25\nq3 Q0 d3 1 1.0 bm25\n"
    pairs = data(collection, tmp_path, run)
    assert negatives_of(pairs) == {"first": ["three", "four"], "second": ["four", "one"]}
    assert "1 lines are left out, their query is unknown (such as q9)" in caplog.text
    assert "1 of its documents are left out, they are not in the collection (such as d9)" in caplog.text


def test_a_query_without_negatives_has_none(collection, tmp_path):
    pairs = data(collection, tmp_path, "q2 Q0 d4 1 1.0 bm25\n")
    assert negatives_of(pairs) == {"first": [], "second": ["four"]}


@pytest.mark.parametrize(
    "run", ["", "q9 Q0 d3 1 1.0 x\n", "q1 Q0 d9 1 1.0 x\n", "q1 Q0 d1 1 1.0 x\nq1 Q0 d2 2 0.5 x\n"]
)
def test_a_run_of_which_nothing_is_left_is_refused(collection, tmp_path, run):
    with pytest.raises(InputError, match=r"run\.trec: no line names a training query and a known document"):
        data(collection, tmp_path, run)


def test_ids_with_spaces_are_found_as_trec_files_write_them(collection, tmp_path):
    assert negatives_of(data(collection, tmp_path, "q2 Q0 d%206 1 1.0 x\n"))["second"] == ["six"]
    assert negatives_of(data(collection, tmp_path, "q2\td 6\t1.0\n"))["second"] == ["six"]


def test_teacher_scores_go_to_pairs_and_negatives(collection, tmp_path, caplog):
    scores = "query_id\tdoc_id\tscore\nq1\td1\t5.5\nq1 d4 -1\nq2\td3\t2\nq2 Q0 d4 1 0.5 t\nq1\td1\t6\nq7\td1\t3\n"
    pairs = data(collection, tmp_path, scores=scores)
    nan = float("nan")
    assert pairs.teacher.tolist() == pytest.approx([6.0, nan, 2.0], nan_ok=True)  # the last of two scores
    assert pairs.negatives.scores.tolist() == pytest.approx([nan, -1.0, 0.5, nan], nan_ok=True)
    assert "no score for 1 of 3 training pairs and 2 of 4 negatives" in caplog.text


def test_scores_may_be_packed(collection, tmp_path):
    (tmp_path / "scores.gz").write_bytes(gzip.compress(b"q2 d3 2\nq2 d4 1\n"))
    pairs = data(collection, tmp_path, teacher=str(tmp_path / "scores.gz"), margin_mse=1.0)
    assert pairs.teacher[2] == 2.0


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ("q1\td1\t5\nq1\td3\n", r"scores\.tsv:2: expected 'query document score'"),
        ("q1 d1 high\n", r"scores\.tsv:1: rank and score must be numbers"),
        ("q1 d1 nan\n", r"scores\.tsv:1: the score 'nan' is not a finite number"),
        ("q1 Q0 d1 first 5 x\n", r"scores\.tsv:1: rank and score must be numbers, found 'first'"),
        ("q7 d1 5\n", r"scores\.tsv: no line scores a training pair or a hard negative"),
    ],
)
def test_bad_scores(collection, tmp_path, scores, said):
    with pytest.raises(InputError, match=said):
        data(collection, tmp_path, scores=scores)


def test_files_that_are_not_there(collection, tmp_path):
    with pytest.raises(InputError, match=r"finetune\.negatives = 'nowhere': there is no such file"):
        data(collection, tmp_path, negatives="nowhere")
    with pytest.raises(InputError, match=r"finetune\.teacher = 'nowhere': there is no such file"):
        data(collection, tmp_path, teacher="nowhere", kl=1.0)


def test_queries_whose_documents_are_unknown_keep_their_negatives_apart(tmp_path):
    """q1's first judgement names no document, so that q2 gets the first row: negatives must follow."""
    documents = [Document(f"d{number}", "", f"text {number}") for number in range(5)]
    qrels = [Qrel("q1", "gone", 1), Qrel("q0", "gone", 1), Qrel("q2", "d2", 1), Qrel("q1", "d1", 1)]
    queries = [Query(f"q{number}", f"query {number}") for number in range(3)]
    write_collection(tmp_path / "data", documents, queries, {"train": qrels})
    run = "q0 Q0 d0 1 1 x\nq1 Q0 d3 1 1 x\nq2 Q0 d4 1 1 x\n"
    pairs = data(open_collection(tmp_path / "data"), tmp_path, run)
    assert pairs.queries == ["query 2", "query 1"]
    assert negatives_of(pairs) == {"query 2": ["text 4"], "query 1": ["text 3"]}
    assert math.isnan(pairs.negatives.scores[0])
