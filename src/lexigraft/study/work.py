"""The work of one process: an arm of a study on a collection with a seed, at every weight that is not done yet.

    python -m lexigraft.study.work STUDY --scale gpu --data DIR --do ARM:SEED [...] --out OUT

All weights of an arm and seed share a run folder, OUT/work/COLLECTION--ARM--sSEED, and so its vocabulary and
pre-training. It is removed when the last weight is done; what is left is a JSON file a weight.
"""

import argparse
import logging
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core import stopping
from lexigraft.core.config import load_settings
from lexigraft.core.errors import MissingExtraError
from lexigraft.core.resources import measured
from lexigraft.core.settings import AUTO
from lexigraft.core.stopping import StoppedError
from lexigraft.stages.finished_run import open_run
from lexigraft.study.design import Arm, Study
from lexigraft.study.finished import Finished, Point, Training, file_of, read_finished, write_finished
from lexigraft.study.looks import Looked, look
from lexigraft.study.papers import STUDIES
from lexigraft.study.points import Measured, measure_points
from lexigraft.study.regime import TINY, Scale, lengths_of, plan_of, scale_of, shared_settings
from lexigraft.train.loop import TrainingError
from lexigraft.whole_run import run

log = logging.getLogger(__name__)

NOTHING_FOUND = Measured("", Point(0, 0, 0.0, 0.0, 0.0, 0.0, ""), {})  # by a training that no model came of


class Times(float):
    """A number whose format is what it is multiplied by: `{steps:2.5}`."""

    def __format__(self, times: str) -> str:
        return str(round(self * float(times or 1)))


class Work(NamedTuple):
    """What a process is asked for. `given` are settings of the person who runs the study; they come last."""

    study: Study
    scale: Scale
    data: str
    arm: Arm
    seed: int
    out: Path
    backbone: str = ""
    general: str = ""
    tokenizer: str = ""
    others: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    @property
    def collection(self) -> str:
        return Path(self.data).name

    @property
    def folder(self) -> Path:
        return self.out / "work" / f"{self.collection}--{self.arm.name}--s{self.seed}"

    @property
    def options(self) -> list[str]:
        """What else a command says, of a study as of its work."""
        said = [("--scale", self.scale.name), ("--data", self.data), ("--out", str(self.out))]
        said += [("--backbone", self.backbone), ("--general", self.general), ("--tokenizer", self.tokenizer)]
        said += [("--other", other) for other in self.others] + [("--set", setting) for setting in self.given]
        return [part for name, value in said if value for part in (name, value)]

    def trainings(self) -> list[Training]:
        weights: Sequence[float | None] = self.scale.some(self.arm.weights) or (None,)
        return [Training(self.collection, self.arm.name, weight, self.seed) for weight in weights]

    def unfinished(self) -> list[Training]:
        return [one for one in self.trainings() if not self._is_done(one)]

    def _is_done(self, training: Training) -> bool:
        """Whether it was trained by today's plan: by a former one, it is trained again."""
        path = file_of(self.out, training)
        return path.is_file() and read_finished(path).made_by.get("plan") == plan_of(self.study, self.arm, self.scale)

    def settings(self, training: Training) -> list[str]:
        """Those of a training, in the order in which later ones win."""
        lengths = lengths_of(self.data)
        shared = shared_settings(self.scale, lengths)
        swept = [] if training.weight is None else [f"{self.study.swept}={training.weight:g}"]
        steps = self.scale.pretrain_steps
        named = {
            "general": self.general,
            "backbone": self.backbone or AUTO,
            "tokenizer": self.tokenizer or usual_tokenizer(),
        }
        counted = {
            "pretrain": Times(steps),
            "finetune": Times(self.scale.finetune_steps),
            "records": Times(steps * self.scale.batch(lengths)),
        }
        own = [setting.format(**named, **counted) for setting in (*self.study.settings, *self.arm.settings)]
        # The scale of seconds begins from nothing, and so do studies that say so themselves.
        begun = [f"model.backbone={self.backbone}"] if self.backbone and self.scale.name != TINY else []
        return [*shared, *begun, *own, *self.scale.last, *swept, f"run.seed={self.seed}", *self.given]


def perform(work: Work) -> None:
    """Train and measure what is not done yet; each training is kept when it is done."""
    for training in work.unfinished():
        log.info("%s", training.name)
        write_finished(work.out, _finished(work, training))
    shutil.rmtree(work.folder, ignore_errors=True)


def _finished(work: Work, training: Training) -> Finished:
    settings, collapsed, looks = work.settings(training), "", {}
    with measured() as usage:
        try:
            run(work.data, work.folder, load_settings(None, settings))
            opened = open_run(work.folder)
            found = measure_points(opened, work.study)
            looks = look(Looked(opened, work.study, work.others), work.arm.looks)
        except TrainingError as error:
            collapsed, found = str(error), NOTHING_FOUND
    made_by = {
        "settings": settings, "plan": plan_of(work.study, work.arm, work.scale), "command": _command(work),
        "commit": commit(), "device": device(),
        "versions": versions(), "seconds": round(usage.seconds, 1), "memory_mib": round(usage.peak_rss_mib),
        "gpu_memory_mib": gpu_memory_mib(),
    }  # fmt: skip
    return Finished(
        work.study.name, work.scale.name, training, found.queries, found.bm25, found.points, looks, collapsed, made_by
    )


def _command(work: Work) -> str:
    asked = ["lexigraft", "study", work.study.name, "--arms", work.arm.name, "--seeds", str(work.seed)]
    return shlex.join([*asked, *work.options])


def usual_tokenizer() -> str:
    """BERT's tokenizer, as the packaged encoder has it; empty where that is not installed."""
    from lexigraft.model.backbone import embedded_folder

    try:
        return str(embedded_folder())
    except MissingExtraError:
        return ""


def commit() -> str:
    """That of the source tree this runs from, or LEXIGRAFT_COMMIT where the tree has no history; else empty."""
    here = Path(__file__).parent
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=False)
    return asked.stdout.strip() or os.environ.get("LEXIGRAFT_COMMIT", "")


def device() -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"{platform.machine()}, no GPU"


def gpu_memory_mib() -> int:
    import torch

    return round(torch.cuda.max_memory_allocated() / 2**20) if torch.cuda.is_available() else 0


def versions() -> dict[str, Any]:
    import torch
    import transformers

    from lexigraft import __version__

    return {"lexigraft": __version__, "torch": torch.__version__, "transformers": transformers.__version__,
            "python": platform.python_version()}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=list(STUDIES))
    parser.add_argument("--scale", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--do", required=True, nargs="+", metavar="ARM:SEED")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--backbone", default="")
    parser.add_argument("--general", default="")
    parser.add_argument("--tokenizer", default="")
    parser.add_argument("--other", action="append", default=[], dest="others")
    parser.add_argument("--set", action="append", default=[], dest="given")
    options = parser.parse_args(arguments)
    study = STUDIES[options.study]
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    others, given = tuple(options.others), tuple(options.given)
    found = options.backbone, options.general, options.tokenizer
    stopping.listen()
    for arm, _, seed in (asked.rpartition(":") for asked in options.do):
        where = options.data, study.arm(arm), int(seed), options.out
        try:
            perform(Work(study, scale_of(options.scale), *where, *found, others, given))
        except StoppedError as stopped:
            sys.exit(str(stopped))


if __name__ == "__main__":
    main()
