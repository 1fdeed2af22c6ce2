"""/judgements: the same as the command does, where the server may write."""

import json

import pytest

from lexigraft.core.config import load_settings
from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from lexigraft.retrieve.open_judging import open_judging
from lexigraft.serve.answer_schemas import JUDGED, QUESTION
from lexigraft.stages.user_judgements import UserJudgements, decided_by_user
from lexigraft.whole_run import run as make_run
from tests.serving import InProcess

WORDS = ("sort", "graph", "date", "list", "path", "item", "string", "tree", "table", "query")
DOCUMENTS = [
    Document(f"{word}{end}", "", f"{'About ' * 60}{word}{end.strip('2')} <b>x</b>.")
    for word in WORDS
    for end in ("", "2", "s")
]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A run with two systems of which one finds plurals alone."""
    root = tmp_path_factory.mktemp("judged")
    write_collection(root / "data", DOCUMENTS)
    make_run(str(root / "data"), root / "two", load_settings(values={"run.systems": ["bm25", "bm25-plain"]}))
    return root / "two"


@pytest.fixture
def page(judged):
    for file in UserJudgements(judged).files:
        file.unlink(missing_ok=True)
    return InProcess([judged], may_judge=True)


def test_a_question_is_asked_and_judged(page, judged):
    assert page.get("/systems")["may_judge"]
    assert {"/judgements", "/judgements/question"} <= page.get("/openapi.json")["paths"].keys()
    empty = page.get("/judgements")
    assert set(empty) == set(JUDGED["properties"]) and (empty["n_queries"], empty["begun"]) == (0, [])
    found = page.post("/judgements/question", question="  sorts ")
    assert set(found) == set(QUESTION["properties"]) and found["question"] == "sorts"
    assert [one["doc_id"] for one in found["documents"]] == list(open_judging(judged).ask("sorts").doc_ids)
    first, second = found["documents"]
    assert "<b>x</b>" in first["text"] and len(first["snippet"]) <= 240 and first["relevant"] is None
    assert not json.dumps(found["documents"]).count("bm25")
    said = page.post("/judgements", question="sorts", doc_id=first["doc_id"], relevant=first["doc_id"] == "sort")
    assert (said["n_queries"], said["begun"]) == (0, ["sorts"])
    again = page.post("/judgements/question", question="sorts")["documents"]
    assert [one["relevant"] for one in again] == [first["doc_id"] == "sort", None]
    said = page.post("/judgements", question="sorts", doc_id=second["doc_id"], relevant=second["doc_id"] == "sort")
    assert (said["n_queries"], said["n_first_better"], said["begun"]) == (1, 1, [])
    assert page.get("/judgements") == said and open_judging(judged).state()["said"] == said["said"]


def test_it_decides(page, judged):
    for word in WORDS:
        for one in page.post("/judgements/question", question=f"{word}s", system="bm25-plain")["documents"]:
            said = page.post("/judgements", question=f"{word}s", doc_id=one["doc_id"], relevant=one["doc_id"] == word)
    assert said["decided"] == "bm25" == decided_by_user(judged) and said["is_enough"]
    other = page.get("/judgements", params={"system": "bm25", "baseline": "bm25-plain"})
    assert other["decided"] == "bm25" and other["difference"] == -said["difference"]


def test_a_question_is_left_out_and_same_results_are_noted(page):
    (first, _) = page.post("/judgements/question", question="sorts")["documents"]
    page.post("/judgements", question="sorts", doc_id=first["doc_id"], relevant=True)
    assert page.post("/judgements", question="sorts", skip=True)["begun"] == []
    same = page.post("/judgements/question", question="about x")
    assert (same["documents"], same["state"]["n_same"], same["state"]["n_queries"]) == ([], 1, 1)


def test_what_is_refused(page, judged, server, run):
    ask = {"question": "sorts"}
    assert "give doc_id and relevant" in page.refused(422, "POST", "/judgements", json=ask)
    assert "is not to be judged" in page.refused(
        422, "POST", "/judgements", json={**ask, "doc_id": "graph", "relevant": True}
    )
    assert "nothing is found" in page.refused(422, "POST", "/judgements/question", json={"question": "zzz"})
    assert "is empty" in page.refused(422, "POST", "/judgements/question", json={"question": " "})
    assert "not known" in page.refused(404, "GET", "/judgements", params={"system": "grafted"})
    assert "both bm25" in page.refused(422, "GET", "/judgements", params={"system": "bm25"})
    assert "characters" in page.refused(422, "POST", "/judgements/question", json={"question": "x" * 3000})
    assert not (judged / "judgements/queries.jsonl").exists()
    for method, path, named in (("GET", "/judgements", {}), ("POST", "/judgements/question", {"json": ask})):
        assert "lexigraft open RUN" in server.refused(403, method, path, **named)
    assert not server.get("/systems")["may_judge"] and "/judgements" not in server.get("/openapi.json")["paths"]
    alone = InProcess([run], may_judge=True)
    assert "no system 'grafted' to judge; present: bm25" in alone.refused(422, "GET", "/judgements")
    index = InProcess(
        [judged / "full/bm25/index" if (judged / "full").exists() else judged / "judged/bm25/index"], may_judge=True
    )
    assert "is no run" in index.refused(422, "GET", "/judgements")


def test_a_run_that_cannot_be_written_is_no_fault_of_the_client(page, judged):
    blocked = judged / "judgements/qrels"
    if blocked.is_dir():
        blocked.rmdir()
    blocked.write_text("a file where a folder should be")
    try:
        (first, _) = page.post("/judgements/question", question="sorts")["documents"]
        said = page.refused(
            503, "POST", "/judgements", json={"question": "sorts", "doc_id": first["doc_id"], "relevant": True}
        )
        assert "log" in said
    finally:
        blocked.unlink()
