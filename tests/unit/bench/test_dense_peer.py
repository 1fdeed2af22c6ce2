"""The bench of the dense peer trains and measures both sides."""

import json
import sys

import pytest

from bench import dense_peer
from tests.topics import topics_of, write_tiny_bert, write_topics


@pytest.mark.integration
def test_both_sides_learn_alike(tmp_path, monkeypatch, capsys):
    topics = topics_of("kur", "pel", "tam", "vis", "lod", "gan", "hir", "sub", "zor", "fen", "mip", "dax")
    (tmp_path / "bert").mkdir()
    write_tiny_bert(tmp_path / "bert", [word for topic in topics for word in topic])
    write_topics(tmp_path / "data", topics, 96, 12)
    options = {"data": tmp_path / "data", "backbone": tmp_path / "bert", "steps": 30, "batch": 12, "rate": 2e-3,
               "split": "test", "out": tmp_path / "found.json"}  # fmt: skip
    given = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    monkeypatch.setattr(sys, "argv", ["dense_peer", *given])
    dense_peer.main()
    found = json.loads((tmp_path / "found.json").read_text())
    assert found == json.loads(capsys.readouterr().out)
    assert found["pairs"] == 96 and found["difference"]["MRR@10"] == found["ours"]["MRR@10"] - found["theirs"]["MRR@10"]
    assert abs(found["difference"]["R@10"]) < 0.2 and found["ours_symmetric"]["R@10"] > 0.5
