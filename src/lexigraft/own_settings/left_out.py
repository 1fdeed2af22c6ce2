"""Systems that are left out of a run for want of time: by name, with why, and never one that nothing else could be."""

import logging
from collections.abc import Iterable
from dataclasses import replace

from lexigraft.core.settings import BLEND, Settings
from lexigraft.core.systems import systems_of
from lexigraft.core.systems_table import DENSE, HYBRID
from lexigraft.own_settings.choice import Choice
from lexigraft.own_settings.given_time import GivenTime

ABOUT = "left out"

log = logging.getLogger(__name__)


def left_out(settings: Settings, time: GivenTime, names: Iterable[str], why: str) -> tuple[Settings, Choice] | None:
    """The settings without these systems and those that are made of them, and the line that says so; None where nothing
    would be left that searches terms."""
    systems, gone = systems_of(settings), set(names)
    if not any(one.asks_by_words for one in systems if one.name not in gone):
        gone |= {BLEND}
    has_dense = any(one.kind == DENSE for one in systems if one.name not in gone)
    for one in (one for one in systems if one.kind == HYBRID):
        parts = one.settings.hybrid.of
        if gone & {*parts} or not (parts or has_dense):
            gone.add(one.name)
    kept = [one for one in systems if one.name not in gone]
    if not any(one.is_sparse for one in kept):
        return None
    listed = ", ".join(one.name for one in systems if one.name in gone)
    said = f"{listed}: {why}; the same command goes on from here"
    log.warning("--minutes %g: left out: %s", time.minutes, said)
    return with_systems_named(settings, [one.name for one in kept]), Choice(ABOUT, {}, said)


def with_systems_named(settings: Settings, names: Iterable[str]) -> Settings:
    """The settings of a run with these systems."""
    return replace(settings, run=replace(settings.run, systems=tuple(names)))
