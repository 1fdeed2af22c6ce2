"""The choices of a run as a file in its folder: made once, kept by every later call with the same inputs."""

import json
import logging
from typing import Any

from lexigraft.core.artifact import canonical_json, write_json
from lexigraft.own_settings.choice import Choice, settings_of
from lexigraft.stages.layout import RunFolder

FORMAT_VERSION = 1

log = logging.getLogger(__name__)


def keep(folder: RunFolder, made_of: dict[str, Any], choices: list[Choice]) -> None:
    """Write the choices, whole or not at all. `made_of`: all that they depend on beside the clock."""
    found = {
        "format": FORMAT_VERSION,
        "made_of": made_of,
        "settings": settings_of(choices),
        "choices": [choice.as_json() for choice in choices],
    }
    folder.root.mkdir(parents=True, exist_ok=True)
    write_json(folder.choices, found)


def kept(folder: RunFolder, made_of: dict[str, Any]) -> dict[str, Any] | None:
    """The settings that were chosen here before of the same things; None where there are none."""
    found = read(folder)
    if found is None:
        return None
    if canonical_json(found.get("made_of")) != canonical_json(made_of):
        log.info("%s was chosen of other settings, data or minutes; choosing anew", folder.choices)
        return None
    return dict(found["settings"])


def read(folder: RunFolder) -> dict[str, Any] | None:
    """What the file says; None where there is none that can be read."""
    try:
        found = json.loads(folder.choices.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("format") == FORMAT_VERSION else None


def for_report(folder: RunFolder) -> dict[str, Any]:
    """The choices as a report holds them, as {"own_settings": ...}; empty where the run made none."""
    found = read(folder)
    if found is None:
        return {}
    return {"own_settings": {"minutes": found["made_of"]["minutes"], "choices": found["choices"]}}
