"""SIGKILL in the middle of trainings: the same command again ends with the same weights.

    python -m tests.fuzz.kills --kills 100 [--cold] [--seed 0]

A tiny run of every kind of training (pre-training, fine-tuning, a dense system, a pupil that hears a teacher; and apart
from it a cross-encoder and TILDE) is first left alone, and timed from its first training on. Then it is begun anew,
killed by the operating system at a random moment of that time, and continued by the same command. Every model must have
the bytes of the one that was left alone, and nothing half-written may stay. By default a process is forked that has
imported everything, so that a kill meets the training and not the start of Python; `--cold` starts commands as a person
does.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection

N = 48
TRAINING = (
    "model.layers=1", "vocab.min_count=1", "vocab.stemmer=none", "pretrain.steps=12", "pretrain.batch=8",
    "pretrain.warmup=0", "pretrain.checkpoint_every=2", "pretrain.validate_every=3", "pretrain.validation_texts=2",
    "pretrain.dropout=0.1", "finetune.steps=12", "finetune.batch=8", "finetune.warmup=0", "finetune.checkpoint_every=2",
    "finetune.validate_every=3", "finetune.dropout=0.1", "finetune.df_flops=0.01", "finetune.ramp=4",
)  # fmt: skip
RUN = (
    *TRAINING, 'run.systems=["bm25","first","pupil","dense"]', "systems.first.finetune.steps=10",
    'systems.pupil.finetune.teachers=["first"]', "systems.pupil.finetune.negatives=teachers",
    "systems.pupil.finetune.n_negatives=1", "systems.pupil.finetune.negatives_depth=5", "dense.steps=12",
    "dense.batch=8", "dense.checkpoint_every=2", "evaluate.timing_queries=1", "evaluate.timing_runs=1",
)  # fmt: skip
SHARES = {"finetune": 6, "run": 1, "teacher": 2, "tilde": 2}  # a run takes ten times as long as the others


@dataclass(frozen=True)
class Work:
    """A command, the folder that it writes, and the sign that training has begun."""

    name: str
    command: Sequence[str]
    out: Path
    sign: str  # a glob below the folder that holds `out`


def works_in(root: Path) -> list[Work]:
    """The commands whose trainings are killed; their collection and backbone are written to `root`."""
    from tests.families import STEMS, write_backbone

    rng, documents, queries, pairs, run = np.random.default_rng(0), [], [], [], []
    for number in range(N):
        words = [STEMS[number % len(STEMS)] + ending for ending in rng.permutation(list("aeiou"))]
        documents.append(Document(f"d{number}", "", " ".join(words[:3]) + f" n{number % 7}"))
        queries.append(Query(f"q{number}", " ".join(words[2:4])))
        pairs.append(Qrel(f"q{number}", f"d{number}", 1))
        others = rng.choice(np.delete(np.arange(N), number), 4, replace=False)
        run += [f"q{number} Q0 d{other} {place} {-place} by-hand" for place, other in enumerate(others, 1)]
    write_collection(root / "stems", documents, queries, {"train": pairs[:40], "test": pairs[40:]})
    (root / "negatives.trec").write_text("\n".join(run) + "\n")
    backbone, stems = str(write_backbone("bert", root / "backbone", loud=5.0)), str(root / "stems")
    out = root / "out"
    cross = [*parts("--steps 16 --batch 8 --warmup 2 --checkpoint-every 2 --layers 1 --n-negatives 2"),
             *parts("--query-length 8 --document-length 8 --negatives"), str(root / "negatives.trec")]  # fmt: skip
    tilde = parts("--steps 16 --batch 8 --set tilde.warmup=2 --set tilde.checkpoint_every=2 --set model.layers=1")
    tilde += parts("--set tilde.query_length=12 --set tilde.document_length=16")
    given = ["--data", stems, "--backbone", backbone, "--out"]
    run = ["--data", stems, "--out", str(out / "run"), "--set", f"model.backbone={backbone}"]
    return [
        Work("finetune", ["finetune", *of_settings(TRAINING), *run], out / "run", "run/model*"),
        Work("run", ["run", *of_settings(RUN), *run], out / "run", "run/model*"),
        Work("teacher", ["teacher", "train", *given, str(out / "cross"), *cross], out / "cross", ".*"),
        Work("tilde", ["tilde", "train", *given, str(out / "tilde"), *tilde], out / "tilde", ".*"),
    ]


def of_settings(settings: Sequence[str]) -> list[str]:
    return [part for one in settings for part in ("--set", one)]


def parts(command: str) -> list[str]:
    return command.split()


def weights_of(out: Path) -> dict[str, bytes]:
    """Every file that trainings leave below `out`, and nothing that is made of them or says how long it took."""
    names = ("model.safetensors", "history.json", "kept.json")
    return {str(file.relative_to(out)): file.read_bytes() for file in sorted(out.rglob("*")) if file.name in names}


def leftovers(out: Path) -> list[str]:
    """What a command that ended well must not leave: drafts and checkpoints."""
    marks = (".draft-", ".old-", "checkpoint")
    return [str(path) for path in out.parent.rglob("*") if any(mark in path.name for mark in marks)]


class Starter:
    """Starts commands in processes of their own: cold, or forked from this one."""

    def __init__(self, root: Path, cold: bool) -> None:
        self.cold, self.log = cold, root / "log.txt"
        if not cold:
            import torch

            torch.set_num_threads(1)  # before anything computes: threads do not survive a fork
            import transformers  # noqa: F401

    def start(self, command: Sequence[str]) -> int:
        """The number of a process that does `command`."""
        if self.cold:
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
            with self.log.open("wb") as log:
                call = [sys.executable, "-m", "lexigraft", *command]
                return subprocess.Popen(call, stdout=log, stderr=log, env=environment).pid
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            status = self._in_this_process(command)
        finally:
            os._exit(status)

    def _in_this_process(self, command: Sequence[str]) -> int:
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        from lexigraft.cli.app import main

        sys.argv = ["lexigraft", *command]
        try:
            main()
        except SystemExit as ended:
            return int(ended.code or 0)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
        return 0

    def finish(self, command: Sequence[str]) -> None:
        """Do `command` to its end; raises where that is not a good one."""
        _, status = os.waitpid(self.start(command), 0)
        if status != 0:
            raise AssertionError(
                f"{' '.join(command)} ended with {status}:\n{self.log.read_text(errors='replace')[-3000:]}"
            )


def wait_for(pid: int, folder: Path, sign: str) -> bool:
    """Wait until there is such a file; False where the process ended before."""
    while True:
        if any(folder.glob(sign)):
            return True
        ended, _ = os.waitpid(pid, os.WNOHANG)
        if ended:
            return False
        time.sleep(0.0005)


def kill_and_compare(work: Work, starter: Starter, after: float, wanted: dict[str, bytes]) -> str:
    """Begin the work, kill it `after` so many seconds of training, continue it and compare; returns what happened."""
    shutil.rmtree(work.out.parent, ignore_errors=True)
    work.out.parent.mkdir()
    pid = starter.start(work.command)
    if not wait_for(pid, work.out.parent, work.sign):
        return "ended before"
    time.sleep(after)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSIGNALED(status):
        return "ended before"
    starter.finish(work.command)
    found = weights_of(work.out)
    if found != wanted:
        different = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
        raise AssertionError(f"{work.name}, killed after {after:.3f} s of training, differs in {different}")
    if left := leftovers(work.out):
        raise AssertionError(f"{work.name}, killed after {after:.3f} s of training, leaves {left}")
    return "killed"


def undisturbed(work: Work, starter: Starter) -> tuple[dict[str, bytes], float]:
    """The weights of a run that nobody stops, and the seconds from its first training to its end."""
    shutil.rmtree(work.out.parent, ignore_errors=True)
    work.out.parent.mkdir()
    pid = starter.start(work.command)
    assert wait_for(pid, work.out.parent, work.sign), starter.log.read_text(errors="replace")[-3000:]
    begun = time.perf_counter()
    _, status = os.waitpid(pid, 0)
    assert status == 0, starter.log.read_text(errors="replace")[-3000:]
    found = weights_of(work.out)
    assert found, f"{work.name} left no weights below {work.out}"
    return found, time.perf_counter() - begun


def kills(root: Path, n: int, cold: bool, seed: int, names: Sequence[str] = tuple(SHARES)) -> dict[str, Any]:
    """Kill `n` trainings at random moments; returns counts by command."""
    rng, starter = random.Random(seed), Starter(root, cold)
    works = {work.name: work for work in works_in(root) if work.name in names}
    wanted = {name: undisturbed(work, starter) for name, work in works.items()}
    counts: Counter[str] = Counter()
    while sum(count for what, count in counts.items() if what.endswith("killed")) < n:
        name = rng.choices(list(works), [SHARES[name] for name in works])[0]
        weights, seconds = wanted[name]
        counts[f"{name}: {kill_and_compare(works[name], starter, rng.uniform(0, seconds), weights)}"] += 1
        print(dict(counts), file=sys.stderr, flush=True)
        if counts.total() > 3 * n + 20:
            raise AssertionError(f"most commands end before they are killed: {dict(counts)}")
    return {
        "cold": cold,
        "seed": seed,
        "files compared": {name: len(found) for name, (found, _) in wanted.items()},
        **counts,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--of", nargs="+", choices=SHARES, default=tuple(SHARES), help="which commands")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        print(json.dumps(kills(Path(root), options.kills, options.cold, options.seed, options.of)))


if __name__ == "__main__":
    main()
