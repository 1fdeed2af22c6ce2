"""Where a run keeps what: the only place that knows the names of the folders under RUN.

RUN/collection/                     what was read (for pydocs: the two views in BEIR layout)
RUN/model/{vocabulary,pretrained,finetuned}/    the learned model; *-checkpoint/ while it trains, backbone/ from scratch
RUN/model/{mlm,mlm-second}/         its backbone, trained as a masked language model on one corpus, then on a second
RUN/model/teacher/{negatives,model,scores,quality}/    a cross-encoder: what it learns from, itself, what it says
RUN/model/{tilde,expansions[-VIEW]}/    what expands documents, and what it adds to them; *-unfinished/ on the way
RUN/VIEW/SYSTEM/vectors/            document vectors
RUN/VIEW/SYSTEM/index[-dkN]/        their index, pruned to N terms a document
RUN/VIEW/metadata/                  what filters read, of any system's documents; INDEX.metadata/ beside a lone index
RUN/judged/SYSTEM/evaluation-qkN-dkM/    run.trec, per-query measures, the report row
RUN/judged/SYSTEM/validation-qkN-dkM/    the same setting on queries that nothing is reported of
RUN/report.json report.md report.png
RUN/run.json                        which views and systems the run has now; what else lies there is of former calls
RUN/operating_points.json           the (qk, dk) that each system is searched with, and why
RUN/settings.json timings.json
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import MANIFEST, write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.lock import lock_file

JUDGED, FULL = "judged", "full"
MODEL = "esplade"
QUALITY = "quality.json"


def find_model(path: Path) -> Path:
    """`path` where that is a model, else the model of the run there: fine-tuned or, without one, pre-trained."""
    if (path / MANIFEST).is_file():
        return path
    parts = [RunFolder(path).model(part) for part in ("finetuned", "pretrained")]
    found = next((part for part in parts if (part / MANIFEST).is_file()), None)
    if found is None:
        raise ArtifactError(
            f"{path} is neither a model nor a run with one; train one: lexigraft finetune, or bring one in: lexigraft "
            "model import"
        )
    return found


@dataclass(frozen=True)
class RunFolder:
    root: Path

    @property
    def collection(self) -> Path:
        return self.root / "collection"

    def model(self, part: str) -> Path:
        return self.root / "model" / part

    def teacher(self, part: str) -> Path:
        return self.model("teacher") / part

    def teacher_quality(self) -> dict[str, dict[str, Any]]:
        """What the run's teacher is worth, as {"teacher": ...}; empty where it was not measured."""
        file = self.teacher("quality") / QUALITY
        return {"teacher": json.loads(file.read_text(encoding="utf-8"))} if file.is_file() else {}

    @property
    def contents(self) -> Path:
        return self.root / "run.json"

    @property
    def settings(self) -> Path:
        return self.root / "settings.json"

    @property
    def operating_points(self) -> Path:
        return self.root / "operating_points.json"

    @property
    def timings(self) -> Path:
        return self.root / "timings.json"

    def report(self, suffix: str) -> Path:
        return self.root / f"report.{suffix}"

    def vectors(self, view: str, system: str) -> Path:
        return self.root / view / system / "vectors"

    def index(self, view: str, system: str, keep: int) -> Path:
        return self.root / view / system / (f"index-dk{keep}" if keep else "index")

    def metadata(self, view: str) -> Path:
        return self.root / view / "metadata"

    def evaluation(self, system: str, qk: int, dk: int) -> Path:
        return self.root / JUDGED / system / f"evaluation-qk{qk}-dk{dk}"

    def validation(self, system: str, qk: int, dk: int) -> Path:
        return self.root / JUDGED / system / f"validation-qk{qk}-dk{dk}"

    def in_the_way(self) -> str | None:
        """The name of a file that a run would overwrite in a folder where none has run before."""
        if lock_file(self.root).exists():
            return None
        own = (self.contents, self.settings, self.timings, self.operating_points)
        written = (*own, *map(self.report, ("json", "md", "png")))
        return next((file.name for file in written if file.exists()), None)

    def write_contents(self, views: Iterable[str], systems: Iterable[str]) -> None:
        write_json(self.contents, {"views": list(views), "systems": list(systems)})

    def searchable_index(self, system: str | None) -> Path:
        """The index a person searches: that of the first view. None: the learned model if it is ready, else the run's
        first system that is."""
        view, name = self.searchable(system)
        return self.index(view, name, 0)

    def searchable(self, system: str | None) -> tuple[str, str]:
        """(view, system) of the same."""
        if not self.root.is_dir():
            remedy = f"make one with: lexigraft quickstart, or: lexigraft run --data DIR --out {self.root}"
            raise ArtifactError(f"there is no run at {self.root}; {remedy}")
        try:
            contents = json.loads(self.contents.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            contents = {"views": [], "systems": []}
        ready = {
            name: view
            for name in contents["systems"]
            for view in contents["views"][:1]
            if self.index(view, name, 0).is_dir()
        }
        if not ready:
            raise ArtifactError(f"the run at {self.root} has no index yet; continue it with the command that began it")
        if system is not None and system not in ready:
            raise ArtifactError(f"the run at {self.root} has no system {system!r}; present: {', '.join(ready)}")
        chosen = system or (MODEL if MODEL in ready else next(iter(ready)))
        return ready[chosen], chosen
