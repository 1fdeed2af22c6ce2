"""Damaged files, one at a time, each then used by a command: the answer must be the right one, or one line of error.

    python -m tests.fuzz.damage --cases 10000 --out damage.json     warm, forked
    python -m tests.fuzz.damage --cases 300 --cold                  each command as a process of its own
    python -m tests.fuzz.damage --cases 1000 --crafted              checksums are made to fit, as a stranger would

A case is known by its number and the seed: `--only NUMBER` does one of them and prints what was said.
"""

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.crafting import fit_checksums
from tests.fuzz.mutations import mutate
from tests.fuzz.uses import FOR_PEOPLE, USES, Use, answer_of, is_input, uses_of
from tests.fuzz.workers import Outcome, run_forked

COLD_SECONDS = 60
MEMORY = Path("/dev/shm")  # files are written and put back all the time


class Expected(NamedTuple):
    """What a use answers and, of one that writes, what is found before it and afterwards."""

    answer: Any
    before: Any = None
    after: Any = None


@dataclass
class Case:
    number: int
    file: str
    mutation: str
    use: str
    verdict: str
    said: str = ""


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
        counts = {name: dict(getattr(self, name)) for name in ("by_verdict", "by_kind", "by_mutation")}
        return {"n_cases": self.n_cases, **counts, "failures": [asdict(case) for case in self.failures]}


GOOD = ("right answer", "one line of error", "another answer of a changed input", "another answer of crafted files")


def kind_of(file: str) -> str:
    """The kind of a file: what it is called, and in which sort of folder."""
    name = Path(file).name
    top = file.split("/")[0] if "/" in file else "."
    return f"{top}: {name if not name[0].isdigit() else 'N' + ''.join(Path(name).suffixes)}"


