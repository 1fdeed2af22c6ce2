"""What trains and what validates are never the same queries, and what is measured is neither."""

import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.settings import FinetuneSettings
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import open_collection
from lexigraft.data.write import write_collection
from lexigraft.learn.model_training import why_not
from lexigraft.learn.training_data import sample_pairs, training_data, training_queries

SETTINGS = FinetuneSettings(validation_queries=8, validation_documents=30)


def make(folder, splits, n=200):
    """Query i wants document i."""
    documents = [Document(f"d{number}", "", f"text {number}") for number in range(n)]
    queries = [Query(f"q{number}", f"query {number}") for number in range(n)]
    qrels = {name: [Qrel(f"q{i}", f"d{i}", 1) for i in numbers] for name, numbers in splits.items()}
    write_collection(folder, documents, queries, qrels)
    return open_collection(folder)


def number(text):
    return int(text.split()[1])


def wanted_by(validation):
    return [number(validation.documents[place]) for place in validation.wanted]


def test_dev_queries_validate_where_test_is_measured(tmp_path):
    collection = make(tmp_path, {"train": range(100), "dev": range(100, 150), "test": range(150, 200)})
    pairs, validation = training_data(collection, "test", SETTINGS)
    assert [number(text) for text in pairs.queries] == [number(text) for text in pairs.documents] == list(range(100))
    asked = [number(text) for text in validation.queries]
    assert len(asked) == 8
    assert set(asked) <= set(range(100, 150))
    assert wanted_by(validation) == asked
    assert len(validation.documents) == len(set(validation.documents)) == 30
    assert training_data(collection, "test", SETTINGS) == (pairs, validation)  # the same again


def test_some_training_queries_validate_where_dev_is_measured(tmp_path):
    collection = make(tmp_path, {"train": range(100), "dev": range(100, 150)})
    pairs, validation = training_data(collection, "dev", SETTINGS)
    asked = {number(text) for text in validation.queries}
    assert len(asked) == 5  # a twentieth
    assert asked.isdisjoint(number(text) for text in pairs.queries)
    assert asked | {number(text) for text in pairs.queries} == set(range(100))
    assert set(wanted_by(validation)) == asked


def test_no_validation_where_none_is_wanted(tmp_path):
    collection = make(tmp_path, {"train": range(100), "dev": range(100, 150)})
    pairs, validation = training_data(collection, None, FinetuneSettings(validate_every=0))
    assert (len(pairs.queries), validation) == (100, None)


def test_judgements_of_unknown_texts_train_nothing(tmp_path):
    collection = make(tmp_path, {"train": [0, 1, 900]})
    assert training_queries(collection) == ["query 0", "query 1"]
    assert len(training_data(collection, None, SETTINGS).pairs.queries) == 2
    with pytest.raises(InputError, match="nothing to learn from"):
        training_data(make(tmp_path / "none", {"train": [900]}), None, SETTINGS)


def test_the_pairs_of_one_query_are_known_as_such(tmp_path):
    documents = [Document(f"d{number}", "", "text") for number in range(3)]
    qrels = [Qrel("a", "d0", 1), Qrel("b", "d1", 1), Qrel("a", "d1", 1), Qrel("a", "d2", 0)]
    write_collection(tmp_path, documents, [Query("a", "one"), Query("b", "two")], {"train": qrels})
    pairs = training_data(open_collection(tmp_path), None, FinetuneSettings(validate_every=0)).pairs
    assert (pairs.query_of, pairs.document_of) == ([0, 1, 0], [0, 1, 1])
    assert (pairs.queries, pairs.documents) == (["one", "two"], ["text", "text"])


def test_why_no_model_is_trained(tmp_path):
    assert why_not(make(tmp_path / "few", {"train": range(20)})) == "only 20 training pairs"
    unknown = make(tmp_path / "unknown", {"train": range(500, 900)})  # of queries that the collection does not have
    assert why_not(unknown) == "only 0 training pairs"
    assert "no training judgements" in why_not(make(tmp_path / "none", {"test": range(20)}))
    assert why_not(make(tmp_path / "enough", {"train": range(200)})) == ""


def test_sampled_pairs_are_of_different_queries_and_documents(tmp_path):
    documents = [Document(f"d{number}", "", f"text {number}") for number in range(8)]
    queries = [Query(f"q{number}", f"query {number}") for number in range(6)]
    judged = [Qrel("q0", "d0", 1), Qrel("q0", "d1", 1), Qrel("q1", "d0", 1), Qrel("q1", "d2", 1), Qrel("q2", "d0", 1)]
    judged += [Qrel("q3", "d3", 0), Qrel("q4", "unknown", 1), Qrel("unknown", "d5", 1)]
    write_collection(tmp_path, documents, queries, {"train": judged})
    collection = open_collection(tmp_path)
    found = sample_pairs(collection, 10)
    assert found == sample_pairs(collection, 10)
    assert len(found.queries) == len(set(found.queries)) == len(set(found.documents))
    positive = {(f"query {q.query_id[1:]}", f"text {q.doc_id[1:]}") for q in judged if q.relevance > 0}
    among = {
        (q, d)
        for q, query in enumerate(found.queries)
        for d, text in enumerate(found.documents)
        if (query, text) in positive
    }
    assert found.relevant == among
    assert all((at, at) in among for at in range(len(found.queries)))
    assert len(sample_pairs(collection, 1).queries) == 1
    write_collection(tmp_path / "bare", documents, queries, {"test": judged[:1]})
    with pytest.raises(InputError, match="no training judgements"):
        sample_pairs(open_collection(tmp_path / "bare"), 10)
