"""What the user judged, as files: kept at once, ordinary, and read with care."""

import json
from threading import Thread

import pytest

from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.data.readers.judgements import read_judgements
from lexigraft.data.readers.topics import read_queries
from lexigraft.stages import user_judgements
from lexigraft.stages.user_judgements import UserJudgements, decided_by_user
from tests.killed import Killed, dies_at_call


def test_answers_are_ordinary_queries_and_judgements(tmp_path):
    kept = UserJudgements(tmp_path)
    assert kept.read() == {}
    kept.answer("how to sort", "d 1\tx%20", True)
    kept.answer("how to sort", "d2", True)
    kept.note("same for both")
    kept.answer('dates, "quoted" — 날짜', "d3", False)
    kept.answer("how to sort", "d2", False)  # once more
    queries = [query for _, query in read_queries(tmp_path / "judgements/queries.jsonl")]
    assert queries == [("q1", "how to sort"), ("q2", "same for both"), ("q3", 'dates, "quoted" — 날짜')]
    qrels = list(read_judgements(tmp_path / "judgements/qrels/test.tsv"))
    assert qrels == [("q1", "d%201%09x%2520", 1), ("q1", "d2", 0), ("q3", "d3", 0)]
    again = UserJudgements(tmp_path).read()
    assert again["how to sort"] == {"d 1\tx%20": True, "d2": False} and list(again) == [query.text for query in queries]
    kept.note("how to sort")  # asked again: nothing is lost
    assert kept.read() == again
    kept.note("how to sort", without_answers=True)
    assert kept.read()["how to sort"] == {} and list(kept.read()) == list(again)


def test_a_kill_between_two_files_loses_one_answer_at_most(tmp_path, monkeypatch):
    kept = UserJudgements(tmp_path)
    kept.answer("one", "d1", True)
    for call in (1, 2):  # before either file is written
        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(user_judgements, "replace_for_good", dies_at_call(user_judgements.replace_for_good, call))
            kept.answer("two", "d2", True)
        assert kept.read() == {"one": {"d1": True}}
    kept.answer("three", "d3", True)  # which takes the id that was not noted
    assert kept.read() == {"one": {"d1": True}, "three": {"d3": True}}


def test_two_at_one_time_lose_nothing(tmp_path):
    kept = UserJudgements(tmp_path)
    threads = [Thread(target=kept.answer, args=("one", f"d{number}", number % 2 == 0)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept.read() == {"one": {f"d{number}": number % 2 == 0 for number in range(12)}}


def test_what_was_decided(tmp_path):
    assert decided_by_user(tmp_path) is None
    kept = UserJudgements(tmp_path)
    kept.decide({"systems": ["bm25", "other"], "decided": None})
    assert decided_by_user(tmp_path) is None
    kept.decide({"systems": ["bm25", "other"], "decided": "other"})
    assert decided_by_user(tmp_path) == "other"
    file = tmp_path / "judgements/decision.json"
    file.write_text(file.read_text().replace('"decided": "other"', '"decided": "bm25"'))
    with pytest.raises(ArtifactError, match=r"decision.json does not match its checksum.*lexigraft judge"):
        decided_by_user(tmp_path)
    file.write_text(json.dumps({"decided": 3}))
    with pytest.raises(ArtifactError, match="decided = 3, which must be a name or null"):
        decided_by_user(tmp_path)


def test_files_that_were_edited_wrongly_are_named(tmp_path):
    kept = UserJudgements(tmp_path)
    kept.answer("one", "d1", True)
    (tmp_path / "judgements/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\tmaybe\n")
    with pytest.raises(InputError, match=r"test.tsv:2"):
        kept.read()
