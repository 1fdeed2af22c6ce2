"""Of which collection the work in a folder is, so that another one never takes its place unasked.

A collection is known by what the user called it: the path of its folder or file, or its name (`pydocs`,
`ir_datasets:ID`). Its files may change: that is the same collection, updated. One that was moved is the same as well
where its files are: the same content is the same collection, whatever its path. What differs in both is another.

The path is noted as seen from the folder that has the note, so that both may be moved together.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.errors import ArtifactError
from lexigraft.data.irds import PREFIX
from lexigraft.stages.collect import PYDOCS

OF, WAY = "collection", "path"  # the names under which an origin is noted
HOW_IT_IS_READ = ("on_duplicate", "on_bad_bytes")  # of a collection's description, no part of what it is
REMEDY = "give another out=PATH, or replace=True to have it replaced"


class Origin(NamedTuple):
    """What something was made of: as the user called it, and the way there from the folder; a name has none."""

    given: str
    way: str = ""

    @property
    def note(self) -> dict[str, str]:
        """What a manifest or a run keeps of it."""
        return {OF: self.given, WAY: self.way}

    def is_at(self, folder: Path, source: str) -> bool:
        """Whether `source` is what is meant here, as seen from `folder`."""
        if not self.way or is_name(source):
            return not self.way and self.given == source
        noted, asked = os.path.normpath(folder.resolve() / self.way), _absolute(source)
        return noted == asked or os.path.realpath(noted) == os.path.realpath(asked)


def is_name(source: str) -> bool:
    """Whether a collection is called by a name and not by a path."""
    return source == PYDOCS or source.startswith(PREFIX)


def origin_of(source: str, folder: Path) -> Origin:
    """The origin of what is made of `source` in `folder`."""
    if is_name(source):
        return Origin(source)
    return Origin(source, os.path.relpath(_absolute(source), folder.resolve()))


def _absolute(path: str) -> str:
    """As it is written: where a link leads may change, and what the user calls it does not."""
    return os.path.normpath(Path(path).absolute())


def noted_origin(notes: Mapping[str, Any]) -> Origin | None:
    """The origin that notes have; None where they have none."""
    return Origin(str(notes[OF]), str(notes.get(WAY, ""))) if OF in notes else None


def same_content(config: Mapping[str, Any], description: Mapping[str, Any]) -> bool:
    """Whether what was made with `config` was made of a collection that reads as `description` says."""
    content = {key: value for key, value in description.items() if key not in HOW_IT_IS_READ}
    return bool(content) and all(config.get(key) == value for key, value in content.items())


def refuse(out: Path, what: str, origin: Origin | None, facts: list[str]) -> ArtifactError:
    """The error that says whose work lies at `out`."""
    whose = f"another collection: {origin.given}" if origin is not None else "a collection that it does not name"
    told = f" ({'; '.join(facts)})" if facts else ""
    return ArtifactError(f"{out} holds the {what} of {whose}{told}; {REMEDY}")
