"""What a report says of the models of a run beside what is measured: how much they read, and what their teachers are
worth."""

from collections.abc import Mapping, Sequence
from typing import Any

from lexigraft.core.systems import OWN_HOME, System
from lexigraft.stages.layout import JUDGED, RunFolder
from lexigraft.vectors import store as vectors_store


def read_of_documents(run: RunFolder, systems: Sequence[System]) -> dict[str, Mapping[str, Any]]:
    """What each model reads of the documents that are measured, as its vectors say."""
    models = (system.name for system in systems if system.is_model)
    return {name: vectors_store.read_meta(run.vectors(JUDGED, name)).encoding for name in models}


def worth_of_teachers(run: RunFolder, systems: Sequence[System]) -> dict[str, Any]:
    """What the teachers of the models are worth: of the run's own as "teacher", of others by name as "teachers"."""
    found: dict[str, Any] = {}
    for system in systems:
        if not system.is_model or not system.settings.teacher.trains:
            continue
        worth = run.of(system).teacher_quality()
        if system.home == OWN_HOME:
            found |= worth
        elif worth:
            found.setdefault("teachers", {})[system.name] = worth["teacher"]
    return found
