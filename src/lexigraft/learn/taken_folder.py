"""A run's folder taken for a collection: what is there of another one is refused, or goes where that is asked for."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexigraft.core.errors import SettingError
from lexigraft.core.processes import is_leader
from lexigraft.core.settings import Settings
from lexigraft.core.systems import systems_of
from lexigraft.learn.training_data import training_files
from lexigraft.learn.usual_systems import with_systems
from lexigraft.stages.collect import PYDOCS, collected, source_description
from lexigraft.stages.layout import JUDGED, RunFolder
from lexigraft.stages.made import require_no_pairs_of_its_own
from lexigraft.stages.run_origin import empty, is_of_another, refusal, require_emptiable, sweep, write_origin

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TakenFolder:
    """`replace_other`: the run of another collection there is removed."""

    source: str
    folder: RunFolder
    settings: Settings
    replace_other: bool

    def description(self) -> dict[str, Any]:
        """What the collection is; read before anything is written, so that a bad source leaves no folder behind."""
        require_no_pairs_of_its_own(self.source, self.settings)
        description = source_description(self.source, self.settings.data)
        if Path(self.source).resolve() == self.folder.root.resolve():
            raise SettingError(
                f"--out {self.folder.root} is the collection itself; give a folder of its own for the run"
            )
        if is_leader():
            self._replaces(description)
        return description

    def take(self, description: dict[str, Any], trains: bool = False) -> None:
        """Note whose folder this is. What is there of another collection goes, after a look at what will be asked of
        the new one: nothing is lost to a wrong argument. `trains`: a model of it is made in any case."""
        if not is_leader():
            return
        if self._replaces(description):  # once more: before there was a lock, another process may have begun
            self._require_enough(trains)
            log.warning("%s: the run of another collection is removed, as --replace asks", self.folder.root)
            empty(self.folder)
        sweep(self.folder)
        write_origin(self.folder, self.source)

    def _replaces(self, description: dict[str, Any]) -> bool:
        """Whether the folder holds the run of another collection; raises where that may not go, or cannot."""
        if not is_of_another(self.folder, self.source, description):
            return False
        if not self.replace_other:
            raise refusal(self.folder)
        require_emptiable(self.folder)
        return True

    def _require_enough(self, trains: bool) -> None:
        """Raise where the new collection has not what the settings ask of it."""
        if self.source == PYDOCS:
            return
        given = collected(self.source, self.settings.data, self.folder.collection)[JUDGED]
        given.evaluation_split(self.settings.data.split)
        systems = systems_of(with_systems(self.settings, given))
        if not self.settings.data.makes_pairs and (trains or any(one.learns for one in systems)):
            training_files(given)
