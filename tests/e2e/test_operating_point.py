"""What a run is searched with: chosen on validation queries within a cost, kept, and said in one line."""

import json
import shutil
from dataclasses import replace

import pytest

from lexigraft.comparison.operating_points import operating_point
from lexigraft.comparison.prunings import PruningsOnValidation
from lexigraft.comparison.validation import validation_queries
from lexigraft.core.config import load_settings
from lexigraft.core.errors import SettingError
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.systems import System
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.finished_run import open_run
from lexigraft.stages.operating_point import as_json, read_operating_point
from lexigraft.stages.report import operating_point_lines, table_cells
from lexigraft.stages.report_picture import kept_terms
from lexigraft.whole_run import run as run_pipeline
from tests.e2e.test_evaluate import made_collection

PRUNINGS = ((0, 0), (2, 3), (1, 2))
SYSTEM = "bm25-plain"  # stands for any system that has prunings to choose from


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    data, folder = made_collection(tmp_path_factory.mktemp("data") / "woods"), tmp_path_factory.mktemp("runs") / "woods"
    run_pipeline(str(data), folder, load_settings(None, ["evaluate.timing_runs=1"]))
    return folder


@pytest.fixture
def opened(made, tmp_path):
    return open_run(shutil.copytree(made, tmp_path / "run"))


def chosen(run, budget="bm25", by="count"):
    """The operating point of SYSTEM, taken for a model."""
    settings = replace(run.settings, prune=replace(run.settings.prune, budgets=PRUNINGS, budget=budget, by=by))
    measured = PruningsOnValidation(run, Ensurer(run.folder, None), {})
    return operating_point(run, measured, System(SYSTEM, settings, "model"))


def test_the_best_within_the_cost(opened):
    point = chosen(opened, 0.5)
    kept = json.loads((opened.folder.choice(SYSTEM) / "prunings.json").read_text())["prunings"]
    assert kept and all(one["flops"] <= 0.5 for one in kept)
    best = min(kept, key=lambda one: (-one["mrr"], one["flops"]))
    assert (point.qk, point.dk, point.reached, point.mrr) == (best["qk"], best["dk"], best["flops"], best["mrr"])
    measured = PruningsOnValidation(opened, Ensurer(opened.folder, None), {})
    queries = validation_queries(opened, measured=False)
    row = measured.row(queries, SYSTEM, (point.qk, point.dk))  # indexed, and searched
    assert (row["FLOPS"], row["MRR@10"]) == (pytest.approx(point.reached), pytest.approx(point.mrr))
    assert point.why.startswith(
        f"({point.qk}, {point.dk}): best of {len(kept)} prunings at no more than 0.5 FLOPS, on 8 dev queries"
    )


def test_documents_may_be_cut_by_mass(opened):
    by_count, point = chosen(opened, 0.5), chosen(opened, 0.5, "mass")
    kept = json.loads((opened.folder.choice(SYSTEM) / "prunings.json").read_text())["prunings"]
    assert any(str(one["dk"]).startswith("m") for one in kept)
    assert not any(isinstance(one["dk"], int) and one["dk"] for one in kept)
    measured = PruningsOnValidation(opened, Ensurer(opened.folder, None), {})
    for one in kept[:3]:  # indexed, and searched
        row = measured.row(validation_queries(opened, measured=False), SYSTEM, (one["qk"], one["dk"]))
        assert (row["FLOPS"], row["MRR@10"]) == (pytest.approx(one["flops"]), pytest.approx(one["mrr"]))
    both = chosen(opened, 0.5, "both")
    assert both.mrr >= max(by_count.mrr, point.mrr)
    assert chosen(opened, 0.5) == by_count


def test_the_best_of_the_grid_where_a_search_has_a_second_step(opened):
    search = replace(opened.settings.search, two_step=1000)
    point = chosen(replace(opened, settings=replace(opened.settings, search=search)), 0.5)
    assert (point.qk, point.dk) in PRUNINGS and point.reached <= 0.5


def test_the_terms_that_are_asked_for(opened):
    point = chosen(opened, "terms")
    assert (point.qk, point.dk, point.reached) == (*PRUNINGS[0], None)


