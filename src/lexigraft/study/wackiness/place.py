"""The folder of one system in a study of wackiness: how artifacts are made or kept there."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest
from lexigraft.core.progress import Progress
from lexigraft.stages.ensure import Ensurer


@dataclass(frozen=True)
class Workplace:
    """`name` is that of the system, and what the log calls its artifacts by. `seed`: what decides them, 0 where
    nothing is drawn."""

    name: str
    folder: Path
    artifacts: Ensurer
    seed: int
    progress: Progress

    def ensure(
        self,
        name: str,
        kind: str,
        version: int,
        config: dict[str, Any],
        parents: dict[str, str],
        make: Callable[[Path], object],
    ) -> Path:
        """The folder of an artifact, made or kept."""
        path = self.folder / name
        wanted = Manifest(kind, version, config, parents, self.seed)
        self.artifacts.ensure("evaluate", f"{self.name}: {name}", path, wanted, make)
        return path
