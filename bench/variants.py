"""Variants of a run trained side by side on one GPU: what each addition is worth by itself, as JSON.

    python -m bench.variants bench/ceiling/plan.toml --data DIR --backbone DIR --work WORK --out FILE.json --jobs 14

A plan (TOML) has `[collections.NAME]` with `folder`, `config` and settings of its own, and `[variants.NAME]`, each one
system:

    settings    what the system says, as section.key=value; {seed} in them is the seed
    teachers    other variants of the same collection and seed that it learns from: they are trained first
    collections, seeds    those that it is trained for; all that the plan has where it says nothing

    shares      a variant whose pre-training it begins with

Every variant is a `lexigraft run` with BM25, its teachers and itself, in a folder of its own. Teachers are copied from
where they were trained, so that nothing is trained twice. What has ended when --minutes are over is in the result, with
the reciprocal ranks of every query; a later call with the same --work continues.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MODEL_PARTS = ("vocabulary", "backbone", "mlm", "mlm-second", "pretrained")
SHARED_PARTS = ("collection", "models", "judged", "source.json")
PAUSE = 1.0


@dataclass
class Variant:
    """One training. `shares`: the variant whose pre-training it begins with, empty where it makes its own."""

    name: str
    collection: str
    seed: int
    settings: list[str]
    teachers: list[str] = field(default_factory=list)
    shares: str = ""
    state: str = "waiting"
    seconds: float = 0.0

    @property
    def folder(self) -> str:
        return f"{self.collection}-{self.seed}-{self.name}"


def read_plan(path: Path) -> tuple[dict[str, Any], list[Variant]]:
    """The collections by name, and all trainings in the order of the plan, seed by seed."""
    plan = tomllib.loads(path.read_text(encoding="utf-8"))
    collections, found = plan["collections"], []
    for seed in plan["seeds"]:
        for name, said in plan["variants"].items():
            for collection in said.get("collections", collections):
                if seed in said.get("seeds", plan["seeds"]):
                    own = [*said.get("settings", []), *said.get(collection, [])]
                    own = [one.replace("{seed}", str(seed)) for one in own]
                    teachers, shares = said.get("teachers", []), said.get("shares", "")
                    found.append(Variant(name, collection, seed, own, teachers, shares))
    return collections, found


class Trainings:
    """Trains what a plan has, as many at once as there are `jobs`, each when its teachers are there."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.collections, self.variants = read_plan(options.plan)
        self.by_folder = {one.folder: one for one in self.variants}
        self.running: dict[str, tuple[subprocess.Popen[bytes], float]] = {}
        options.work.mkdir(parents=True, exist_ok=True)
        for one in self.variants:
            if (options.work / one.folder / "report.json").is_file():
                one.state = "done"

    def run(self) -> None:
        until = time.monotonic() + 60 * self.options.minutes
        while time.monotonic() < until:
            self.see_what_ended()
            waiting = [one for one in self.variants if one.state == "waiting" and self.is_ready(one)]
            for one in waiting[: self.options.jobs - len(self.running)]:
                self.start(one)
            if not self.running and not waiting:
                return
            time.sleep(PAUSE)
        for process, _ in self.running.values():
            process.kill()

    def of(self, variant: Variant, name: str) -> Variant:
        """Another variant of the same collection and seed."""
        return self.by_folder[f"{variant.collection}-{variant.seed}-{name}"]

    def is_ready(self, variant: Variant) -> bool:
        if any(self.of(variant, name).state != "done" for name in variant.teachers):
            return False
        return not variant.shares or (self.pretrained(variant) / "pretrained" / "manifest.json").is_file()

    def pretrained(self, variant: Variant) -> Path:
        """Where the pre-training lies that a variant begins with."""
        folder: Path = self.options.work / self.of(variant, variant.shares).folder / "models" / variant.shares
        return folder

    def start(self, variant: Variant) -> None:
        folder = self.options.work / variant.folder
        folder.mkdir(exist_ok=True)
        for name in variant.teachers:
            lay_together(self.options.work / self.of(variant, name).folder, folder, SHARED_PARTS)
        if variant.shares and not (folder / "models" / variant.name / "pretrained").is_dir():
            lay_together(
                self.options.work / self.of(variant, variant.shares).folder, folder, ("collection", "source.json")
            )
            lay_together(self.pretrained(variant), folder / "models" / variant.name, MODEL_PARTS)
        with (self.options.work / f"{variant.folder}.log").open("ab") as log:
            process = subprocess.Popen(self.command(variant, folder), stdout=log, stderr=log)
        self.running[variant.folder] = process, time.monotonic()
        variant.state = "running"
        print(f"start {variant.folder}", flush=True)

    def command(self, variant: Variant, folder: Path) -> list[str]:
        said = self.collections[variant.collection]
        named = [*variant.teachers, variant.name]
        settings = [
            f"model.backbone={self.options.backbone}", f"run.seed={variant.seed}", *said.get("settings", []),
            f"run.systems={json.dumps(['bm25', *named])}",
        ]  # fmt: skip
        for name in named:
            settings += [f"systems.{name}.{one}" for one in self.of(variant, name).settings]
            if taught := self.of(variant, name).teachers:
                settings.append(f"systems.{name}.finetune.teachers={json.dumps(taught)}")
            elif not self.of(variant, name).settings:
                settings.append(f"systems.{name}.finetune.tensorboard=")  # a table must say something
        files = ["--recipe", self.options.recipe, "--config", said["config"]]
        data = str(self.options.data / said["folder"])
        changes = [part for one in settings for part in ("--set", one)]
        return [sys.executable, "-m", "lexigraft", "run", *files, "--data", data, "--out", str(folder), *changes]

    def see_what_ended(self) -> None:
        for folder, (process, since) in list(self.running.items()):
            if process.poll() is None:
                continue
            one = self.by_folder[folder]
            one.state, one.seconds = "failed" if process.returncode else "done", time.monotonic() - since
            del self.running[folder]
            print(f"{one.state} {folder} {one.seconds:.0f} s", flush=True)
            if one.state == "failed":
                print((self.options.work / f"{folder}.log").read_text()[-1500:], flush=True)

    def results(self) -> list[dict[str, Any]]:
        return [measured(one, self.options.work / one.folder) for one in self.variants if one.state == "done"]


