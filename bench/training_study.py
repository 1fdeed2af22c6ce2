"""Runs a plan of trainings, several at a time, and gathers what they gave into one JSON file.

    python -m bench.training_study bench/plans/arms.toml --where data=DIR --where backbone=DIR --out runs/arms
        [--jobs 6] [--only COLLECTION/ARM ...]

A plan (TOML) has `base` settings, `[collections.NAME]` with `data` and `set`, `[arms.NAME]` with `set` and, where an
arm is meant for some collections alone, `on`. Every arm is run on every collection by `lexigraft run`; `{NAME}` in a
plan is what `--where NAME=...` says. A run that is done is not done again; one that fails (a collapse is a result too)
is kept with its message, and the status is 1 at the end.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple


class Run(NamedTuple):
    collection: str
    arm: str
    data: str
    settings: list[str]

    @property
    def name(self) -> str:
        return f"{self.collection}/{self.arm}"


def planned(plan: dict[str, Any], where: dict[str, str]) -> list[Run]:
    def filled(text: str) -> str:
        for name, value in where.items():
            text = text.replace("{" + name + "}", value)
        return text

    runs = []
    for name, collection in plan["collections"].items():
        for arm, how in plan["arms"].items():
            if name in how.get("on", [name]):
                here = {**where, "collection": name}
                settings = [*plan["base"], *collection.get("set", []), *how.get("set", [])]
                settings = [filled(text).replace("{collection}", here["collection"]) for text in settings]
                runs.append(Run(name, arm, filled(collection["data"]), settings))
    return runs


def perform(run: Run, out: Path, threads: int) -> dict[str, Any]:
    folder = out / run.collection / run.arm
    folder.parent.mkdir(parents=True, exist_ok=True)
    options = [part for setting in run.settings for part in ("--set", setting)]
    command = [sys.executable, "-m", "lexigraft", "run", "--data", run.data, "--out", str(folder), "--json", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "NUMBA_NUM_THREADS": str(threads)}
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    found: dict[str, Any] = {"collection": run.collection, "arm": run.arm, "settings": run.settings}
    found["seconds"] = round(time.monotonic() - start, 1)
    if done.returncode:
        found["failed"] = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else str(done.returncode)
    else:
        report = json.loads(done.stdout)
        found |= {"rows": report["rows"], "stages": report["stages"]}
        found |= {name: report[name] for name in ("operating_points", "recommended") if name in report}
    found |= _of_model(folder / "model")
    (folder / "stderr.txt").write_text(done.stderr) if folder.is_dir() else None
    said = found.get("failed") or "; ".join(
        f"{row['system']} ({row['qk']},{row['dk']}) {row['MRR@10']:.4f} @ {row['FLOPS']:.3f}" for row in found["rows"]
    )
    print(f"{run.name}: {found['seconds']:.0f} s: {said}", flush=True)
    return found


def _of_model(folder: Path) -> dict[str, Any]:
    """What the stages of a model say of themselves; nothing of those that were not reached."""
    found: dict[str, Any] = {}
    for part in ("pretrained", "finetuned"):
        for file in ("head.json", "kept.json", "alpha.json", "pretraining.json"):
            if (path := folder / part / file).is_file():
                found.setdefault(part, {})[path.stem] = json.loads(path.read_text())
        if (path := folder / part / "history.json").is_file():
            history = json.loads(path.read_text())
            every = max(1, len(history) // 40)
            chosen = [
                {"step": step, **values} for step, values in enumerate(history, 1) if _is_kept(step, values, every)
            ]
            found.setdefault(part, {})["history"] = chosen
    return found


def _is_kept(step: int, values: dict[str, float], every: int) -> bool:
    return step == 1 or step % every == 0 or "R@10" in values or "first_loss" in values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--where", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="+", metavar="COLLECTION/ARM")
    parser.add_argument("--results", type=Path, help="where to write the JSON; OUT/results.json where not given")
    options = parser.parse_args()
    where = dict(text.split("=", 1) for text in options.where)
    runs = planned(tomllib.loads(options.plan.read_text(encoding="utf-8")), where)
    if options.only:
        known = {name for run in runs for name in (run.name, run.collection)}
        if unknown := sorted(set(options.only) - known):
            parser.error(f"the plan does not have {', '.join(unknown)}")
        runs = [run for run in runs if run.name in options.only or run.collection in options.only]
    options.out.mkdir(parents=True, exist_ok=True)
    results = options.results or options.out / "results.json"
    found: dict[int, dict[str, Any]] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        begun = {pool.submit(perform, run, options.out, options.threads): at for at, run in enumerate(runs)}
        for done in as_completed(begun):
            found[begun[done]] = done.result()
            in_order = [found[at] for at in sorted(found)]
            results.write_text(json.dumps({"plan": options.plan.name, "runs": in_order}, indent=1) + "\n")
    if failed := [f"{one['collection']}/{one['arm']}" for one in found.values() if "failed" in one]:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
