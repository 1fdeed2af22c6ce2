"""The first stage: a collection made ready to be read, and its views."""

import logging
import shutil
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.installing import install_pinned
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import DataSettings
from lexigraft.data import pydocs
from lexigraft.data.collection import Collection, open_collection
from lexigraft.data.judged_packages import JudgedPackages, judged_packages
from lexigraft.data.readers.standard_input import SPOOLED, STANDARD_INPUT, standard_input
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source
from lexigraft.data.write import write_collection
from lexigraft.stages.layout import FULL, JUDGED

PYDOCS = "pydocs"

log = logging.getLogger(__name__)


def source_description(source: str, settings: DataSettings) -> dict[str, Any]:
    """What a collection depends on: file hashes, or for pydocs the packages that its views are made of, with their
    versions; the judged view depends on those under "judged" alone."""
    if source != PYDOCS:
        return open_source(source, reading(settings)).description()
    limited = {} if settings.packages else {"judged": judged_packages().versions}
    return {
        "source": PYDOCS, "packages": list(settings.packages), **limited, "installed": pydocs.installed_packages()
    }  # fmt: skip


def reading(settings: DataSettings) -> Reading:
    """How the collection itself is read."""
    return Reading(
        settings.on_duplicate, settings.on_bad_bytes, settings.fields, settings.format, settings.queries, settings.qrels
    )


def reading_of_others(settings: DataSettings) -> Reading:
    """How a collection beside it is read, such as more texts to pre-train on: its fields are its own."""
    return Reading(settings.on_duplicate, settings.on_bad_bytes)


def collect(source: str, settings: DataSettings, folder: Path, progress: Progress = SILENT) -> None:
    """Make a collection ready to be read: pydocs is written out in BEIR layout, and standard input copied; any other is
    read where it is, and the manifest with its files' hashes is all that stays of it."""
    if source == STANDARD_INPUT:
        shutil.copyfile(standard_input(), folder / SPOOLED)
    if source != PYDOCS:
        return
    named = judged_packages()
    if not settings.packages:
        _say_what_is_missing(named)
    files = pydocs.source_files(settings.packages)
    measured = pydocs.read_objects(files.judged, settings.processes, progress)
    if not measured:
        raise InputError("no documented Python object was found; set data.packages to packages with docstrings")
    searched = pydocs.distinct_objects([*measured, *pydocs.read_objects(files.others, settings.processes, progress)])
    judged = pydocs.judged_view(measured)
    write_collection(folder / JUDGED, judged.documents, judged.queries, judged.qrels)
    write_collection(folder / FULL, pydocs.full_view(searched))
    counts = {
        "files": len(files.judged) + len(files.others), "objects": len(searched), "pairs": len(judged.documents),
        "dropped": judged.dropped,
    }  # fmt: skip
    limited = {} if settings.packages else {"judged_packages": named.versions, "missing_packages": named.missing}
    write_json(folder / "collection.json", {**counts, **limited})


def _say_what_is_missing(named: JudgedPackages) -> None:
    if named.missing:
        log.warning(
            "pydocs: %d of the %d packages that its judged view is made of are not installed (%s): what is measured "
            "compares only with runs that have the same ones; for all: %s",
            len(named.missing), len(named.missing) + len(named.present), ", ".join(named.missing),
            install_pinned("train"),
        )  # fmt: skip


def collected(source: str, settings: DataSettings, folder: Path) -> dict[str, Collection]:
    """The views of what `collect` left in `folder`, by name."""
    if source == STANDARD_INPUT and (folder / SPOOLED).is_file():
        return {JUDGED: open_collection(folder / SPOOLED, reading(settings))}
    if source != PYDOCS:
        return {JUDGED: open_source(source, reading(settings))}
    return {view: open_collection(folder / view, reading(settings)) for view in (FULL, JUDGED)}
