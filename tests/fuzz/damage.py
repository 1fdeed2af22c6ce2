"""Damaged files, one at a time, each then used by a command: the answer must be the right one, or one line of error.

    python -m tests.fuzz.damage --cases 10000 --workers 2 --out damage.json    warm, forked
    python -m tests.fuzz.damage --cases 300 --cold                             each command as a process of its own
    python -m tests.fuzz.damage --cases 1000 --crafted                         with checksums that fit, as by a stranger

A case is known by its number and the seed: `--only NUMBER` does one of them and prints what was said. The exit status
is 1 where any case failed.
"""

import argparse
import gc
import json
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.damaged_world import GOOD, Case, World, kind_of, warm_up

MEMORY = Path("/dev/shm")  # files are written and put back all the time
COUNTS = ("by_verdict", "by_kind", "by_mutation")
TOLD_EVERY = 100


@dataclass
class Tally:
    """What became of all cases; a failure is kept with all that is needed to see it again."""

    n_cases: int = 0
    by_verdict: Counter[str] = field(default_factory=Counter)
    by_kind: Counter[str] = field(default_factory=Counter)
    by_mutation: Counter[str] = field(default_factory=Counter)
    failures: list[Case] = field(default_factory=list)

    def add(self, case: Case) -> None:
        self.n_cases += 1
        self.by_verdict[case.verdict] += 1
        self.by_kind[kind_of(case.file)] += 1
        self.by_mutation[case.mutation] += 1
        if case.verdict not in GOOD:
            self.failures.append(case)

    def as_json(self) -> dict[str, Any]:
        counts = {name: dict(getattr(self, name)) for name in COUNTS}
        return {"n_cases": self.n_cases, **counts, "failures": [asdict(case) for case in self.failures]}

    def add_all(self, other: dict[str, Any]) -> None:
        """What `as_json` of another tally says."""
        self.n_cases += other["n_cases"]
        for name in COUNTS:
            getattr(self, name).update(other[name])
        self.failures += [Case(**case) for case in other["failures"]]


@dataclass(frozen=True)
class Plan:
    """Which cases are done, and how."""

    seed: int
    numbers: range
    cold: bool = False
    crafted: bool = False
    seconds: float = float("inf")
    workers: int = 1


def run_cases(pristine: Path, scratch: Path, plan: Plan) -> Tally:
    """All cases, shared by workers, or as many as there is time for."""
    first = World(pristine, scratch, plan.cold, plan.crafted)
    if not plan.cold:
        warm_up(first)
    first.learn()
    gc.collect()
    gc.freeze()  # forks then share the memory of all objects that are there
    ends = time.monotonic() + plan.seconds
    children = {}
    for number in range(plan.workers):
        child = os.fork()
        if not child:
            _work(first, scratch / str(number), plan, number, ends)
        children[child] = number
    tally = Tally()
    for child, number in children.items():
        _, status = os.waitpid(child, 0)
        assert status == 0, f"worker {number} ended with {status}"
        tally.add_all(json.loads((scratch / str(number) / "tally.json").read_text()))
    return tally


def _work(first: World, scratch: Path, plan: Plan, number: int, ends: float) -> None:
    """Be one worker: its cases, in a copy of its own."""
    status = 1
    try:
        scratch.mkdir()
        world, tally = World(first.pristine, scratch, plan.cold, plan.crafted), Tally()
        world.expected = first.expected
        for case in plan.numbers[number :: plan.workers]:
            if time.monotonic() > ends:
                break
            tally.add(world.case(plan.seed, case))
            if tally.n_cases % TOLD_EVERY == 0:
                print(
                    f"worker {number}: {tally.n_cases} cases, {len(tally.failures)} failed", file=sys.stderr, flush=True
                )
        (scratch / "tally.json").write_text(json.dumps(tally.as_json()))
        status = 0
    finally:
        os._exit(status)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--crafted", action="store_true")
    parser.add_argument("--world", type=Path, help="a world that was made before; made there where it is absent")
    parser.add_argument("--out", type=Path, help="write counts and failures as JSON")
    given = parser.parse_args()
    os.environ["LEXIGRAFT_CHECKSUMS"] = "always"
    if not given.cold:
        setattr(os, "fsync", lambda descriptor: None)  # noqa: B010  # no power is lost here, and disks are slow
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        pristine = (given.world or Path(folder) / "pristine").resolve()
        if not pristine.exists():
            from tests.fuzz.world import make_world

            pristine.mkdir(parents=True)
            make_world(pristine)
        scratch = Path(folder) / "scratch"
        scratch.mkdir()
        numbers = range(given.first, given.first + given.cases)
        if given.only is not None:
            numbers = range(given.only, given.only + 1)
        began = time.monotonic()
        plan = Plan(given.seed, numbers, given.cold, given.crafted, given.seconds, given.workers)
        tally = run_cases(pristine, scratch, plan)
        os.chdir("/")
        result = {**tally.as_json(), "seconds": round(time.monotonic() - began, 1), "seed": given.seed}
        if given.out:
            given.out.write_text(json.dumps(result, indent=1))
        short = ("n_cases", "by_verdict", "seconds")
        shown = result if given.only is not None else {key: result[key] for key in short}
        sys.stdout.write(json.dumps(shown, indent=1) + "\n")
    sys.exit(1 if tally.failures else 0)


if __name__ == "__main__":
    main()
