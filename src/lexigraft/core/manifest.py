"""The manifest of an artifact: how it was made, and the size and checksum of every file.

It is a file like any other, which a bad disk or a stranger may have written. It holds a checksum of itself
(`sealed_json`), and what it says is looked at before anything is made of it: a type that is not expected, or the name
of a file outside of the folder, is an error in one line. Manifests of former versions have no checksum of themselves.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from lexigraft import __version__
from lexigraft.core.errors import ArtifactError
from lexigraft.core.os_errors import remedy_for
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.sealed_json import REMEDY, unsealed, write_sealed

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """How an artifact was made. Everything but `code_version`, `notes` enters the fingerprint."""

    kind: str
    format_version: int
    config: Mapping[str, Any]
    parents: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    code_version: str = __version__
    notes: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        content = {key: value for key, value in self.as_dict().items() if key not in ("code_version", "notes")}
        return hashlib.sha256(canonical_json(content).encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """By name. What is inside is not copied, unlike by `dataclasses.asdict`: there are files in thousands."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def same_recipe(self, other: "Manifest") -> bool:
        """Whether both describe the same work: kind, format, settings, parents and seed (not the resulting files)."""
        return canonical_json(recipe(self)) == canonical_json(recipe(other))


KEYS = {one.name for one in fields(Manifest)}
REQUIRED = ("kind", "format_version", "config")


def recipe(manifest: Manifest) -> dict[str, Any]:
    """What an artifact is made from and by: all that decides its content, before there is any."""
    content = manifest.as_dict()
    return {key: content[key] for key in ("kind", "format_version", "config", "parents", "seed")}


def canonical_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of the artifact in `folder`."""
    as_read = json.loads(json.dumps(manifest.as_dict()))  # keys are text before their order is part of a checksum
    write_sealed(folder / MANIFEST, as_read)


def read_manifest(path: Path) -> Manifest | None:
    """The manifest of the artifact at `path`, or None where there is no readable one."""
    try:
        return require_manifest(path)
    except OSError:
        return None


def require_manifest(path: Path) -> Manifest:
    """The manifest of the artifact at `path`; raises `ArtifactError` where there is none, or a damaged one."""
    file = path / MANIFEST
    try:
        found = read_plain_file(file)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        why = "it is not a Lexigraft artifact, or it was damaged" if missing else str(error.strerror or error)
        raise ArtifactError(f"{path} has no readable {MANIFEST}: {why}; {remedy_for(error, REMEDY)}") from error
    try:
        content = unsealed(found, file)
    except ArtifactError as error:
        raise ArtifactError(f"{path} has no readable {MANIFEST}: {error}") from error
    if wrong := _what_is_wrong(content):
        raise ArtifactError(f"{path} has no readable {MANIFEST}: {file} has {wrong}; {REMEDY}")
    return Manifest(**content)


def _what_is_wrong(content: Mapping[str, Any]) -> str:
    """What no manifest of ours has, in words; empty where all is as expected."""
    if missing := [key for key in REQUIRED if key not in content]:
        return f"no {missing[0]!r}"
    if unknown := sorted(content.keys() - KEYS):
        return f"{unknown[0]!r}, which no manifest has"
    for key in ("config", "parents", "notes", "files"):
        if not isinstance(content.get(key, {}), dict):
            return f"{key!r} that is no object"
    for key in ("kind", "code_version"):
        if not isinstance(content.get(key, ""), str):
            return f"{key!r} that is no text"
    for key in ("format_version", "seed"):
        if not _is_count(content.get(key, 0), least=None):
            return f"{key!r} that is no whole number"
    if not all(isinstance(parent, str) for parent in content.get("parents", {}).values()):
        return "a parent that is no text"
    return next(filter(None, (_wrong_file(*item) for item in content.get("files", {}).items())), "")


def _wrong_file(name: str, facts: Any) -> str:
    if not _is_inside(name):
        return f"a file {name!r}, which does not lie in its folder"
    if not isinstance(facts, dict) or not _is_count(facts.get("bytes"), least=0):
        return f"no size of {name!r}"
    return "" if isinstance(facts.get("sha256"), str) else f"no checksum of {name!r}"


def _is_inside(name: str) -> bool:
    """Whether a name leads to a file below the folder that it starts from."""
    plain = "\0" not in name and "\\" not in name and name.isprintable()
    return plain and all(part not in ("", ".", "..") for part in name.split("/"))


def _is_count(value: Any, least: int | None) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least)