def lay_together(source: Path, target: Path, parts: tuple[str, ...]) -> None:
    """Copy what there is of `parts` into `target`, beside what is there."""
    target.mkdir(parents=True, exist_ok=True)
    for part in parts:
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, dirs_exist_ok=True)
        elif (source / part).is_file():
            shutil.copy(source / part, target / part)


def measured(variant: Variant, folder: Path) -> dict[str, Any]:
    """What a variant and BM25 are worth on the measured queries, and the (qk, dk) that validation chose."""
    points = json.loads((folder / "operating_points.json").read_text())
    found: dict[str, Any] = {
        "variant": variant.name, "collection": variant.collection, "seed": variant.seed, "teachers": variant.teachers,
        "settings": variant.settings, "seconds": round(variant.seconds), "point": points.get(variant.name),
    }  # fmt: skip
    for system in ("bm25", variant.name):
        rows = []
        for place in sorted((folder / "judged" / system).glob("evaluation-*")):
            if not (place / "per_query.json").is_file():
                continue
            ranks = json.loads((place / "per_query.json").read_text())["MRR@10"]
            row = json.loads((place / "row.json").read_text())
            rows.append({**row, "RR": [round(ranks[query], 4) for query in sorted(ranks)]})
        found["bm25" if system == "bm25" else "rows"] = rows
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="folder with the collections")
    parser.add_argument("--backbone", required=True)
    parser.add_argument("--work", type=Path, required=True, help="where the runs lie")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--recipe", default="bench/cost/every.toml")
    parser.add_argument("--jobs", type=int, default=12)
    parser.add_argument("--minutes", type=float, default=600.0)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    trainings = Trainings(options)
    trainings.run()
    options.out.write_text(json.dumps(trainings.results(), indent=1))


if __name__ == "__main__":
    main()
