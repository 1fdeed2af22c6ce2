"""The choices of a run as a file in its folder: made once, kept by every later call with the same inputs."""

import logging
from collections.abc import Sequence
from typing import Any

from lexigraft.core.artifact import canonical_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.folders import make_folders
from lexigraft.core.sealed_json import REMEDY, read_sealed, write_sealed
from lexigraft.own_settings.choice import Choice, settings_of
from lexigraft.own_settings.given_time import GivenTime
from lexigraft.stages.layout import RunFolder, lies_at

FORMAT_VERSION = 2

log = logging.getLogger(__name__)


def keep(folder: RunFolder, made_of: dict[str, Any], choices: list[Choice]) -> None:
    """Write the choices, whole or not at all. `made_of`: all that they depend on beside the clock."""
    found = {
        "format": FORMAT_VERSION,
        "made_of": made_of,
        "settings": settings_of(choices),
        "choices": [choice.as_json() for choice in choices],
    }
    make_folders(folder.root)
    write_sealed(folder.choices, found)


def kept(folder: RunFolder, made_of: dict[str, Any]) -> list[Choice] | None:
    """What was chosen here before of the same things; None where there is nothing."""
    found = read(folder)
    if found is None:
        return None
    if canonical_json(found.get("made_of")) != canonical_json(made_of):
        log.info("%s was chosen of other settings, data or minutes; choosing anew", folder.choices)
        return None
    return [Choice(**choice) for choice in found["choices"]]


def read(folder: RunFolder) -> dict[str, Any] | None:
    """What the file says; None where there is none that can be read."""
    if not lies_at(folder.choices):
        return None
    try:
        found = read_sealed(folder.choices)
    except ArtifactError as error:
        log.warning("%s", str(error).replace(REMEDY, "it is chosen anew"))
        return None
    parts = (found.get("made_of"), found.get("settings"), found.get("choices"))
    is_whole = [type(part) for part in parts] == [dict, dict, list] and "minutes" in found["made_of"]
    return found if is_whole and found.get("format") == FORMAT_VERSION else None


def for_report(folder: RunFolder, time: GivenTime, beside: Sequence[Choice] = ()) -> dict[str, Any]:
    """The choices as a report holds them, as {"own_settings": ...}: those `beside`, which each call makes anew, and the
    kept ones, of the same minutes, unless all models were left out; empty where the run made none."""
    found = read(folder)
    chosen = [choice.as_json() for choice in beside]
    if found is not None and found["made_of"]["minutes"] == time.minutes:
        chosen += [one for one in found["choices"] if one not in chosen]
    return {"own_settings": {"minutes": time.minutes, "choices": chosen}} if chosen else {}
