"""Hostile command lines for every command: `python -m tests.fuzz.hostile_commands --cases 1000 --seed 0`.

Commands and options are read from the program itself. A case is a command line that would work, of which some values
are replaced by hostile ones, run in a fork of this process (or, some of them, as a cold process) within a copy of a
small world: working folder, home and temporary folder all lie in it, so nothing outside is written or removed. It must
end by itself with exit status 0, 1 or 2, with one line of error, without a traceback and without raw control
characters. What does not is printed and counted; the last line is JSON.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz import hostile_values
from tests.fuzz.hostile_world import make_world, special_files
from tests.fuzz.workers import Outcome, run_forked

SECONDS = 20.0
# It trains on this machine's documentation for minutes, whatever else is said; its options are those of `run`.
# Servers do not end by themselves; `tests/fuzz/serve.py` is hostile to what they answer.
LEFT_OUT = {("quickstart",), ("serve",), ("open",), ("mcp",)}
# Of these a large number is not wrong: it asks for much work, and gets it.
AMOUNTS = {
    *"runs limit lines topics steps epochs texts size repeats jobs seeds minutes threads pieces k depth".split(),
    *"fb-docs fb-terms pairs width heads positions layers batch test-queries valid-queries max-tokens".split(),
    *"test-distractors valid-distractors candidates bins removal-queries borda-depth".split(),
}
WRITTEN = {
    "out",
    "write-runs",
    "html",
    "truth",
    "parquet",
    "live",
    "run",
    "index",
}  # files and folders that may be replaced
USUAL = {
    "data": "data", "out": "out", "index": "plain", "run": "run", "queries": "queries.jsonl", "qrels": "qrels.tsv",
    "trec_run": "a.trec", "model": "missing", "backbone": "missing", "live": "live", "source": "data", "folder": "data",
    "vocabulary": "vocab", "a": "vocab", "b": "vocab", "path": "plain", "negatives": "a.trec", "pairs": "a.trec",
    "texts": "data", "name": "vocabulary", "generated": "queries.jsonl", "of": "queries", "query": "tea",
    "document": "d1", "doc_ids": "d1", "text": "tea", "where": "year > 2000", "split": "test", "k": "3",
    "measure": "MRR@10",
}  # fmt: skip
_NO_MODEL = ("--set", "model.backbone=missing")  # or a command line that is in order after all would train
ALWAYS = {
    ("study",): ("--dry-run",), ("data", "simulate"): ("--lines", "50"),
    **{(name,): _NO_MODEL for name in ("run", "pretrain", "finetune")}, ("vocab", "learn"): _NO_MODEL,
}  # fmt: skip


GROUPS = {("index",)}  # of commands that are commands, too


class Parameter(NamedTuple):
    name: str
    flag: str  # empty of an argument
    takes_value: bool
    is_needed: bool


class Command(NamedTuple):
    words: tuple[str, ...]
    parameters: tuple[Parameter, ...]


def commands() -> list[Command]:
    """All commands of the program, as its parser knows them."""
    import typer

    from lexigraft.cli.app import app

    return [one for one in _below(typer.main.get_command(app), ()) if one.words not in LEFT_OUT]


def _below(node: Any, words: tuple[str, ...]) -> Iterator[Command]:
    for name in list(getattr(node, "commands", ())):
        yield from _below(node.commands[name], (*words, name))
    if words and (not hasattr(node, "commands") or getattr(node, "invoke_without_command", False)):
        yield Command(words, tuple(_parameter(one) for one in node.params if one.name != "help"))


def _parameter(one: Any) -> Parameter:
    flag = one.opts[0] if one.opts[0].startswith("-") else ""
    return Parameter(flag.lstrip("-") or one.name, flag, not getattr(one, "is_flag", False), bool(one.required))


def command_line(rng: random.Random, command: Command, names: Sequence[str]) -> list[str]:
    """A command line with one to three hostile values; `names` are those of all settings."""
    given = {one.name: USUAL.get(one.name, "1") for one in command.parameters if one.is_needed}
    optional = [one for one in command.parameters if not one.is_needed]
    for one in rng.sample(optional, min(len(optional), rng.randrange(3))):
        given.setdefault(one.name, USUAL.get(one.name, "1"))
    for one in rng.choices(command.parameters, k=rng.randrange(1, 4)) if command.parameters else ():
        given[one.name] = _hostile(rng, one, names)
    if given and rng.random() < 0.05:
        given.pop(rng.choice(list(given)))
    words = list(command.words)
    for one in command.parameters:
        if one.name in given:
            words += ([one.flag, given[one.name]] if one.takes_value else [one.flag]) if one.flag else [given[one.name]]
    if rng.random() < 0.05:
        words.insert(rng.randrange(len(words) + 1), rng.choice(["--no-such", "-x", *hostile_values.TEXTS[:9]]))
    return [*words, *ALWAYS.get(command.words, ())]


def _hostile(rng: random.Random, one: Parameter, names: Sequence[str]) -> str:
    if one.name == "set":
        return hostile_values.setting(rng, names)
    if one.name == "where":
        return hostile_values.condition(rng)
    found = hostile_values.value(rng, is_read=one.name not in WRITTEN)
    if one.name in AMOUNTS and found in hostile_values.NUMBERS:
        return rng.choice(["0", "-1", "NaN", "inf", "1e400", "1.5", "-" + "9" * 400, "x", "٣"])
    if one.name in WRITTEN and (found == "/" or found.startswith("~")):  # the one folder that must not be tried
        return "out"
    return found


def setting_names() -> list[str]:
    from lexigraft.core.settings.every import SECTIONS
    from lexigraft.core.settings.section import declared

    return [one.name for section in SECTIONS.values() for one in declared(section).values()]


def run_cold(arguments: Sequence[str], folder: Path, seconds: float) -> Outcome:
    """The same as a process of its own."""
    words = [sys.executable, "-m", "lexigraft", *map(os.fsencode, arguments)]
    try:
        ended = subprocess.run(
            words, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(-14, "", "")
    return Outcome(ended.returncode, ended.stdout.decode("utf-8", "replace"), ended.stderr.decode("utf-8", "replace"))


def fuzz(n_cases: int, seed: int, n_cold: int, seconds: float, root: Path) -> dict[str, Any]:
    """Counts of all cases; those that went wrong are printed at once. After so many seconds no case is begun."""
    world, scratch, started = root / "world", root / "scratch", time.monotonic()
    scratch.mkdir()
    make_world(world)
    rng, found = random.Random(seed), Counter[str]()
    known, names = commands(), setting_names()
    cold = set(rng.sample(range(n_cases), min(n_cold, n_cases)))
    n_done = n_wrong = 0
    for number in range(n_cases):
        if time.monotonic() - started > seconds:
            break
        arguments = command_line(rng, known[number % len(known)], names)
        folder = root / f"case{number}" / "here"
        shutil.copytree(world, folder, symlinks=True)
        special_files(folder)
        outcome = (
            run_cold(arguments, folder, 3 * SECONDS)
            if number in cold
            else run_forked(arguments, folder, scratch, SECONDS)
        )
        problem = outcome.problem or ("a shell ran it" if list(folder.parent.rglob("owned")) else "")
        if outcome.status == 2 and tuple(arguments) in GROUPS and "Usage:" in outcome.stdout:
            problem = ""  # a group of commands alone shows its help
        found[f"exit {outcome.status}"] += 1
        n_done, n_wrong = n_done + 1, n_wrong + bool(problem)
        if problem:
            found[problem] += 1
            shown = [word if len(word) < 200 else f"{word[:60]}... ({len(word)})" for word in arguments]
            print(
                ascii({"case": number, "problem": problem, "arguments": shown, "said": outcome.stderr[-1500:]}),
                flush=True,
            )
        shutil.rmtree(folder.parent, ignore_errors=True)
    return {
        "cases": n_done, "cold": sum(number < n_done for number in cold), "seed": seed, "commands": len(known),
        "found": dict(sorted(found.items())), "wrong": n_wrong, "seconds": round(time.monotonic() - started),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cold", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=3600, help="begin no case after so many")
    asked = parser.parse_args()
    in_memory = Path("/dev/shm")  # cases write and sync much, and what they leave is of no worth
    with tempfile.TemporaryDirectory(dir=in_memory if os.access(in_memory, os.W_OK) else None) as folder:
        root = Path(folder)
        for name in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR"):
            (root / name).mkdir()
            os.environ[name] = str(root / name)
        os.environ |= {"HF_HUB_OFFLINE": "1", "LEXIGRAFT_CHECKSUMS": "always"}
        tempfile.tempdir = str(root / "TMPDIR")
        facts = fuzz(asked.cases, asked.seed, asked.cold, asked.seconds, root)
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
