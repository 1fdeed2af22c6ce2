"""Checksums made to fit a changed file, as somebody would who wants it to be believed."""

import hashlib
import json
from pathlib import Path

from lexigraft.core.sealed_json import CHECKSUM, sealed
from lexigraft.index.live.state import METADATA, SEGMENTS, STATE_FILE, _serialised

MANIFEST = "manifest.json"


def fit_checksums(root: Path, file: str) -> None:
    """Make everything that vouches for the file at root/file vouch for what it holds now; nothing where it is gone."""
    path = root / file
    if not path.is_file():
        return
    if path.suffix == ".json":
        _seal_again(path)
    for folder in path.parents:
        if (folder / MANIFEST).is_file() and path.name != MANIFEST:
            _note_in_manifest(folder, path)
            path = folder / MANIFEST
            break
        if folder == root:
            break
    if path.name == MANIFEST and path.parent.parent.name in (SEGMENTS, METADATA):
        _note_in_state(path.parent.parent.parent, path)


def _seal_again(path: Path) -> None:
    try:
        content = json.loads(path.read_bytes())
        if isinstance(content, dict) and CHECKSUM in content:
            path.write_bytes(_serialised(content) if path.name == STATE_FILE else sealed(content))
    except (ValueError, RecursionError):
        return  # it is no JSON: nothing can vouch for it


def _note_in_manifest(folder: Path, path: Path) -> None:
    manifest = folder / MANIFEST
    content = json.loads(manifest.read_bytes())
    name = path.relative_to(folder).as_posix()
    if name in content.get("files", {}):
        content["files"][name] = {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        plain = (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
        manifest.write_bytes(sealed(content) if CHECKSUM in content else plain)


def _note_in_state(live: Path, manifest: Path) -> None:
    state = json.loads((live / STATE_FILE).read_bytes())
    named = [one for segment in state["segments"] for one in (segment, segment.get("metadata")) if one]
    for one in named:
        if one["name"] == manifest.parent.name:
            one["manifest_sha256"] = hashlib.sha256(manifest.read_bytes()).hexdigest()
    (live / STATE_FILE).write_bytes(_serialised(state))