def test_no_more_than_bm25_and_kept_for_the_next_call(opened, caplog):
    first = chosen(opened)
    limit = json.loads((opened.folder.validation("bm25", 0, 0) / "row.json").read_text())["FLOPS"]
    assert f"at no more than 0.5 of BM25's {limit:.3f} FLOPS, on 8 dev queries, which are too few" in first.why
    assert (first.share, first.asked) == (0.5, pytest.approx(limit / 2)) and first.reached <= first.asked
    caplog.clear()
    with caplog.at_level("INFO"):
        assert chosen(opened) == first
    said = [record.getMessage() for record in caplog.records]
    assert [line for line in said if "validate" in line and not line.endswith("done before")] == []
    assert "choose (qk, dk) of bm25-plain: done before" in said


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (1e-6, "whole vectors: no pruning costs at most 1e-06 FLOPS on 8 dev queries; the cheapest costs 0."),
        ("none", "whole vectors: prune.budget is none"),
    ],
)
def test_whole_vectors_and_why(opened, value, why):
    point = chosen(opened, value)
    assert (point.qk, point.dk) == (0, 0)
    assert point.why.startswith(why)


def test_whole_vectors_without_bm25_or_validation_queries(opened, tmp_path):
    without = replace(opened.settings, run=replace(opened.settings.run, systems=(SYSTEM,)))
    alone = chosen(replace(opened, settings=without))
    assert alone[:3] == (0, 0, "whole vectors: the run has no bm25 to say what a search may cost")
    data, folder = made_collection(tmp_path / "one", ("test",)), tmp_path / "one-run"
    run_pipeline(str(data), folder, load_settings(None, ["evaluate.timing_runs=1"]))
    point = chosen(open_run(folder))
    assert point[:3] == (
        0,
        0,
        "whole vectors: one has no judged queries to choose a setting by: test is what is measured",
    )


def test_a_run_says_it_everywhere(made):
    stored = read_sealed(made / "operating_points.json")
    report = read_sealed(made / "report.json")
    run = open_run(made)
    assert (
        report["operating_points"]
        == stored
        == as_json({name: read_operating_point(run.folder, name) for name in stored})
    )
    nothing = dict.fromkeys(("share", "asked", "reached", "mrr"))
    whole = {"qk": 0, "dk": 0, "why": "whole vectors: BM25 is not pruned", **nothing}
    assert stored == {"bm25": whole, "bm25-plain": whole}


def test_the_chosen_row_is_marked():
    row = dict.fromkeys(("L0_q", "L0_d", "FLOPS", "MRR@10", "R@10", "nDCG@10", "ms_encode", "ms_search"), 0.5)
    rows = [{"system": name, "qk": qk, "dk": qk, **row} for name, qk in (("bm25", 0), ("m", 0), ("m", 5))]
    points = {"bm25": {"qk": 0, "dk": 0, "why": "x"}, "m": {"qk": 5, "dk": 5, "why": "(5, 5): the best"}}
    assert [cells[0] for cells in table_cells({"rows": rows, "operating_points": points})] == ["bm25", "m", "m *"]
    lines = operating_point_lines({"rows": rows, "operating_points": points})
    assert lines == ["* m is searched with (5, 5): the best"]
    former = table_cells({"rows": rows})
    assert [cells[0] for cells in former] == ["bm25", "m", "m"]
    assert kept_terms({"qk": 0, "dk": 0, "kept": [96, 160]}) == (96, 160)
    assert [cells[1:3] for cells in table_cells({"rows": [rows[0] | {"kept": [96, 160]}]})] == [["96", "160"]]
    assert [cells[-2:] for cells in former] == [["–", "–"]] * 3  # text to ids was not measured as a whole


@pytest.mark.parametrize("value", ["0", "-1", "inf", "cheap", "true", "nan"])
def test_what_is_no_budget(value):
    with pytest.raises(SettingError, match=r"prune\.budget.*bm25 or terms or none"):
        load_settings(None, [f"prune.budget={value}"])
