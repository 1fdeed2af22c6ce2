"""Several processes train what one trains: the same losses of the same global batches (F5)."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.e2e.test_model import backbone, collection, one_thread, options  # noqa: F401

pytestmark = pytest.mark.integration  # unit/train/test_distributed.py has a pair of processes among the quick tests
TOLERANCE = 2e-3  # of sums in another order, which fifteen steps of Adam enlarge
FULL = {"LEXIGRAFT_PRECISION": "full"}  # in half of the bits, batches that are cut otherwise differ by more
COUNTS = 2e-2  # a term whose weight is nearly 0 is counted or not


def few_steps(collection, backbone, run):  # noqa: F811
    changes = (
        "pretrain.steps=10", "finetune.steps=15", "finetune.validate_every=10", "pretrain.batch=15",
        "finetune.batch=15",
    )  # fmt: skip
    return [*options(collection, backbone, run), *(part for change in changes for part in ("--set", change))]


def history(run, part):
    return json.loads((run / "model" / part / "history.json").read_text())


@pytest.fixture(scope="module")
def runs(collection, backbone, tmp_path_factory):  # noqa: F811
    """The same run by one process and by two."""
    found = {}
    two = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    for name, launcher in (("one", []), ("two", two)):
        run = tmp_path_factory.mktemp(name) / "run"
        command = [sys.executable, *launcher, "-m", "lexigraft", *few_steps(collection, backbone, run)]
        answer = subprocess.run(command, capture_output=True, text=True, check=False, env=one_thread() | FULL)
        assert answer.returncode == 0, answer.stderr
        found[name] = run, answer
    return found


def test_the_losses_are_those_of_one_process(runs):
    for part in ("pretrained", "finetuned"):
        one, two = history(runs["one"][0], part), history(runs["two"][0], part)
        assert len(one) == len(two)
        assert [values.keys() for values in one] == [values.keys() for values in two]
        for name in one[0]:
            ours, theirs = ([values[name] for values in steps] for steps in (one, two))
            near = COUNTS if name.startswith("L0") else TOLERANCE
            np.testing.assert_allclose(theirs, ours, rtol=near, atol=TOLERANCE, err_msg=f"{part} {name}")
        assert one[0]["loss"] == pytest.approx(two[0]["loss"], rel=1e-5)


def test_only_the_leader_speaks_and_writes(runs):
    run, answer = runs["two"]
    report = json.loads(answer.stdout)  # one JSON, not two
    assert [row["system"] for row in report["rows"]] == ["bm25", "esplade", "esplade"]
    assert answer.stderr.count("finetune: time went to") == 1
    assert not list((run / "model").glob("*checkpoint*"))


@pytest.mark.parametrize("rank", [0, 1])
def test_what_is_not_training_is_the_leaders_alone(rank, collection, tmp_path, lexigraft, monkeypatch):  # noqa: F811
    """Two processes would write the same folder at the same time."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", str(rank))
    answer = lexigraft("data", "convert", collection, "--out", tmp_path / "out", "--merge-twins", "--json")
    assert (answer.status, (tmp_path / "out").exists(), bool(answer.stdout)) == (0, rank == 0, rank == 0)
