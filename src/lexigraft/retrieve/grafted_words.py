"""Finds what says where the words of a grafted index come from: the vectors that its run keeps."""

import logging
from pathlib import Path

from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.systems_table import BM25
from lexigraft.explain.origins import Origins
from lexigraft.grafted.stored import FACTS
from lexigraft.index.inverted import Index
from lexigraft.retrieve.place import Place
from lexigraft.stages.layout import RunFolder, lies_at

HOW = (
    "where words come from is known of a grafted system's index in its run alone, whose vectors say it: give --run RUN "
    "--system grafted"
)

log = logging.getLogger(__name__)


def open_origins(place: Place, index: Index) -> Origins | None:
    """None of an index that is not grafted, or was taken out of its run. Where the vectors cannot be read, or are
    others by now, a warning says so: that is no reason to explain nothing else."""
    found = _vectors_of(place)
    if found is None or not (found[0] / FACTS).is_file():
        return None
    try:
        origins = Origins(*found)
        origins.require_made_of(index, place.name)
    except ArtifactError as error:
        log.warning("where the words come from is not shown: %s", error)
        return None
    return origins


def require_origins(origins: Origins | None, name: str) -> Origins:
    if origins is None:
        raise InputError(f"{name}: {HOW}")
    return origins


def _vectors_of(place: Place) -> tuple[Path, Path] | None:
    """The vectors of the system that an index is of, and BM25's; None where it lies in no run."""
    if place.run is not None:
        return place.run.vectors(place.view, place.system), place.run.vectors(place.view, BM25)
    folder = place.index.absolute()
    if len(folder.parents) < 3 or not lies_at(RunFolder(folder.parents[2]).contents):
        return None
    run, (system, view) = RunFolder(folder.parents[2]), (parent.name for parent in folder.parents[:2])
    return run.vectors(view, system), run.vectors(view, BM25)
