"""Every study from its arms to its verdicts at the scale of seconds, and one that is killed and goes on."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.study.papers import STUDIES

pytestmark = pytest.mark.integration

STEMS = [first + vowel + last for first in "kmtvzfgb" for vowel in "aeiou" for last in "rls"]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A collection whose queries and documents share stems by Zipf's law, and general texts."""
    rng, root = np.random.default_rng(0), tmp_path_factory.mktemp("data")
    shares = 1 / np.arange(1, len(STEMS) + 1)
    documents, queries, qrels = [], [], {"train": [], "test": []}
    for number in range(200):
        chosen = rng.choice(len(STEMS), 4, replace=False, p=shares / shares.sum())
        words = [STEMS[at] + rng.choice(["a", "e", "ion"]) for at in chosen for _ in range(2)]
        documents.append(Document(f"d{number}", "", " ".join(words)))
        asked = " ".join(STEMS[at] + rng.choice(["a", "ing"]) for at in chosen[:3])
        queries.append(Query(f"q{number}", asked))
        qrels["train" if number % 5 else "test"].append(Qrel(f"q{number}", f"d{number}", 1))
    write_collection(root / "stems", documents, queries, qrels)
    (root / "general.txt").write_text("\n".join(document.text for document in documents[::-1]) + "\n")
    return root


def command(places, name, out, *options):
    return [
        sys.executable, "-m", "lexigraft", "study", name, "--data", str(places / "stems"), "--out", str(out), "--scale",
        "tiny", "--general", str(places / "general.txt"), *options,
    ]  # fmt: skip


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_runs_from_its_arms_to_its_verdicts(name, places, tmp_path):
    out, study = tmp_path / name, STUDIES[name]
    done = subprocess.run(
        command(places, name, out, "--seeds", "0", "--jobs", "2", "--json"), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    claims = json.loads(done.stdout)["claims"]
    assert {one["verdict"] for one in claims.values()} == {
        "not decided here"
    }  # one seed, and a scale that never decides
    results = json.loads((out / "results.json").read_text())
    assert {row["model"] for row in results["rows"]} == {"bm25", *study.deciding}
    assert {row["point"] for row in results["rows"]} <= set(study.points)
    assert {shown for one in results["weights"] for shown in one["values"]} == set(study.shown)
    for one in results["trainings"]:
        assert one["settings"]
        assert one["command"].startswith(f"lexigraft study {name} --arms {one['arm']} --seeds 0 ")
        assert {"commit", "device", "versions", "seconds"} <= one.keys()
    verdicts = (out / "verdicts.md").read_text()
    assert all(f"| {claim.id} | {claim.text}" in verdicts for claim in study.claims)
    assert (out / "curves.png").stat().st_size > 1000
    assert not list((out / "work").iterdir())  # a finished training is one small file


def test_a_study_that_is_killed_goes_on_to_the_same_tables(places, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    asked = ("--arms", "esplade,rand", "--seeds", "0", "--jobs", "1")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command(places, "vocabulary", whole, *asked), check=True, capture_output=True, env=environment)
    begun = subprocess.Popen(
        command(places, "vocabulary", killed, *asked), env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for _ in range(1200):
        if len(list(killed.glob("arms/*.json"))) >= 1:
            break
        time.sleep(0.1)
    os.killpg(begun.pid, signal.SIGKILL)
    begun.wait()
    left = {path.name: path.stat().st_mtime_ns for path in killed.glob("arms/*.json")}
    assert 1 <= len(left) < 4
    subprocess.run(command(places, "vocabulary", killed, *asked), check=True, capture_output=True, env=environment)
    assert all((killed / "arms" / name).stat().st_mtime_ns == when for name, when in left.items())  # not trained again
    for file in ("tables.md", "tables.csv", "verdicts.md", "curves.svg"):
        assert (killed / file).read_bytes() == (whole / file).read_bytes()


def test_a_process_that_is_asked_to_stop_keeps_its_step(places, tmp_path):
    worker = [
        sys.executable, "-m", "lexigraft.study.work", "vocabulary", "--do", "esplade:0", "--scale", "tiny", "--data",
        str(places / "stems"), "--out", str(tmp_path), "--set", "finetune.steps=4000", "--set",
        "finetune.checkpoint_every=4000",
    ]  # fmt: skip
    with (tmp_path / "log").open("w") as log:
        begun = subprocess.Popen(worker, stderr=log, env={**os.environ, "OMP_NUM_THREADS": "1"})
    for _ in range(1200):
        if "finetune " in (tmp_path / "log").read_text():
            break
        time.sleep(0.1)
    begun.terminate()
    assert begun.wait(60) == 1
    assert "goes on from there" in (tmp_path / "log").read_text()
    assert list((tmp_path / "work").glob("*/**/state.pt"))
    assert not list(tmp_path.glob("arms/*.json"))


def test_points_are_what_a_run_measures(places, tmp_path):
    """Whole vectors and cut ones rank as an index of 24 bits does, and cost the same."""
    from lexigraft.core.config import load_settings
    from lexigraft.stages.finished_run import open_run
    from lexigraft.study.design import COSTS, WHOLE, at_cost, cut_to
    from lexigraft.study.points import measure_points
    from lexigraft.whole_run import run

    settings = [
        'run.systems=["bm25","esplade"]', "model.backbone=scratch", "model.layers=1", "backbone.width=32",
        "backbone.heads=2", "backbone.pieces=300", "pretrain.steps=2", "finetune.steps=10", "finetune.batch=16",
        "finetune.validate_every=5", "finetune.validation_queries=20", "index.bits=24", "prune.budget=none",
        "prune.budgets=[[0,0],[7,20],[5,10]]", "evaluate.measures=[]",
    ]  # fmt: skip
    report = run(str(places / "stems"), tmp_path / "run", load_settings(None, settings))
    found = measure_points(open_run(tmp_path / "run"), STUDIES["vocabulary"])
    rows = {(row["system"], row["qk"], row["dk"]): row for row in report["rows"]}
    expected = {
        WHOLE: rows["esplade", 0, 0], cut_to(7, 20): rows["esplade", 7, 20], cut_to(5, 10): rows["esplade", 5, 10],
    }  # fmt: skip
    for name, row in expected.items():
        assert found.points[name].mrr == pytest.approx(row["MRR@10"], abs=0.01), name
        assert found.points[name].flops == pytest.approx(row["FLOPS"]), name
        assert found.points[name].terms_q == pytest.approx(row["L0_q"]), name
        assert found.points[name].terms_d == pytest.approx(row["L0_d"]), name
    assert found.bm25.mrr == pytest.approx(rows["bm25", 0, 0]["MRR@10"], abs=0.02)
    costs = [found.points[at_cost(share)].held_out for share in COSTS if at_cost(share) in found.points]
    assert costs == sorted(costs)  # what more may cost is never worth less where it was chosen
