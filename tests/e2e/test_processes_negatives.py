"""Several processes with hard negatives, a teacher, DF-FLOPS and probes of alpha: what one process trains."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from lexigraft.model.encoder import open_encoder
from tests.e2e.test_resuming import data, options  # noqa: F401

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("one_thread", "full_precision")]  # as test_processes.py

LAUNCHER = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
CHANGES = (
    "pretrain.batch=2", "pretrain.dropout=0", "finetune.dropout=0", "finetune.batch=7", "finetune.validate_every=3",
    "finetune.steps=3", "pretrain.steps=3", "model.own_words=1",
)  # fmt: skip


@pytest.fixture
def full_precision(monkeypatch):
    """Batches that are cut otherwise are rounded otherwise, by more than these tests allow where products have half the
    bits."""
    monkeypatch.setenv("LEXIGRAFT_PRECISION", "full")


def start(n, call):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [*LAUNCHER, str(n), "-m", "lexigraft", *map(str, call)], text=True, env=environment, **pipes
    )


def workers_of(process):
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def history(run, part):
    return json.loads((run / "model" / part / "history.json").read_text())


@pytest.mark.parametrize(
    ("head", "alpha", "n"),
    [("grafted", "2", 2), ("plain", "auto", 3)],  # 3: more than texts
)
def test_several_processes_train_what_one_trains(head, alpha, n, data, tmp_path, lexigraft):  # noqa: F811
    changes = (*CHANGES, f"model.head={head}", f"model.alpha={alpha}", "model.inflate=10")
    alone = lexigraft("finetune", *options(data, tmp_path / "one", *changes))
    assert alone.status == 0, alone.stderr
    process = start(n, ["finetune", *options(data, tmp_path / "many", *changes)])
    stdout, stderr = process.communicate()
    assert process.returncode == 0, stderr
    json.loads(stdout)  # one answer, the leader's
    for part in ("pretrained", "finetuned"):
        one, others = (history(tmp_path / run, part) for run in ("one", "many"))
        assert [values.keys() for values in one] == [values.keys() for values in others]
        for name in one[0]:
            ours, theirs = ([values[name] for values in steps] for steps in (one, others))
            near = 2e-2 if name.startswith("L0") else 2e-3
            np.testing.assert_allclose(theirs, ours, rtol=near, atol=2e-3, err_msg=f"{part} {name}")
        weights = [dict(open_encoder(tmp_path / run / "model" / part).named_parameters()) for run in ("one", "many")]
        for name, value in weights[0].items():
            torch.testing.assert_close(weights[1][name], value, rtol=0.02, atol=0.002, msg=f"{part} {name}")
        if part == "pretrained":  # no mask asks for own words: nothing moves them, not even weight decay
            assert torch.equal(weights[0]["head.own"], weights[1]["head.own"])
    if alpha == "auto":
        choices = [json.loads((tmp_path / run / "model/finetuned/alpha.json").read_text()) for run in ("one", "many")]
        assert choices[0]["probes"] and choices[0]["alpha"] == choices[1]["alpha"]
    parts = {"vocabulary", "pretrained", "finetuned", "finetuned.inference"}
    assert {path.name for path in (tmp_path / "many/model").iterdir()} == parts


def test_all_processes_killed_they_continue(data, tmp_path):  # noqa: F811
    """With dropout, which each process has of its own."""
    changes = (*CHANGES, "finetune.dropout=0.1", "finetune.steps=8", "finetune.checkpoint_every=2")

    def call(run):
        return ["finetune", *options(data, tmp_path / run, *changes)]

    whole = start(2, call("whole"))
    assert whole.communicate()[0] and whole.returncode == 0
    killed = start(2, call("killed"))
    while killed.poll() is None and not (tmp_path / "killed/model/finetune-checkpoint/manifest.json").is_file():
        time.sleep(0.002)
    assert killed.poll() is None
    for process in (killed.pid, *workers_of(killed.pid)):
        os.kill(process, signal.SIGKILL)
    killed.communicate()
    again = start(2, call("killed"))
    stderr = again.communicate()[1]
    assert again.returncode == 0, stderr
    assert "finetune: continuing after step" in stderr
    assert history(tmp_path / "killed", "finetuned") == history(tmp_path / "whole", "finetuned")
