"""One model trained by two machines: the same bytes as by two processes of one, whatever happens on the way."""

import json
import shutil
import subprocess
import sys
import time

import pytest

from lexigraft.core.config import load_settings
from lexigraft.whole_run import train_until
from tests.e2e.test_model import TOPICS, one_thread, write_small_bert
from tests.topics import write_topics
from tests.two_nodes import two_nodes

pytestmark = pytest.mark.integration
STEPS, BETWEEN = 80, 5
SILENCE = "10"  # seconds until a machine without a cable is given up
GONE = "another process of this training is gone"
SILENT = "has not been heard of for 10 seconds"
REMEDY = "start the same command on every machine again: it goes on from the last checkpoint"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """(options of finetune, a run with everything but the fine-tuning)."""
    root = tmp_path_factory.mktemp("two-nodes")
    write_small_bert(root / "bert")
    write_topics(root / "topics", TOPICS, n_train=140, n_test=20)
    settings = [
        f"model.backbone={root / 'bert'}", "model.layers=0", "model.alpha=1", "vocab.min_count=1", "vocab.stemmer=none",
        "pretrain.steps=2", "pretrain.batch=16", f"finetune.steps={STEPS}", "finetune.batch=16",
        f"finetune.checkpoint_every={BETWEEN}", "finetune.validate_every=20", "finetune.learning_rate=0.003",
        "finetune.joint_flops=0.01", "finetune.dropout=0.1", "finetune.aim=0",
    ]  # fmt: skip
    train_until(str(root / "topics"), root / "run", load_settings(None, settings), "pretrain")
    given = ["finetune", "--data", str(root / "topics"), *(part for one in settings for part in ("--set", one))]
    return given, root / "run"


@pytest.fixture
def nodes():
    with two_nodes() as made:
        yield made


def torchrun(*launcher):
    return [sys.executable, "-m", "torch.distributed.run", *launcher, "-m", "lexigraft"]


def trained(run):
    return {name: (run / "model/finetuned" / name).read_bytes() for name in ("model.safetensors", "history.json")}


class Training:
    """The same command on both machines, port by port: a former store may still hold its own."""

    def __init__(self, nodes, given, run):
        self.nodes, self.command, self.run, self.port = nodes, [*given, "--out", str(run)], run, 29_500
        self.logs = [run.with_name(f"node{rank}.log") for rank in range(2)]

    def start(self):
        self.port += 1
        where = ["--nnodes", "2", "--nproc-per-node", "1"]
        where += ["--master-addr", self.nodes[0].address, "--master-port", str(self.port)]
        environment = {**one_thread(), "LEXIGRAFT_SILENCE": SILENCE}
        self.started = [
            node.start([*torchrun(*where, "--node-rank", str(rank)), *self.command], self.logs[rank], **environment)
            for rank, node in enumerate(self.nodes)
        ]

    def until_next_checkpoint(self):
        """Return when more steps are kept than before this call."""
        before, until = self.steps_kept(), time.monotonic() + 300
        while self.steps_kept() <= before:
            assert all(process.poll() is None for process in self.started), self.said(0) + self.said(1)
            assert time.monotonic() < until, self.said(0) + self.said(1)
            time.sleep(0.02)

    def steps_kept(self):
        try:
            return len(json.loads((self.run / "model/finetune-checkpoint/history.json").read_text())["history"])
        except OSError:
            return 0

    def ended(self, rank, seconds=300):
        """The exit status of a machine's command, which must not wait for ever."""
        return self.started[rank].wait(seconds)

    def said(self, rank):
        return self.logs[rank].read_text()

    def line(self, rank):
        """What our process said last: one line; torchrun's own report, which follows, is not ours."""
        lines = [line for line in self.said(rank).splitlines() if line.startswith("error")]
        assert "[rank" not in self.said(rank)  # as torch marks the traceback of one of ours
        assert len(lines) == 1, self.said(rank)
        return lines[0]


def test_two_machines_train_what_one_does_through_every_loss(prepared, nodes, tmp_path):
    given, run = prepared
    one = shutil.copytree(run, tmp_path / "one")
    command = [*torchrun("--standalone", "--nproc-per-node", "2"), *given, "--out", str(one)]
    subprocess.run(command, check=True, env=one_thread(), capture_output=True)

    training = Training(nodes, given, shutil.copytree(run, tmp_path / "two"))
    training.start()  # a machine is switched off
    training.until_next_checkpoint()
    nodes[1].kill()
    assert training.ended(0) != 0
    assert GONE in training.line(0)
    assert REMEDY in training.line(0)

    training.start()  # a cable is pulled, and nothing is closed: both give up
    training.until_next_checkpoint()
    nodes[1].cable("down")
    for rank in (0, 1):
        assert SILENT in wait_for_line(training, rank)
        assert REMEDY in training.line(rank)
    for node in nodes:
        node.kill()
    nodes[1].cable("up")

    assert 2 * BETWEEN <= training.steps_kept() < STEPS
    training.start()
    assert [training.ended(0), training.ended(1)] == [0, 0], training.said(0) + training.said(1)
    assert "finetune: continuing after step" in training.said(0)
    assert trained(tmp_path / "two") == trained(one)


def wait_for_line(training, rank):
    """torchrun itself may wait longer for a machine that is out of reach; our process must not."""
    until = time.monotonic() + 120
    while "error" not in training.said(rank):
        assert time.monotonic() < until, training.said(rank)
        time.sleep(0.1)
    return training.line(rank)
