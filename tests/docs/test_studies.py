"""The published verdicts are what the published trainings say: every page and number is written anew and compared."""

import json
import shutil
from pathlib import Path

import pytest

from lexigraft.study.all_claims import write_claims
from lexigraft.study.finished import read_finished
from lexigraft.study.papers import STUDIES

PUBLISHED = Path(__file__).parents[2] / "docs" / "results" / "studies"
WRITTEN = ("verdicts.md", "tables.md", "tables.csv", "results.json")


@pytest.fixture(scope="module")
def anew(tmp_path_factory):
    root = tmp_path_factory.mktemp("studies")
    for name in STUDIES:
        shutil.copytree(PUBLISHED / name / "arms", root / name / "arms")
    write_claims(root)
    return root


@pytest.mark.parametrize(
    "name", ["claims.md", "claims.json", *(f"{study}/{file}" for study in STUDIES for file in WRITTEN)]
)
def test_pages_equal_their_trainings(name, anew):
    assert (PUBLISHED / name).read_text("utf-8") == (anew / name).read_text("utf-8"), (
        "run: lexigraft study claims --out docs/results/studies"
    )


@pytest.mark.parametrize("study", STUDIES)
def test_every_training_says_what_it_was_made_by(study):
    found = [read_finished(path) for path in sorted((PUBLISHED / study / "arms").glob("*.json"))]
    assert found
    for one in found:
        assert one.scale == "gpu"
        assert one.made_by["command"].startswith(
            f"lexigraft study {study} --arms {one.training.arm} --seeds {one.training.seed} "
        )
        assert len(one.made_by["commit"]) == 40
        assert "H200" in one.made_by["device"]
        assert f"run.seed={one.training.seed}" in one.made_by["settings"]


def test_the_count_of_decided_claims_is_that_of_the_verdicts():
    told = json.loads((PUBLISHED / "claims.json").read_text("utf-8"))
    assert told["all"] == 25
    assert told["decided"] == sum(one["verdict"] != "not decided here" for one in told["claims"].values())
