"""The settings of the cost tables are settings, and one model by itself is asked for several costs."""

import json
import sys
from pathlib import Path

import pytest

from bench import frontier
from lexigraft.core.config import load_settings, settings_of_system
from lexigraft.study.design import WHOLE, at_cost
from lexigraft.study.finished import Point, write_ranks
from lexigraft.study.points import Measured

COST = Path(__file__).parents[3] / "bench" / "cost"
EVERY = COST / "every.toml"
COLLECTIONS = sorted(path for path in COST.glob("*.toml") if path != EVERY)


def test_every_collection_of_the_page_has_its_settings():
    page = (COST.parents[1] / "docs/results/cost.md").read_text()
    assert [path.stem for path in COLLECTIONS] == [
        "acl_title2abstract", "debian_desc2title", "tldr_pages", "wordnet_revdict",
    ]  # fmt: skip
    assert all(f"`{path.stem}`" in page for path in COLLECTIONS)


@pytest.mark.parametrize("path", COLLECTIONS, ids=lambda path: path.stem)
def test_settings_of_the_cost_tables_are_allowed(path):
    settings = load_settings(path, ["run.seed=2", "model.backbone=MINILM"], str(EVERY))
    assert settings.run.systems == ("bm25", "esplade", "weights")
    assert settings.model.queries == "model"
    looked_up = settings_of_system(settings, "weights")
    assert (looked_up.model.queries, looked_up.finetune.qk) == ("table", 0)
    assert looked_up.finetune.steps < settings.finetune.steps
    assert (looked_up.pretrain, looked_up.run.seed) == (settings.pretrain, 2)


def test_a_frontier_has_the_points_of_a_study(monkeypatch, tmp_path, capsys):
    bm25 = Point(0, 0, 0.2, 5, 40, 0.5, write_ranks([1, 2]))
    whole = Point(0, 0, 3.0, 50, 90, 0.75, write_ranks([1, 1]))
    half = Point(0.5, 30, 0.09, 6, 30, 0.625, write_ranks([2, 1]))
    measured = Measured("", bm25, {WHOLE: whole, at_cost(0.5): half})
    monkeypatch.setattr(frontier, "open_run", lambda folder: folder)
    monkeypatch.setattr(frontier, "measure_points", lambda run, study: measured)
    monkeypatch.setattr(sys, "argv", ["frontier", "RUN", "--out", str(tmp_path / "rows.json")])
    frontier.main()
    assert capsys.readouterr().out.splitlines() == [
        "bm25: (0,0) 0.7500 @ 0.200", "whole: (0,0) 1.0000 @ 3.000", "cost 0.5: (0.5,30) 0.7500 @ 0.090",
    ]  # fmt: skip
    assert json.loads((tmp_path / "rows.json").read_text())["cost 0.5"]["held out"] == 0.625
