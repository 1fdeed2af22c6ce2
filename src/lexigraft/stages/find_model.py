"""The model, or a part of one, that a path names: itself, or that of the run there."""

from collections.abc import Sequence
from pathlib import Path

from lexigraft.core.artifact import MANIFEST
from lexigraft.core.errors import ArtifactError
from lexigraft.stages.layout import RunFolder


def find_model(path: Path) -> Path:
    """`path` where that is a model, else the model of the run there: fine-tuned or, without one, pre-trained."""
    return find_part(path, ("finetuned", "pretrained")) or _no_model(path)


def find_part(path: Path, parts: Sequence[str]) -> Path | None:
    """`path` where that is an artifact, else the first of `parts` that the model of the run there has; None where that
    is nothing. Raises where the run has several models, and none of its own."""
    if (path / MANIFEST).is_file():
        return path
    homes = [*RunFolder(path).homes(), path]  # at last, the folder of one of those
    found = [next((home / part for part in parts if (home / part / MANIFEST).is_file()), None) for home in homes]
    there = [part for part in found if part is not None][: 1 if found[0] is not None else None]  # a run's own is meant
    if len(there) > 1:
        raise ArtifactError(f"the run at {path} has several models; name one of: {', '.join(map(str, there))}")
    return there[0] if there else None


def _no_model(path: Path) -> Path:
    raise ArtifactError(
        f"{path} is neither a model nor a run with one; train one: lexigraft finetune, or bring one in: lexigraft "
        "model import"
    )
