"""What a teacher learns from, what is kept from it, and which pairs it scores."""

import numpy as np
import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.settings import FinetuneSettings, TeacherSettings
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import open_collection
from lexigraft.data.write import write_collection
from lexigraft.learn.teacher.lists import teacher_data
from lexigraft.learn.teacher.scoring import wanted_pairs
from lexigraft.learn.training_data import queries_apart, training_data
from lexigraft.vocab.expansions import join_expansion, split_expansion

N = 60
SETTINGS = TeacherSettings(steps=1, depth=3, n_negatives=1)


@pytest.fixture
def collection(tmp_path):
    """Query i wants document i, query 0 also document 1; query 3's own document has a twin, document 59."""
    documents = [Document(f"d{n}", "", f"text {n}") for n in range(N - 1)] + [Document("d59", "", "text 3")]
    queries = [Query(f"q {n}" if n == 5 else f"q{n}", f"query {n}") for n in range(N)]
    judged = [Qrel(query.query_id, f"d{n}", 1) for n, query in enumerate(queries)]
    splits = {"train": [*judged[:50], Qrel("q0", "d1", 1), Qrel("q1", "d7", 0)], "test": [*judged[50:], judged[4]]}
    write_collection(tmp_path / "data", documents, queries, splits)
    return open_collection(tmp_path / "data")


@pytest.fixture
def negatives(tmp_path):
    """Of every query but 6, the four documents after its own; of query 3, the twin of its own document first."""
    lines = []
    for n in range(50):
        name = "q%205" if n == 5 else f"q{n}"
        found = [f"d{other}" for other in (*([59] if n == 3 else []), n, n + 1, n + 2, n + 3, n + 4)]
        lines += [f"{name} Q0 {doc} {at} {-at} t" for at, doc in enumerate(found, 1)] if n != 6 else []
    (tmp_path / "run.trec").write_text("\n".join(lines) + "\n")
    return tmp_path / "run.trec"


def test_measured_queries_and_those_that_validate_fine_tuning_are_kept_apart(collection):
    apart = queries_apart(collection, "test", FinetuneSettings(validate_every=0))
    assert apart == {*(f"q{n}" for n in range(50, 60)), "q4"}
    validating = queries_apart(collection, "test", FinetuneSettings()) - apart
    assert len(validating) == 2  # a twentieth of the training queries
    assert queries_apart(collection, None, FinetuneSettings()) == validating


def test_it_learns_from_own_documents_and_negatives_of_queries_that_may_train(collection, negatives):
    apart = {"q4", "q10"}
    data = teacher_data(collection, negatives, apart, SETTINGS)
    lists, validation = data.lists, data.validation
    trained = {data.queries[row] for row in lists.query_of}
    validating = {data.queries[row] for row in validation.queries}
    assert not {"query 4", "query 10", "query 6"} & (trained | validating)  # kept apart; without a negative
    assert not trained & validating
    assert len(validating) == 2
    assert len(trained) == 45
    own = {(data.queries[q], data.documents[d]) for q, d in zip(lists.query_of, lists.document_of, strict=True)}
    assert own >= {("query 0", "text 0"), ("query 0", "text 1"), ("query 5", "text 5")}
    negative_texts = {
        data.queries[row]: [data.documents[d] for d in lists.negatives.documents[start:end]]
        for row, (start, end) in enumerate(zip(lists.negatives.indptr, lists.negatives.indptr[1:], strict=False))
    }
    assert negative_texts["query 0"] == ["text 2", "text 3", "text 4"]  # not document 1, which it wants
    assert negative_texts["query 3"] == ["text 4", "text 5"]  # of three, one has the text of its own document
    assert negative_texts["query 5"] == ["text 6", "text 7", "text 8"]


def test_held_out_queries_rank_their_own_document_among_the_negatives(collection, negatives):
    data = teacher_data(collection, negatives, set(), SETTINGS)
    validation = data.validation
    for number in np.unique(validation.lists):
        of_list = validation.lists == number
        (query,) = {data.queries[row] for row in validation.queries[of_list]}
        own = [data.documents[row] for row in validation.documents[of_list & validation.relevant]]
        assert f"text {query.split()[1]}" in own
        assert (of_list & ~validation.relevant).sum() in (2, 3)
    assert teacher_data(collection, negatives, set(), TeacherSettings(validate_every=0)).validation is None


def test_nothing_to_learn_from_is_said(collection, negatives, tmp_path):
    with pytest.raises(InputError, match="no query that may train a teacher"):
        teacher_data(collection, negatives, {query.query_id for query in collection.queries()}, SETTINGS)
    (tmp_path / "other.trec").write_text("q1 Q0 x1 1 1 t\nq2 Q0 x2 1 1 t\n")
    with pytest.raises(InputError, match=r"other\.trec: no line names a training query and a known document"):
        teacher_data(collection, tmp_path / "other.trec", set(), SETTINGS)
    write_collection(tmp_path / "bare", [Document("d", "", "text")])
    with pytest.raises(InputError, match="has no training judgements"):
        teacher_data(open_collection(tmp_path / "bare"), negatives, set(), SETTINGS)


def test_pairs_to_score_are_those_of_the_run_and_the_labelled_ones_each_once(collection, tmp_path, caplog):
    run = tmp_path / "pairs.trec"
    run.write_text("q2 Q0 d9 1 3 t\nq1 Q0 d1 1 2 t\nq2 Q0 d2 2 2 t\nzz Q0 d1 1 1 t\nq2 Q0 d9 3 1 t\n")
    labelled = [Qrel("q1", "d1", 1), Qrel("q1", "d7", 0), Qrel("q 5", "d5", 1), Qrel("unknown", "d5", 1)]
    wanted = wanted_pairs(run, labelled, collection)
    found = {
        query: [wanted.doc_ids[d] for d in wanted.documents[wanted.indptr[at] : wanted.indptr[at + 1]]]
        for at, query in enumerate(wanted.query_ids)
    }
    assert found == {"q2": ["d9", "d2"], "q1": ["d1"], "q 5": ["d5"]}
    assert "1 lines are left out, their query is unknown (such as zz)" in caplog.text
    run.write_text("zz Q0 d1 1 1 t\n")
    with pytest.raises(InputError, match="no line names a query of data; are its ids"):
        wanted_pairs(run, [], collection)


def test_fine_tuning_does_not_learn_what_is_measured(collection, caplog):
    data = training_data(collection, "test", FinetuneSettings(validate_every=0))
    assert "query 4" not in data.pairs.queries and "query 7" in data.pairs.queries
    assert "1 training queries are measured, too (such as q4), and do not train" in caplog.text
    assert "query 4" in training_data(collection, "train", FinetuneSettings(validate_every=0)).pairs.queries


def test_copies_are_no_negatives_whatever_was_added_to_them(collection, negatives):
    changed = [
        document._replace(text=join_expansion(document.text, f"more {n}"))
        for n, document in enumerate(collection.documents())
    ]

    class Expanded(type(collection)):
        def documents(self):
            return iter(changed)

    expanded = Expanded(**vars(collection))
    settings = FinetuneSettings(validate_every=0, negatives=str(negatives), n_negatives=1)
    pairs = training_data(expanded, None, settings).pairs
    row = pairs.queries.index("query 3")
    indptr, documents, _ = pairs.negatives
    found = {split_expansion(pairs.documents[at])[0].strip() for at in documents[indptr[row] : indptr[row + 1]]}
    assert found and "text 3" not in found
