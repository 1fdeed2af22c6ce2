"""Ids that TREC files cannot hold as they are, from the collection through run files to what is measured."""

import pytest

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection


@pytest.fixture
def alike(tmp_path):
    """Two documents and two queries whose ids differ in how a space is written."""
    documents = [Document("a b", "", "tea with milk"), Document("a%20b", "", "tea"), Document("c", "", "water")]
    queries = [Query("q 1", "tea"), Query("q%201", "milk")]
    judged = {"test": [Qrel("q 1", "a%20b", 1), Qrel("q%201", "a b", 1)]}
    write_collection(tmp_path / "data", documents, queries, judged)
    return tmp_path / "data"


def mrr(answer):
    assert answer.status == 0, answer.stderr
    [system] = answer.json["systems"].values()
    return system["MRR@10"]


def test_two_ids_that_differ_in_how_a_space_is_written_stay_two(alike, tmp_path, lexigraft):
    index, run = tmp_path / "index", tmp_path / "out.trec"
    assert lexigraft("index", "--data", alike, "--out", index).status == 0
    # The short text comes first for tea, and only one has milk.
    assert mrr(lexigraft("evaluate", "--index", index, "--data", alike, "--measure", "MRR@10", "--json")) == 1.0
    asked = lexigraft("search", "--index", index, "--queries", alike / "queries.jsonl", "--out", run)
    assert asked.status == 0, asked.stderr
    assert {tuple(line.split()[:3:2]) for line in run.read_text().splitlines()} == {
        ("q%201", "a%2520b"), ("q%201", "a%20b"), ("q%25201", "a%20b")
    }  # fmt: skip
    assert mrr(lexigraft("evaluate", run, "--data", alike, "--measure", "MRR@10", "--json")) == 1.0


def test_runs_of_other_programs_may_hold_ids_as_they_stand(tmp_path, lexigraft):
    (tmp_path / "qrels").write_text("q 0 http://e.org/a%20b 1\n")
    (tmp_path / "run").write_text("q Q0 other 1 3.0 t\nq Q0 http://e.org/a%20b 2 2.0 t\n")
    command = ("evaluate", tmp_path / "run", "--qrels", tmp_path / "qrels", "--measure", "MRR@10", "--json")
    assert mrr(lexigraft(*command)) == 0.5
