"""settings.json of a run: of which collection it is, and with which settings it ended."""

from typing import Any

from lexigraft.core.config import SOURCE, settings_as_dict
from lexigraft.core.errors import ArtifactError
from lexigraft.core.sealed_json import checksum_of, read_sealed, write_sealed
from lexigraft.core.settings import Settings
from lexigraft.core.stored_record import require_value
from lexigraft.stages.layout import CONTINUE, RunFolder, lies_at


def read_settings(folder: RunFolder) -> tuple[str, dict[str, Any]]:
    """Of which collection a run is, and the settings that it ended with, as they were stored."""
    if not lies_at(folder.settings):
        remedy = "finish the run with the command that began it"
        raise ArtifactError(f"{folder.settings} does not say of which collection the run is; {remedy}")
    stored = read_sealed(folder.settings, CONTINUE)
    require_value(folder.settings, SOURCE, stored.get(SOURCE), str, CONTINUE)
    return str(stored.pop(SOURCE)), stored


def write_settings(folder: RunFolder, source: str, settings: Settings) -> None:
    """Keep both, for whoever opens the run."""
    write_sealed(folder.settings, _stored(source, settings))


def settings_checksum(source: str, settings: Settings) -> str:
    """By which a report knows the settings that it was made with."""
    return checksum_of(_stored(source, settings))


def stored_checksum(folder: RunFolder) -> str:
    """The same of the settings that a run ended with; empty where it has none yet."""
    return checksum_of(read_sealed(folder.settings, CONTINUE)) if lies_at(folder.settings) else ""


def _stored(source: str, settings: Settings) -> dict[str, Any]:
    return {SOURCE: source, **settings_as_dict(settings)}