class World:
    """A copy of the small world in which one file after the other is changed and put back."""

    def __init__(self, pristine: Path, scratch: Path, cold: bool = False, crafted: bool = False) -> None:
        self.pristine, self.scratch, self.cold, self.crafted = pristine, scratch, cold, crafted
        self.root = scratch / "world"
        shutil.copytree(pristine, self.root, symlinks=True)
        self.files = sorted(path.relative_to(pristine).as_posix() for path in pristine.rglob("*") if path.is_file())
        self.by_kind: dict[str, list[str]] = {}
        for file in self.files:
            if uses_of(file) and not file.endswith(FOR_PEOPLE):
                self.by_kind.setdefault(kind_of(file), []).append(file)
        self._as_copied = self._seen()
        self.expected: dict[str, Expected] = {}

    def call(self, arguments: tuple[str, ...]) -> Outcome:
        if not self.cold:
            return run_forked(arguments, self.root, self.scratch)
        command = [sys.executable, "-m", "lexigraft", *arguments]
        try:
            ended = subprocess.run(command, cwd=self.root, capture_output=True, timeout=COLD_SECONDS, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return Outcome(-14, "", "")
        return Outcome(ended.returncode, ended.stdout.decode("utf-8", "replace"), ended.stderr.decode("utf-8", "replace"))

    def learn(self) -> None:
        """Find out what every use answers while nothing is changed."""
        for use in USES:
            if use.name not in self.expected:
                self.expected[use.name] = self._expected(use)

    def _expected(self, use: Use) -> Expected:
        before = answer_of(self.call(use.after)) if use.after and (self.root / use.writes).exists() else None
        done = self.call(use.arguments)
        assert done.status == 0, (use.arguments, done)
        after = answer_of(self.call(use.after)) if use.after else None
        self.restore()
        return Expected(answer_of(done), before, after)

    def case(self, seed: int, number: int) -> tuple[Case, Outcome]:
        """One mutation of one file, and one use of it."""
        chance = random.Random(f"{seed}-{number}")
        file = chance.choice(self.by_kind[chance.choice(sorted(self.by_kind))])
        use = chance.choice(uses_of(file))
        others = [self.pristine / other for other in self.files if other.endswith(Path(file).suffix) and other != file]
        path = self.root / file
        mutation = mutate(path, others or [self.pristine / "data/corpus.jsonl"], chance)
        if self.crafted:
            fit_checksums(self.root, file)
        if use.name not in self.expected:
            raise KeyError(use.name)
        try:
            outcome = self.call(use.arguments)
            verdict = self._verdict(file, use, outcome)
        finally:
            self.restore()
        return Case(number, file, mutation, " ".join(use.arguments), verdict, (outcome.error or outcome.stderr)[-1500:]), outcome

    def _verdict(self, file: str, use: Use, outcome: Outcome) -> str:
        if outcome.problem:
            return outcome.problem
        expected, free = self.expected[use.name], self._may_differ(file)
        if outcome.status:
            if expected.before is not None:
                self.put_back(file)
                if answer_of(self.call(use.after)) != expected.before:
                    return "something was lost"
            return "one line of error" if free or _names(outcome.error, file) else "error that does not name the file"
        if free:
            return free
        if not use.writes and answer_of(outcome) != expected.answer:
            return "silently different"
        if use.after:
            shown = self.call(use.after)
            if shown.problem:
                return f"{shown.problem} afterwards"
            if not shown.status and answer_of(shown) != expected.after:
                return "silently different afterwards"
        return "right answer"

    def _may_differ(self, file: str) -> str:
        if is_input(file):
            return "another answer of a changed input"
        return "another answer of crafted files" if self.crafted else ""

    def put_back(self, file: str) -> None:
        """The one file as it was, and nothing else."""
        _clear(self.root / file)
        (self.root / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(self.pristine / file, self.root / file)
        if self.crafted:
            self.restore()

    def restore(self) -> None:
        """Everything as it was: what commands wrote goes, what they or a mutation changed is copied again."""
        now = self._seen()
        for name in sorted(now.keys() - self._as_copied.keys(), reverse=True):
            _clear(self.root / name)
        for name, facts in self._as_copied.items():
            path = self.root / name
            if now.get(name) != facts:
                if facts is None:
                    if path.is_symlink() or not path.is_dir():
                        _clear(path)
                    path.mkdir(exist_ok=True, parents=True)
                else:
                    _clear(path)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(self.pristine / name, path)
                    self._as_copied[name] = _facts(path)

    def _seen(self) -> dict[str, tuple[int, ...] | None]:
        """Files and folders (None) by name."""
        found: dict[str, tuple[int, ...] | None] = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            with os.scandir(self.root / folder) as entries:
                for entry in entries:
                    name = f"{folder}{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        found[name] = None
                        waiting.append(f"{name}/")
                    else:
                        found[name] = _facts(Path(entry.path))
        return dict(sorted(found.items()))


def _facts(path: Path) -> tuple[int, ...]:
    seen = path.lstat()
    return seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_mode


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _names(error: str, file: str) -> bool:
    """Whether a line of error says which file or folder it is about."""
    parts = Path(file).parts
    return any(part in error for part in (Path(file).name, *("/".join(parts[:end]) for end in range(1, len(parts)))))


def warm_up(world: World) -> None:
    """Import what commands import and load their kernels, in this process, so that forks have them."""
    from lexigraft.core.compiled import load_kernels

    load_kernels()
    os.chdir(world.root)
    from lexigraft.cli.app import main

    for use in USES:
        sys.argv = ["lexigraft", *use.arguments]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
            main()
        world.restore()


def run_cases(pristine: Path, scratch: Path, seed: int, numbers: range, cold: bool, crafted: bool) -> Tally:
    """All cases, one after the other."""
    world, tally = World(pristine, scratch, cold, crafted), Tally()
    if not cold:
        warm_up(world)
    world.learn()
    for number in numbers:
        tally.add(world.case(seed, number)[0])
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--crafted", action="store_true")
    parser.add_argument("--world", type=Path, help="a world that was made before; made there where it is absent")
    parser.add_argument("--out", type=Path, help="write counts and failures as JSON")
    given = parser.parse_args()
    os.environ["LEXIGRAFT_CHECKSUMS"] = "always"
    if not given.cold:
        os.fsync = lambda descriptor: None  # no power is lost here, and a disk would be most of the time
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
        tally = run_cases(pristine, scratch, given.seed, numbers, given.cold, given.crafted)
        os.chdir("/")
        result = {**tally.as_json(), "seconds": round(time.monotonic() - began, 1), "seed": given.seed}
        if given.out:
            given.out.write_text(json.dumps(result, indent=1))
        shown = result if given.only is not None else {key: result[key] for key in ("n_cases", "by_verdict", "seconds")}
        sys.stdout.write(json.dumps(shown, indent=1) + "\n")
    sys.exit(1 if tally.failures else 0)


if __name__ == "__main__":
    main()
