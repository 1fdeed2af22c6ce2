"""When pairs are made, and what is then trained on, searched and measured."""

import logging

import pytest

from lexigraft.core.config import load_settings
from lexigraft.core.errors import SettingError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.stages import made
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.layout import FULL, JUDGED, RunFolder


@pytest.fixture
def texts(tmp_path):
    documents = [
        Document(f"d{n}", f"Title t{n}", f"{' '.join(f'w{n}x{at}' for at in range(12))}. Some more of it stands here.")
        for n in range(200)
    ]
    queries = [Query(f"q{n}", f"asks for w{n}x3") for n in range(6)]
    qrels = {"train": [Qrel(f"q{n}", f"d{n}", 1) for n in range(4)], "dev": [Qrel("q5", "d5", 1)]}
    write_collection(tmp_path / "texts", documents, queries, qrels)
    return tmp_path / "texts"


def views(texts, tmp_path, pairs):
    settings = load_settings(values={"data.pairs": pairs})
    return made.with_pairs(str(texts), settings, Ensurer(RunFolder(tmp_path / "run"), None))


def test_given_pairs_are_all_there_is_where_none_are_made(texts, tmp_path):
    settings, found = views(texts, tmp_path, "given")
    assert list(found) == [JUDGED] and found[JUDGED].name == "texts"
    assert made.judged_split(settings, found[JUDGED]) == "dev"
    on = made.measured_on(settings, found, "dev")
    assert on is not None and on.view == JUDGED
    assert made.for_report(RunFolder(tmp_path), settings, on) == {}


def test_made_pairs_are_the_judged_view_and_the_users_texts_the_searched_one(texts, tmp_path):
    settings, found = views(texts, tmp_path, "auto")
    assert list(found) == [FULL, JUDGED] and found[FULL].name == "texts"
    split = made.judged_split(settings, found[JUDGED])
    assert split == "test"  # of made queries: dev chooses
    on = made.measured_on(settings, found, split)
    assert on == (found[FULL], "dev", FULL)  # the user's own judgements
    report = made.for_report(RunFolder(tmp_path / "run"), settings, on)["pairs"]
    assert report["measured"] is False and report["given"] == 4
    with_given = {qrel.query_id for qrel in found[JUDGED].qrels("train")}
    alone = {qrel.query_id for qrel in views(texts, tmp_path, "made")[1][JUDGED].qrels("train")}
    assert {"q0", "q1", "q2", "q3"} <= with_given and not alone & {"q0", "q1", "q2", "q3"}


def test_enough_given_pairs_need_no_made_ones(texts, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(made, "MANY_GIVEN", 4)
    with caplog.at_level(logging.INFO):
        settings, found = views(texts, tmp_path, "auto")
    assert settings.data.pairs == "given" and list(found) == [JUDGED]
    assert "4 training pairs are given, and no others are made" in caplog.text
    assert not (tmp_path / "run/pairs").exists()


def test_pydocs_has_pairs_of_its_own():
    with pytest.raises(SettingError, match="pydocs has pairs of its own"):
        made.require_no_pairs_of_its_own("pydocs", load_settings(values={"data.pairs": "made"}))
