"""Two processes have the gradients of one: not only the direction, which is all that Adam shows, but the size."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from lexigraft.train.distributed import own_share
from tests.ports import free_port

SCRIPT = """
import atexit, json, sys
from pathlib import Path
import numpy as np
import torch
from lexigraft.core.processes import is_leader, n_processes, process_rank
from lexigraft.train.loop import Loop, Schedule
from lexigraft.train.distributed import add_gradients, connect, gather_rows, broadcast, own_share, total, barrier

def look_back():  # registered before the connection, so called after it is closed
    left = Path(sys.argv[1]).with_suffix(f".{n_processes()}.{process_rank()}")
    left.write_text(str(torch.distributed.is_initialized()))

atexit.register(look_back)
connect()
torch.manual_seed(0)
model = torch.nn.Linear(6, 4).double()
texts = torch.randn(7, 6, dtype=torch.float64)
rows = np.arange(7)
vectors = gather_rows(model(texts[own_share(rows)]), len(rows))
loss = torch.nn.functional.cross_entropy(vectors @ vectors.T, torch.arange(7)) + vectors.mean(0).square().sum()
loss.backward()
unused = torch.nn.Parameter(torch.ones(3))
leaders_alone = torch.nn.Parameter(torch.ones(3))
if is_leader():
    leaders_alone.sum().backward()
add_gradients([*model.parameters(), unused, leaders_alone])
barrier()
drawn = []

def dropped(step):
    drawn.append(torch.rand(1))
    return {"loss": model(texts).sum()}

gradient = [p.grad.flatten().tolist() for p in model.parameters()]
Loop("drawing", Schedule(1, 1, 0, 1e-3), Path(sys.argv[1]), 9, {}, seed=0).run(model, dropped)
found = {
    "drawn": gather_rows(torch.stack(drawn), n_processes()).flatten().tolist(),
    "unused": unused.grad, "alone": None if leaders_alone.grad is None else leaders_alone.grad.tolist(),
    "loss": float(loss), "gradient": gradient,
    "broadcast": broadcast(3.0 if is_leader() else 4.0), "total": float(total(torch.ones(()))),
}
if is_leader():
    print(json.dumps(found))
"""


def start(*call, **environment):
    """Without torch's launcher, which takes as long as the processes; e2e/test_processes.py has it."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, *map(str, call)]
    return subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1", **environment}, **pipes)


def answer(process):
    stdout, stderr = process.communicate()
    assert process.returncode == 0, stderr
    return stdout


@pytest.mark.integration
def test_gradients_of_two_processes_are_those_of_one(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    call = script, tmp_path / "checkpoint"
    one = json.loads(answer(start(*call)))
    place = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    leader, other = map(answer, [start(*call, RANK=str(rank), **place) for rank in range(2)])
    two = json.loads(leader)
    assert other == ""
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-12)
    for ours, theirs in zip(two["gradient"], one["gradient"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert (len(one["drawn"]), len(set(two["drawn"]))) == (1, 2)  # dropout of one's own
    for found in (one, two):  # a gradient of 0 would still let weight decay at what nothing asks for
        assert (found["unused"], found["alone"]) == (None, [1.0, 1.0, 1.0])
    assert (two["broadcast"], two["total"], one["total"]) == (3.0, 2.0, 1.0)
    # Every process left before its interpreter ended: threads of an open connection abort one in ten.
    assert {path.suffixes[-2:] == [".2", ".0"]: path.read_text() for path in tmp_path.glob("checkpoint.2.*")} == {
        True: "False", False: "False"}  # fmt: skip


@pytest.mark.parametrize(("n_rows", "n"), [(7, 2), (8, 2), (3, 4), (5, 3)])
def test_shares_are_equal_and_hold_every_row(n_rows, n, monkeypatch):
    rows, shares = np.arange(10, 10 + n_rows), []
    monkeypatch.setenv("WORLD_SIZE", str(n))
    for rank in range(n):
        monkeypatch.setenv("RANK", str(rank))
        shares.append(own_share(rows).tolist())
    assert len({len(share) for share in shares}) == 1
    assert [row for share in shares for row in share][:n_rows] == rows.tolist()
