"""`explain` of a grafted system: from the command line, from Python and from the server."""

import json
import shutil

import pytest

from lexigraft.retrieve.retriever import Retriever
from lexigraft.serve.answer_schemas import EXPLANATION, HIT
from lexigraft.stages.layout import JUDGED
from tests.grafted_run import write_grafted_run
from tests.serving import InProcess
from tests.unit.explain.pages import problems_of

QUERY = "a cat and a kitten that purred"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_grafted_run(tmp_path_factory.mktemp("grafted") / "run")


def explained(run, lexigraft, *arguments):
    return lexigraft("explain", "--run", run.root, "--system", "grafted", *arguments)


def test_parts_add_up_to_the_score(run, lexigraft):
    answer = explained(run, lexigraft, QUERY, "cat", "--json")
    assert (answer.status, answer.stderr) == (0, "")
    found, origins = answer.json, {item["term"]: item["origin"] for item in answer.json["contributions"]}
    for item in found["contributions"]:
        origin = item["origin"]
        assert origin["own"] + origin["borrowed"] + origin["vector"] == item["points"]
        assert origin["borrowed"] == sum(lender["points"] for lender in origin["lenders"])
    whole = found["origin"]
    assert whole["own"] + whole["borrowed"] + whole["vector"] == found["points"]
    assert origins["kitten"]["own"] == 0 < origins["kitten"]["borrowed"] < origins["cat"]["own"]
    assert origins["kitten"]["lenders"][0]["title"] == "A kitten"
    plain = lexigraft("explain", "--run", run.root, "--system", "bm25", QUERY, "cat", "--json").json
    assert plain["origin"] is None and all(item["origin"] is None for item in plain["contributions"])


def test_people_are_told_in_words(run, tmp_path, lexigraft):
    page = tmp_path / "why.html"
    shown = explained(run, lexigraft, QUERY, "cat", "--html", page).stdout
    assert "own" in shown and "borrowed" in shown and "kitten lends" in shown and ": A kitten" in shown
    assert problems_of(page.read_text()) == []
    assert "borrowed from other documents" in page.read_text() and "Lent most: kitten “A kitten”" in page.read_text()
    beside = explained(run, lexigraft, QUERY, "cat", "--against-system", "bm25", "--html", page)
    assert beside.status == 0 and problems_of(page.read_text()) == []


def test_a_document_as_a_whole(run, tmp_path, lexigraft):
    page = tmp_path / "document.html"
    found = explained(run, lexigraft, "--doc", "cat", "--json", "--html", page).json
    assert (found["doc_id"], found["title"]) == ("cat", "A cat")
    assert "kitten" in {word["term"] for word in found["borrowed"]}
    assert all(word["origin"]["own"] == 0 < word["weight"] for word in [*found["borrowed"], *found["vector"]])
    assert found["origin"]["own"] > found["origin"]["borrowed"] > 0
    assert problems_of(page.read_text()) == [] and "Where the words of cat come from" in page.read_text()
    assert "Borrowed words that its text does not hold" in explained(run, lexigraft, "--doc", "cat").stdout


def test_bad_questions(run, lexigraft):
    for arguments, said in {
        ("--doc", "nothing"): "there is no document 'nothing'",
        ("--doc", "cat", QUERY): "or --doc ID",
        ("--doc", "cat", "--against-system", "bm25"): "leave out --against",
    }.items():
        answer = explained(run, lexigraft, *arguments)
        assert (answer.status, answer.stderr.count("\n")) == (2, 1) and said in answer.stderr
    other = lexigraft("explain", "--run", run.root, "--system", "bm25", "--doc", "cat")
    assert other.status == 2 and "give --run RUN --system grafted" in other.stderr


def test_python_says_the_same(run):
    with Retriever.open(run.root, "grafted") as retriever:
        why = retriever.explain(QUERY, "cat")
    assert sum(item.points for item in why.contributions) == why.points
    assert all(item.origin.points == item.points for item in why.contributions)


def test_an_index_is_told_apart_from_its_run(run, tmp_path, lexigraft):
    index = run.index(JUDGED, "grafted", 0)
    there = lexigraft("explain", "--index", index, "--data", run.collection, QUERY, "cat", "--json")
    assert there.stderr == "" and there.json["origin"]["borrowed"] > 0
    shutil.copytree(index, tmp_path / "alone")
    alone = lexigraft("explain", "--index", tmp_path / "alone", "--data", run.collection, QUERY, "cat", "--json")
    assert alone.json["origin"] is None and alone.json["points"] == there.json["points"]
    assert alone.stderr.count("\n") == 1 and "only the run that it was taken out of knows" in alone.stderr
    refused = lexigraft("explain", "--index", tmp_path / "alone", "--doc", "cat")
    assert refused.status == 2 and "in its run alone" in refused.stderr


def test_vectors_that_were_made_again(run, tmp_path, lexigraft):
    other = shutil.copytree(run.root, tmp_path / "other")
    shutil.rmtree(other / JUDGED / "grafted/vectors")
    shutil.copytree(other / JUDGED / "bm25/vectors", other / JUDGED / "grafted/vectors")
    shutil.copy(run.vectors(JUDGED, "grafted") / "graft.json", other / JUDGED / "grafted/vectors")
    answer = lexigraft("explain", "--run", other, "--system", "grafted", QUERY, "cat", "--json")
    assert answer.status == 0 and "where the words come from is not shown" in answer.stderr


def test_the_server_says_the_same(run, lexigraft):
    server = InProcess([run.root])
    found = server.post("/explain", query=QUERY, doc_id="cat", system="grafted")
    assert set(found) == set(EXPLANATION["properties"])
    by_command = explained(run, lexigraft, QUERY, "cat", "--json").json["contributions"]
    assert [item["origin"] for item in found["contributions"]] == [item["origin"] for item in by_command]
    assert "kitten" in {word["term"] for word in found["added_words"]["borrowed"]}
    hits = server.post("/search", query=QUERY, system="grafted")["hits"]
    kinds = {hit["doc_id"]: {match["term"]: match["origin"] for match in hit["matches"]} for hit in hits}
    assert (
        kinds["cat"]["cat"] == "own" and kinds["cat"]["kitten"] == "borrowed" and set(hits[0]) == set(HIT["properties"])
    )
    plain = server.post("/explain", query=QUERY, doc_id="cat", system="bm25")
    assert plain["added_words"] is None and json.dumps(plain).count('"origin": null') == len(plain["contributions"])
