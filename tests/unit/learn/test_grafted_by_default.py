"""Whether a run of texts alone is grafted when nobody says so."""

import logging

import pytest

from lexigraft.core.config import load_settings
from lexigraft.core.types import Document
from lexigraft.data.sources import open_source
from lexigraft.data.write import write_collection
from lexigraft.learn import usual_systems
from lexigraft.learn.usual_systems import FEWEST_DOCUMENTS, with_systems

PLAIN = ("bm25", "bm25-plain")


@pytest.fixture
def texts(tmp_path):
    def write(n):
        write_collection(tmp_path / f"texts{n}", [Document(f"d{at}", "", f"word{at}") for at in range(n)])
        return open_source(str(tmp_path / f"texts{n}"))

    return write


def test_where_documents_have_neighbours_and_an_encoder_is_there(texts, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(usual_systems, "why_no_graft", lambda settings: "")
    settings = load_settings()
    assert with_systems(settings, texts(FEWEST_DOCUMENTS)).run.systems == (*PLAIN, "grafted")
    assert with_systems(settings, texts(FEWEST_DOCUMENTS - 1)).run.systems == PLAIN
    monkeypatch.setattr(usual_systems, "why_no_graft", lambda settings: "there is no sentence encoder")
    assert with_systems(settings, texts(FEWEST_DOCUMENTS)).run.systems == PLAIN
    assert "BM25 is not grafted: there is no sentence encoder" in caplog.text


def test_not_where_encoding_takes_hours(texts, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(usual_systems, "why_no_graft", lambda settings: "")
    monkeypatch.setattr(usual_systems, "MOST_DOCUMENTS", 59)
    monkeypatch.setattr(usual_systems, "may_have_gpu", lambda: False)
    assert with_systems(load_settings(), texts(60)).run.systems == PLAIN
    assert "an encoder takes hours for 60 documents; name grafted in run.systems" in caplog.text
    given = load_settings(values={"grafted.vectors": "vectors.npy"})
    assert with_systems(given, texts(60)).run.systems == (*PLAIN, "grafted")
    monkeypatch.setattr(usual_systems, "may_have_gpu", lambda: True)
    assert with_systems(load_settings(), texts(60)).run.systems == (*PLAIN, "grafted")
