"""The main job on this machine's own documentation."""

import pytest

pytestmark = pytest.mark.integration


def test_quickstart(tmp_path, lexigraft):
    answer = lexigraft("quickstart", "--out", tmp_path / "run")
    assert answer.status == 0
    assert "bm25-plain" in answer.stdout
    assert "Try next" in answer.stderr
    assert "DOC_ID" not in answer.stderr
    report = lexigraft("report", "--run", tmp_path / "run", "--json").json
    assert report["collection"]["queries"] > 500
    strong, plain = report["rows"]
    assert strong["MRR@10"] > plain["MRR@10"] > 0.3
    hits = lexigraft("search", "--run", tmp_path / "run", "parse a JSON document from a string", "--json").json
    assert any("json" in hit["doc_id"].lower() for hit in hits)
