"""Runs the commands of a plan, each as soon as those that it needs are done.

    python -m bench.steps PLAN.toml --where out=runs/study [--where NAME=VALUE ...] [--only NAME ...]

A plan (TOML) has `[steps.NAME]` with a `command` (one line of shell), `after` (the names it waits for) and `threads`
(of OpenMP and numba; 1). `{NAME}` in a command is what `--where NAME=...` or the plan's `[where]` says; a value of
`[where]` may hold the `{NAME}` of one that comes after it, or of one that only `--where` gives. A step that is done is
not done again, and by another command it is an error; one that fails is said, with its log, and what waits for it is
left out. `{out}` holds logs, marks of what is done, and steps.json with the seconds of each.
"""

import argparse
import json
import os
import re
import subprocess
import time
import tomllib
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple


class Step(NamedTuple):
    name: str
    command: str
    after: list[str]
    threads: int


def planned(plan: dict[str, Any], where: dict[str, str]) -> list[Step]:
    """The steps, their commands filled in; raises where one waits for a step that there is not."""
    values = {**{name: str(value) for name, value in plan.get("where", {}).items()}, **where}
    steps = []
    for name, how in plan["steps"].items():
        command = how["command"]
        for key, value in values.items():
            command = command.replace("{" + key + "}", value)
        if missing := re.findall(r"\{(\w+)\}", command):
            raise SystemExit(f"{name} needs --where {missing[0]}=...")
        unknown = [other for other in how.get("after", []) if other not in plan["steps"]]
        if unknown:
            raise SystemExit(f"{name} waits for {', '.join(unknown)}, which the plan does not have")
        steps.append(Step(name, command, list(how.get("after", [])), int(how.get("threads", 1))))
    return steps


def perform(step: Step, out: Path) -> float:
    """Seconds it took; 0 where it was done before. Raises where it fails, or was done by another command."""
    done = out / "done" / f"{step.name}.json"
    if done.is_file():
        if json.loads(done.read_text())["command"] != step.command:
            raise RuntimeError(f"it was done by another command; give another out, or remove what it made and {done}")
        return 0.0
    threads = str(step.threads)
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads}
    start = time.monotonic()
    with (out / "logs" / f"{step.name}.txt").open("w") as log:
        subprocess.run(step.command, shell=True, check=True, stdout=log, stderr=subprocess.STDOUT, env=environment)
    seconds = time.monotonic() - start
    aside = done.with_suffix(f".{os.getpid()}")
    aside.write_text(json.dumps({"command": step.command, "seconds": round(seconds, 1)}))
    aside.replace(done)
    return seconds


def follow(steps: list[Step], out: Path) -> list[str]:
    """Every step after those it needs, as many at a time as can be; those that failed or could not begin."""
    started, ended, failed = time.monotonic(), set[str](), list[str]()
    waiting, running = {step.name: step for step in steps}, dict[Future[float], Step]()
    with ThreadPoolExecutor(max(1, len(steps))) as pool:
        while True:
            for step in [one for one in waiting.values() if ended.issuperset(one.after)]:
                running[pool.submit(perform, waiting.pop(step.name), out)] = step
            if not running:
                return failed + list(waiting)
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                step = running.pop(future)
                at = f"{time.monotonic() - started:6.0f} s"
                if error := future.exception():
                    failed.append(step.name)
                    print(f"{at}  {step.name} FAILED: {error}\n{_tail(out / 'logs' / f'{step.name}.txt')}", flush=True)
                else:
                    ended.add(step.name)
                    print(f"{at}  {step.name}: {future.result():.0f} s", flush=True)


def _tail(log: Path, lines: int = 6) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.is_file() else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--where", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--only", nargs="+", help="these steps alone: others that they wait for count as done")
    options = parser.parse_args()
    where = dict(text.split("=", 1) for text in options.where)
    if "out" not in where:
        parser.error("--where out=DIR is missing: where logs go")
    steps, out = planned(tomllib.loads(options.plan.read_text(encoding="utf-8")), where), Path(where["out"])
    if options.only:
        if unknown := sorted(set(options.only) - {step.name for step in steps}):
            parser.error(f"the plan does not have {', '.join(unknown)}")
        steps = [step for step in steps if step.name in options.only]
        steps = [step._replace(after=[name for name in step.after if name in options.only]) for step in steps]
    for part in ("logs", "done"):
        (out / part).mkdir(parents=True, exist_ok=True)
    left = follow(steps, out)
    marks = sorted((out / "done").glob("*.json"))
    taken = {mark.stem: json.loads(mark.read_text())["seconds"] for mark in marks}
    (out / "steps.json").write_text(json.dumps(taken, indent=1))
    if left:
        raise SystemExit(f"not done: {', '.join(left)}")


if __name__ == "__main__":
    main()
