"""The graft by the packaged encoder on a real collection: better than BM25 at its cost, and every vector made once."""

import os
from pathlib import Path

import pytest

from lexigraft.core.installing import has_embedded
from lexigraft.learn.model_training import missing_packages

DATA = os.environ.get("LEXIGRAFT_DATA")
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not DATA, reason="no data"),
    pytest.mark.skipif(bool(missing_packages()) or not has_embedded(), reason="no encoder"),
]


def test_cranfield_is_better_than_bm25_at_its_cost(lexigraft, tmp_path):
    call = ("run", "--data", Path(str(DATA)) / "cranfield", "--out", tmp_path / "run", "--set", "grafted.length=64")
    made = lexigraft(*call, "--json")
    rows = {row["system"]: row for row in made.json["rows"]}
    assert rows["grafted"]["nDCG@10"] > rows["bm25"]["nDCG@10"] + 0.015
    assert rows["grafted"]["R@100"] > rows["bm25"]["R@100"] + 0.015
    assert rows["grafted"]["FLOPS"] < 1.05 * rows["bm25"]["FLOPS"]
    assert made.json["recommended"]["system"] == "grafted"
    assert not list((tmp_path / "run").rglob("*unfinished*"))
    again = lexigraft(*call)
    assert "encode documents (judged): done before" in again.stderr and "graft (judged): done before" in again.stderr


def test_nothing_to_cache_in(monkeypatch, tmp_path):
    from lexigraft.learn.sentence_encoder import sentence_encoder

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with sentence_encoder("auto") as (path, made):
        assert path.is_dir() and made.fingerprint
    assert not path.exists()
