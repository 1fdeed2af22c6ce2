"""The first stage: a collection made ready to be read, and its views."""

from pathlib import Path
from typing import Any

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import DataSettings
from lexigraft.data import pydocs
from lexigraft.data.collection import Collection, Reading, open_collection
from lexigraft.data.sources import open_source
from lexigraft.data.write import write_collection
from lexigraft.stages.layout import FULL, JUDGED

PYDOCS = "pydocs"


def source_description(source: str, settings: DataSettings) -> dict[str, Any]:
    """What a collection depends on: file hashes, or for pydocs the installed packages and their versions."""
    if source == PYDOCS:
        return {"source": PYDOCS, "packages": list(settings.packages), "installed": pydocs.installed_packages()}
    return open_source(source, reading(settings)).description()


def reading(settings: DataSettings) -> Reading:
    return Reading(settings.on_duplicate, settings.on_bad_bytes)


def collect(source: str, settings: DataSettings, folder: Path, progress: Progress = SILENT) -> None:
    """Make a collection ready to be read: pydocs is written out in BEIR layout; any other is read where it is, and the
    manifest with its files' hashes is all that stays of it."""
    if source != PYDOCS:
        return
    files = pydocs.source_files(settings.packages)
    objects = pydocs.read_objects(files, settings.processes, progress)
    if not objects:
        raise InputError("no documented Python object was found; set data.packages to packages with docstrings")
    judged = pydocs.judged_view(objects)
    write_collection(folder / JUDGED, judged.documents, judged.queries, judged.qrels)
    write_collection(folder / FULL, pydocs.full_view(objects))
    write_json(
        folder / "collection.json",
        {"files": len(files), "objects": len(objects), "pairs": len(judged.documents), "dropped": judged.dropped},
    )


def collected(source: str, settings: DataSettings, folder: Path) -> dict[str, Collection]:
    """The views of what `collect` left in `folder`, by name."""
    if source != PYDOCS:
        return {JUDGED: open_source(source, reading(settings))}
    return {view: open_collection(folder / view, reading(settings)) for view in (FULL, JUDGED)}
