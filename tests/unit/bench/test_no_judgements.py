"""The bench of texts alone: what is compared, by hand."""

import json

import pytest

from bench.no_judgements import compared
from lexigraft.stages.layout import RunFolder


def write(run, system, values, qk=0, dk=0):
    place = run.evaluation(system, qk, dk, "full")
    place.mkdir(parents=True)
    (place / "per_query.json").write_text(json.dumps({"nDCG@10": values}))


def test_a_query_is_worth_its_mean_over_the_seeds_where_each_system_is_searched(tmp_path):
    runs = [RunFolder(tmp_path / name) for name in ("one", "two")]
    for run, blend in zip(runs, ({"q": 0.5, "r": 0.25}, {"q": 1.0, "r": 0.75}), strict=True):
        write(run, "bm25", {"q": 0.5, "r": 0.25})
        write(run, "blend", blend, dk=7)
        run.operating_points.write_text(json.dumps({"bm25": {"qk": 0, "dk": 0}, "blend": {"qk": 0, "dk": 7}}))
    found = compared(runs, ["blend", "blend"])
    assert found["bm25"] == pytest.approx(0.375)
    assert found["mean"] == pytest.approx(0.625)  # .75 and .5
    assert found["p"] == 0  # both queries gain .25
    assert compared(runs, ["blend", "bm25"])["mean"] == pytest.approx(0.375)
