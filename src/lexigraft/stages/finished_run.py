"""A run as a whole: with which settings it is made, of which collection, and measured on what; one that has ended is
opened again."""

from dataclasses import dataclass
from pathlib import Path

from lexigraft.core.config import settings_from_dict
from lexigraft.core.errors import ArtifactError, InputError, LexigraftError, SettingError
from lexigraft.core.settings import Settings
from lexigraft.core.stored_record import as_expected
from lexigraft.core.systems import System, systems_of
from lexigraft.data.collection import Collection
from lexigraft.stages.cells import MeasuredOn
from lexigraft.stages.layout import CONTINUE, JUDGED, RunFolder
from lexigraft.stages.made import judged_split, measured_on, views_of
from lexigraft.stages.run_settings import read_settings

# Of runs from before there was a choice: they read words as they did.
FORMER_WORDS = {"fold_accents": False, "camel_case": "off"}


@dataclass(frozen=True)
class FinishedRun:
    """`collection` is the judged view; `split` is what the run measures, None where nothing is judged. `reported`: what
    its report measures, where that is another one, as of a run whose judged view was made."""

    folder: RunFolder
    source: str
    settings: Settings
    collection: Collection
    split: str | None
    reported: MeasuredOn | None = None

    def reported_on(self) -> MeasuredOn:
        """What the report measures; raises `InputError` where nothing is judged."""
        return self.reported or MeasuredOn(self.collection, self.measured_split())

    def measured_split(self) -> str:
        """The split that the run measures; raises `InputError` where nothing is judged."""
        if self.split is None:
            raise InputError(
                f"{self.collection.name} has no test or dev judgements, so nothing of {self.folder.root} is measured; "
                "add qrels/test.tsv, or name another split: lexigraft run --set data.split=NAME"
            )
        return self.split

    def systems(self) -> list[System]:
        """Its systems, in order, each with its settings."""
        return systems_of(self.settings)

    def system(self, name: str) -> System:
        """The one of that name."""
        return next(one for one in self.systems() if one.name == self.require_system(name))

    def require_system(self, system: str) -> str:
        """The name, which must be that of a system of the run."""
        if system not in self.settings.run.systems:
            present = ", ".join(self.settings.run.systems)
            raise ArtifactError(f"the run at {self.folder.root} has no system {system!r}; present: {present}")
        return system


def open_run(path: Path, data: str | None = None) -> FinishedRun:
    """The run at `path`, its collection where it says or, if it has moved, at `data`; raises where the run has not
    ended, or where its collection is not to be read."""
    folder = RunFolder(path)
    folder.ready()  # says what is missing
    source, stored = read_settings(folder)
    with as_expected(folder.settings, CONTINUE):
        try:
            settings = settings_from_dict({"words": FORMER_WORDS, **stored})
        except SettingError as error:
            raise ArtifactError(f"{folder.settings}: {error}; {CONTINUE}") from error
    try:
        views = views_of(data or source, settings, folder)
        split = judged_split(settings, views[JUDGED])
        reported = measured_on(settings, views, split)
    except LexigraftError as error:
        raise InputError(f"the collection of the run at {path} cannot be read: {error}") from error
    return FinishedRun(folder, source, settings, views[JUDGED], split, reported)
