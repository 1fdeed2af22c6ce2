"""Variants of a run trained side by side on one GPU: what each addition is worth by itself, as JSON.

    python -m bench.variants bench/ceiling/plan.toml --data DIR --backbone DIR --work WORK --out FILE.json --jobs 14

A plan (TOML) has `[collections.NAME]` with `folder`, `config` and settings of its own, and `[variants.NAME]`, each one
system:

    settings    what the system says, as section.key=value; {seed} in them is the seed
    teachers    other variants of the same collection and seed that it learns from: they are trained first
    beside      others that its run has, too, which it does not learn from: a hybrid's parts
    shares      a variant whose pre-training it begins with
    backbone    one of `[backbones.NAME]`, which has gone on as a masked language model; {collection} in it is that
    collections, seeds    those that it is trained for; all that the plan has where it says nothing
    last        1, 2, …: begun when nothing is ready that says less; 0 where it says nothing

`[backbones.NAME]` has `texts` (a name in --data), `steps`, `options` of `lexigraft model mlm`, and `begins`, another of
them that it goes on from. All seeds share it.

Every variant is a `lexigraft run` with BM25, its teachers and itself, in a folder of its own. Teachers are copied from
where they were trained, so that nothing is trained twice. What fails, for want of memory for example, is tried twice
more, when another training has ended. What has ended when --minutes are over is in the result, with the reciprocal
ranks of every query; a later call with the same --work continues. --skip leaves trainings out by the names of their
folders, COLLECTION-SEED-VARIANT. `bench.variant_table` makes a table of results.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.variant_plan import Backbone, Variant, read_plan

MODEL_PARTS = ("vocabulary", "backbone", "mlm", "mlm-second", "pretrained")
SHARED_PARTS = ("collection", "models", "judged", "source.json")
PAUSE = 1.0
MOST_FAILURES = 3


class Trainings:
    """Trains what a plan has, as many at once as there are `jobs`, each when its teachers are there."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.plan = read_plan(options.plan)
        wanted = [one for one in self.plan.variants if one.folder not in options.skip]
        needed = {one.backbone for one in wanted}
        needed |= {one.begins for one in self.plan.backbones if one.name in needed}
        backbones = [one for one in self.plan.backbones if one.name in needed]
        self.jobs: list[Backbone | Variant] = [*backbones, *wanted]
        self.by_folder = {one.folder: one for one in self.plan.variants}
        self.running: dict[str, tuple[Backbone | Variant, subprocess.Popen[bytes], float]] = {}
        options.work.mkdir(parents=True, exist_ok=True)
        for one in self.jobs:
            written = "config.json" if isinstance(one, Backbone) else "report.json"
            if (options.work / one.folder / written).is_file():
                one.state = "done"

    def run(self) -> None:
        until = time.monotonic() + 60 * self.options.minutes
        while time.monotonic() < until:
            self.see_what_ended()
            waiting = [one for one in self.jobs if one.state == "waiting" and self.is_ready(one)]
            for one in waiting[: self.options.jobs - len(self.running)]:
                self.start(one)
            if not self.running and not waiting:
                return
            time.sleep(PAUSE)
        for _, process, _ in self.running.values():
            process.kill()

    def of(self, variant: Variant, name: str) -> Variant:
        """Another variant of the same collection and seed."""
        return self.by_folder[f"{variant.collection}-{variant.seed}-{name}"]

    def is_ready(self, job: Backbone | Variant) -> bool:
        needed = job.begins if isinstance(job, Backbone) else job.backbone
        if any(one.name == needed and one.state != "done" for one in self.plan.backbones):
            return False
        if isinstance(job, Backbone):
            return True
        if any(self.of(job, name).state != "done" for name in job.before):
            return False
        return not job.shares or (self.pretrained(job) / "pretrained" / "manifest.json").is_file()

    def pretrained(self, variant: Variant) -> Path:
        """Where the pre-training lies that a variant begins with."""
        folder: Path = self.options.work / self.of(variant, variant.shares).folder / "models" / variant.shares
        return folder

    def start(self, job: Backbone | Variant) -> None:
        folder = self.options.work / job.folder
        if isinstance(job, Variant):
            self.lay_beside(job, folder)
        command = self.backbone_command(job) if isinstance(job, Backbone) else self.command(job, folder)
        with (self.options.work / f"{job.folder}.log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        self.running[job.folder] = job, process, time.monotonic()
        job.state = "running"
        print(f"start {job.folder}", flush=True)

    def lay_beside(self, variant: Variant, folder: Path) -> None:
        """Copy what a variant needs of others into its folder."""
        folder.mkdir(exist_ok=True)
        for name in variant.before:
            lay_together(self.options.work / self.of(variant, name).folder, folder, SHARED_PARTS)
        if variant.shares and not (folder / "models" / variant.name / "pretrained").is_dir():
            sharing = self.options.work / self.of(variant, variant.shares).folder
            lay_together(sharing, folder, ("collection", "source.json"))
            lay_together(self.pretrained(variant), folder / "models" / variant.name, MODEL_PARTS)

    def backbone_path(self, name: str) -> str:
        """The backbone of a name in the plan; that of the command line without one."""
        return str(self.options.work / f"backbone-{name}") if name else self.options.backbone

    def backbone_command(self, backbone: Backbone) -> list[str]:
        return [
            sys.executable, "-m", "lexigraft", "model", "mlm", "--backbone", self.backbone_path(backbone.begins),
            "--texts", str(self.options.data / backbone.texts), "--steps", str(backbone.steps), *backbone.options,
            "--out", str(self.options.work / backbone.folder),
        ]  # fmt: skip

    def command(self, variant: Variant, folder: Path) -> list[str]:
        said = self.plan.collections[variant.collection]
        named = [*variant.before, variant.name]
        settings = [
            f"model.backbone={self.options.backbone}", f"run.seed={variant.seed}", *said.get("settings", []),
            f"run.systems={json.dumps(['bm25', *named])}",
        ]  # fmt: skip
        for name in named:
            settings += [f"systems.{name}.{one}" for one in self.said_of(self.of(variant, name))]
        files = ["--recipe", self.options.recipe, "--config", said["config"]]
        data = str(self.options.data / said["folder"])
        changes = [part for one in settings for part in ("--set", one)]
        return [sys.executable, "-m", "lexigraft", "run", *files, "--data", data, "--out", str(folder), *changes]

    def said_of(self, variant: Variant) -> list[str]:
        """What the table of a variant's system says."""
        said = list(variant.settings)
        if variant.backbone:
            said.append(f"model.backbone={self.backbone_path(variant.backbone)}")
        if variant.teachers:
            said.append(f"finetune.teachers={json.dumps(variant.teachers)}")
        return said or ["finetune.tensorboard="]  # a table must say something

    def see_what_ended(self) -> None:
        for folder, (job, process, since) in list(self.running.items()):
            if process.poll() is None:
                continue
            job.state, job.seconds = "failed" if process.returncode else "done", time.monotonic() - since
            del self.running[folder]
            print(f"{job.state} {folder} {job.seconds:.0f} s", flush=True)
            if job.state == "failed":
                print((self.options.work / f"{folder}.log").read_text()[-1000:], flush=True)
                job.failures += 1
            else:
                self.try_again()

    def try_again(self) -> None:
        for one in self.jobs:
            if one.state == "failed" and one.failures < MOST_FAILURES:
                one.state = "waiting"

    def results(self) -> list[dict[str, Any]]:
        return [measured(one, self.options.work / one.folder) for one in self.plan.variants if one.state == "done"]


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
        "settings": variant.settings, "backbone": variant.backbone, "seconds": round(variant.seconds),
        "point": points.get(variant.name),
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
    parser.add_argument("--skip", nargs="*", default=[], metavar="COLLECTION-SEED-VARIANT")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    trainings = Trainings(options)
    trainings.run()
    options.out.write_text(json.dumps(trainings.results(), indent=1))


if __name__ == "__main__":
    main()
