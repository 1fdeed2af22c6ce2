"""How long a command takes from a cold process, and how much memory: `--help` and searches, of several source trees.

    python -m bench.cold_start --source before=/tmp/base/src --source now=src [--index INDEX] [--run RUN ...]
        [--query TEXT] [--repetitions 9] [--out FILE.json]

Without an index or a run, only `--help` and `--version` are measured. Of every run, each of its systems is searched.
Trees take turns within every repetition, so that other work on the machine hits all alike: compare the ratios, and the
user seconds, which waiting for a core does not lengthen. One call before the first repetition is not measured: caches
of machine code and of files are filled then. What is left is named: the imports of the last tree that take longest.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

QUERY = "remove duplicates but keep order"
LARGEST = 10  # imports that are named
IMPORT = re.compile(r"import time: +(\d+) \| +(\d+) \|( +)(\S+)")


class Taken(NamedTuple):
    """What one process took."""

    wall_s: float
    user_s: float
    peak_mib: float


def run_process(arguments: Sequence[str], source: Path, options: Sequence[str] = ()) -> tuple[Taken, str]:
    """What `lexigraft ARGUMENTS` took by the code at `source`, and what it wrote to stderr; an error ends all."""
    call = [sys.executable, *options, "-m", "lexigraft", *arguments]
    start = time.perf_counter()
    process = subprocess.Popen(
        call,
        env={**os.environ, "PYTHONPATH": str(source)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"{' '.join(call)} failed:\n{said}")
    per_mib = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Taken(wall, used.ru_utime, used.ru_maxrss / per_mib), said


def commands(index: Path | None, runs: Sequence[Path], query: str) -> dict[str, list[str]]:
    """What is measured, by name."""
    found = {"--help": ["--help"], "--version": ["--version"]}
    if index is not None:
        found["search --index"] = ["search", "--index", str(index), query]
    for run in runs:
        for system in json.loads((run / "run.json").read_text(encoding="utf-8"))["systems"]:
            found[f"search {run.name} {system}"] = ["search", "--run", str(run), "--system", system, query]
    return found


def summed_up(taken: Sequence[Taken]) -> dict[str, dict[str, float]]:
    """Median and least of each number."""
    return {
        name: {"median": round(statistics.median(values), 3), "min": round(min(values), 3)}
        for name, values in zip(Taken._fields, zip(*taken, strict=True), strict=True)
    }


def largest_imports(arguments: Sequence[str], source: Path) -> list[dict[str, Any]]:
    """The imports that take longest with all that they import in turn, in milliseconds; of a chain in which each takes
    nearly all of the one before, the last."""
    lines = IMPORT.findall(run_process(arguments, source, ["-X", "importtime"])[1])
    named = [
        (int(total), len(indent), name)
        for (_, total, indent, name), (_, inner, deeper, _) in zip(lines, [("", "0", "", ""), *lines], strict=False)
        if len(deeper) <= len(indent) or int(inner) < 0.9 * int(total)  # the line before is the last thing it imported
    ]
    return [{"module": name, "ms": round(total / 1000, 1)} for total, _, name in sorted(named, reverse=True)[:LARGEST]]


def measure(sources: Mapping[str, Path], asked: Mapping[str, Sequence[str]], repetitions: int) -> dict[str, Any]:
    """Of each command, the numbers of each tree, the ratio of every tree to the first, and what is left."""
    found: dict[str, Any] = {}
    first, last = next(iter(sources)), list(sources)[-1]
    for name, arguments in asked.items():
        taken: dict[str, list[Taken]] = {tree: [] for tree in sources}
        for repetition in range(repetitions + 1):
            for tree, source in sources.items():
                one, _ = run_process(arguments, source)
                if repetition:
                    taken[tree].append(one)
        numbers = {tree: summed_up(values) for tree, values in taken.items()}
        ratios = {
            tree: {key: round(numbers[tree][key]["median"] / numbers[first][key]["median"], 3) for key in Taken._fields}
            for tree in sources
            if tree != first
        }
        left = largest_imports(arguments, sources[last])
        found[name] = {**numbers, f"ratio to {first}": ratios, "largest imports": left}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", action="append", required=True, metavar="NAME=PATH")
    parser.add_argument("--index", type=Path)
    parser.add_argument("--run", type=Path, action="append", default=[])
    parser.add_argument("--query", default=QUERY)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    sources = {name: Path(path).resolve() for name, _, path in (part.partition("=") for part in given.source)}
    found = {
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "commands": measure(sources, commands(given.index, given.run, given.query), given.repetitions),
    }
    text = json.dumps(found, indent=2)
    print(text)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
