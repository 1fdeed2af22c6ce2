"""One training of a run: kept, continued from its checkpoint, or begun."""

import shutil
from collections.abc import Callable
from pathlib import Path

from lexigraft.core.artifact import Manifest
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.layout import RunFolder


def ensure_trained(
    artifacts: Ensurer,
    folder: RunFolder,
    stage: str,
    part: str,
    wanted: Manifest,
    make: Callable[[Path, Path], None],
    label: str = "",
) -> Manifest:
    """The manifest of the model `part`, made where it is missing: `make` gets the checkpoint's folder and the one to
    fill. A checkpoint has the recipe of the model that it is on the way to; no other is continued."""
    label = label or stage
    checkpoint = folder.model(f"{label}-checkpoint")
    if artifacts.is_forced(stage):
        for begun in (checkpoint, folder.model(f"{label}-alpha")):
            shutil.rmtree(begun, ignore_errors=True)
    return artifacts.ensure(stage, label, folder.model(part), wanted, lambda out: make(checkpoint, out), together=True)
