"""What a report says of a grafted system."""

from pathlib import Path

import pytest

from lexigraft.core.config import load_settings
from lexigraft.core.systems import systems_of
from lexigraft.stages.layout import JUDGED
from lexigraft.stages.report import as_markdown
from lexigraft.stages.report_graft import graft_lines, of_graft
from tests.grafted_run import write_grafted_run

FACTS = {
    "borrowed": 0.2, "told": 0.3, "neighbours": 10, "cost": 1.5, "threshold": 0.12345, "postings": 3000,
    "bm25_postings": 2000, "why": "the usual shares, chosen without judgements",
}  # fmt: skip


def systems(**given):
    return systems_of(load_settings(values={"run.systems": ["bm25", "grafted"], **given}))


def test_in_words():
    (said,) = graft_lines({"grafted": FACTS})
    assert said == (
        "grafted: BM25's weights of a document's words, 0.2 times those that its 10 nearest others lend, and 0.3 times "
        "those that its vector tells (the usual shares, chosen without judgements). Kept is what weighs at least 0.123 "
        "(for a cost of 1.5 times BM25's): 3,000 postings, 1.50 times BM25's"
    )
    assert "(no cost was asked for)" in graft_lines({"grafted": {**FACTS, "cost": None}})[0]
    assert graft_lines({}) == []
    report = {"collection": {"name": "pets", "split": None}, "rows": [], "grafted": FACTS}
    assert said in as_markdown(report, Path("run")) and "pets is searchable" in as_markdown(report, Path("run"))


def test_facts_of_a_run(tmp_path):
    run = write_grafted_run(tmp_path / "run")
    found = of_graft(run, JUDGED, systems())["grafted"]
    assert (found["borrowed"], found["told"], found["neighbours"], found["cost"]) == (0.2, 0.3, 2, None)
    assert found["postings"] > found["bm25_postings"] > 0 and "without judgements" in found["why"]
    given = of_graft(run, JUDGED, systems(**{"grafted.told": 0.5}))["grafted"]
    assert given["why"] == "shares as they were set"
    assert of_graft(run, JUDGED, systems_of(load_settings(values={"run.systems": ["bm25"]}))) == {}
    with pytest.raises(OSError):
        of_graft(run, "full", systems())
