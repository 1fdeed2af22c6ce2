"""What every training is given besides what it learns from."""

from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.progress import Progress


class TrainingJob(NamedTuple):
    """`recipe` names everything the weights depend on. What is half done lies at and beside `checkpoint`, where a call
    that was stopped is continued; `folder` receives the model."""

    seed: int
    recipe: dict[str, Any]
    progress: Progress
    checkpoint: Path
    folder: Path
