"""The main job on this machine's own documentation, as `make quickstart` does it."""

import os

import pytest
import torch

pytestmark = pytest.mark.integration


@pytest.fixture
def all_cores():
    """The longest of all tests takes every core, whatever the others are given: alone on one it would end last."""
    before = torch.get_num_threads()
    torch.set_num_threads(os.cpu_count() or 1)
    yield
    torch.set_num_threads(before)


def test_quickstart(tmp_path, lexigraft, all_cores):
    answer = lexigraft("quickstart", "--out", tmp_path / "run")
    assert answer.status == 0
    assert "Try next" in answer.stderr
    assert "DOC_ID" not in answer.stderr
    report = lexigraft("report", "--run", tmp_path / "run", "--json").json
    assert report["collection"]["queries"] > 500
    assert max(stage["peak_rss_mib"] for stage in report["stages"]) < 6 * 1024
    rows = {(row["system"], row["qk"], row["dk"]): row for row in report["rows"]}
    strong, whole, pruned = rows["bm25", 0, 0], rows["esplade", 0, 0], rows["esplade", 7, 20]
    assert whole["MRR@10"] > strong["MRR@10"]
    assert pruned["MRR@10"] > strong["MRR@10"] - 0.03
    assert pruned["FLOPS"] <= strong["FLOPS"] / 2
    hits = lexigraft("search", "--run", tmp_path / "run", "parse a JSON document from a string", "--json").json["hits"]
    assert any("json" in hit["doc_id"].lower() for hit in hits)
    terms = lexigraft("explain", "--run", tmp_path / "run", "--text", "parse a JSON document", "--json").json["terms"]
    assert {"json", "parse"} <= {item["term"] for item in terms if item["own"]}
