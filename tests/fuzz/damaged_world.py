"""A copy of the small world in which one file after the other is damaged, used by a command, and put back."""

import contextlib
import io
import os
import random
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.crafting import fit_checksums
from tests.fuzz.mutations import mutate
from tests.fuzz.uses import FOR_PEOPLE, USES, Use, answer_of, is_input, uses_of
from tests.fuzz.workers import Outcome, run_forked

COLD_SECONDS = 60
RIGHT, REFUSED, WARNED = "right answer", "one line of error", "a warning that names the file"
OF_INPUT, OF_CRAFTED = "another answer of a changed input", "another answer of crafted files"
GOOD = (RIGHT, REFUSED, WARNED, OF_INPUT, OF_CRAFTED)


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
            ended = subprocess.run(
                command, cwd=self.root, capture_output=True, timeout=COLD_SECONDS, stdin=subprocess.DEVNULL, check=False
            )
        except subprocess.TimeoutExpired:
            return Outcome(-signal.SIGALRM, "", "")
        return Outcome(
            ended.returncode, ended.stdout.decode("utf-8", "replace"), ended.stderr.decode("utf-8", "replace")
        )

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

    def case(self, seed: int, number: int) -> Case:
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
        said = (outcome.error or outcome.stderr)[-1500:]
        return Case(number, file, mutation, " ".join(use.arguments), verdict, said)

    def _verdict(self, file: str, use: Use, outcome: Outcome) -> str:
        if outcome.problem:
            return outcome.problem
        expected, free = self.expected[use.name], self._may_differ(file)
        if outcome.status:
            if expected.before is not None:
                self.put_back(file)
                if answer_of(self.call(use.after)) != expected.before:
                    return "something was lost"
            return REFUSED if free or _names(outcome.error, file) else "error that does not name the file"
        if free:
            return free
        if not use.writes and answer_of(outcome) != expected.answer:
            warned = any(line.startswith("warning: ") and _names(line, file) for line in outcome.stderr.splitlines())
            return WARNED if warned else "silently different"
        if use.after:
            shown = self.call(use.after)
            if shown.problem:
                return f"{shown.problem} afterwards"
            if not shown.status and answer_of(shown) != expected.after:
                return "silently different afterwards"
        return RIGHT

    def _may_differ(self, file: str) -> str:
        if is_input(file):
            return OF_INPUT
        return OF_CRAFTED if self.crafted else ""

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
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.suppress(SystemExit),
        ):
            main()
        world.restore()
