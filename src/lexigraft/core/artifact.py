"""Artifacts: folders that appear whole or not at all, and say how they were made.

Every stage writes one with `write_artifact` (a folder beside the target, which takes its name at the end, in one step)
and reads one with `open_artifact`, which refuses a folder that is truncated, corrupt, of another kind or of another
format. Who then reads its files does so within `pinned.read_pinned`, so that all of them are of one version. The
manifest holds no times and no machine names, so the same inputs and settings give the same bytes.
"""

import glob
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lexigraft.core.errors import ArtifactError
from lexigraft.core.exchange import exchange
from lexigraft.core.folders import make_folders
from lexigraft.core.known_checksums import is_known, remember
from lexigraft.core.made_here import MADE_ELSEWHERE, confirm, record
from lexigraft.core.manifest import (
    MANIFEST,
    Manifest,
    canonical_json,
    read_manifest,
    recipe,
    require_manifest,
    write_manifest,
)
from lexigraft.core.os_errors import naming
from lexigraft.core.pinned import is_by_process, moved_aside, of_one_version
from lexigraft.core.plain_files import read_plain_file, replace_for_good, require_plain_file, sync
from lexigraft.core.sealed_json import in_utf8

__all__ = ["MANIFEST", "Manifest", "canonical_json", "read_manifest", "recipe"]  # beside what is defined here

DRAFT_MARK = ".lexigraft-draft"
OF_THE_SYSTEM = (".DS_Store",)  # what file managers leave in folders is nobody's
_HASH_CHUNK = 1 << 20


def hash_file(path: Path) -> str:
    """Of its bytes; raises `OSError` for a pipe or a device, which may have no end."""
    require_plain_file(path, path.stat())
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_HASH_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def write_artifact(path: Path, manifest: Manifest) -> Iterator[Path]:
    """Yield an empty folder to fill; on success it becomes `path`, on any error nothing changes.

    Readers find the old artifact or the new one at `path`, and never nothing: both exchange their names in one step. A
    kill leaves one of them there; the other one, or a half-written folder, is removed by the next writer. Where the
    file system has no such step the old one is beside its place for a moment, where readers and the next writer find
    it.
    Only an artifact is ever replaced: anything else that stands at `path` is somebody's, and raises.
    """
    require_replaceable(path)
    make_folders(path.parent)
    _remove_leftovers(path)
    draft = path.with_name(f"{path.name}.draft-{os.getpid()}")
    draft.mkdir()
    (draft / DRAFT_MARK).touch()
    try:
        with naming(path):
            yield draft
        made = _with_files(manifest, draft)
        write_manifest(draft, made)
        (draft / DRAFT_MARK).unlink()  # last, so that what a kill leaves is always known for ours
        _sync_tree(draft)
        confirm(draft, made)
        _swap_in(draft, path)
        record(made.fingerprint)
    finally:
        _remove(draft)  # or what was at `path` before


def _with_files(manifest: Manifest, folder: Path) -> Manifest:
    files = {
        file.relative_to(folder).as_posix(): {"bytes": file.stat().st_size, "sha256": hash_file(file)}
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != DRAFT_MARK
    }
    return Manifest(**{**manifest.__dict__, "files": files})


def require_replaceable(path: Path) -> None:
    """Raise unless `path` is free, an empty folder, or an artifact, whole or damaged, with no file of the user's."""
    if is_artifact(path):
        if stray := foreign_files(path):
            raise ArtifactError(f"{path / stray[0]} is not Lexigraft's and would be lost; move it out of {path}")
    elif path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ArtifactError(f"{path} exists and is not a Lexigraft artifact; give another folder, or remove it first")


def is_artifact(path: Path) -> bool:
    """Whether an artifact lies at `path`, whole or damaged."""
    return (path / MANIFEST).is_file() and not _is_somebody_elses(path / MANIFEST)


def foreign_files(artifact: Path) -> list[str]:
    """The files in an artifact's folder that it was not written with; none where its manifest cannot be read."""
    manifest = read_manifest(artifact)
    if manifest is None:
        return []
    own = {*manifest.files, MANIFEST}
    found = (file for file in artifact.rglob("*") if not file.is_dir() and file.name not in OF_THE_SYSTEM)
    return sorted(name for file in found if (name := file.relative_to(artifact).as_posix()) not in own)


def _is_somebody_elses(manifest: Path) -> bool:
    """Many programs have a manifest.json. One that cannot be read at all is taken for a damaged one of ours."""
    try:
        found = json.loads(read_plain_file(manifest))
    except (OSError, ValueError, RecursionError):
        return False
    return not isinstance(found, dict) or not {"kind", "format_version", "config"} <= found.keys()


def _remove_leftovers(path: Path) -> None:
    """Of what killed writers left beside `path`, fetch back what was whole and in its place, and remove the others:
    folders with their mark or a manifest of ours, or empty."""
    name = glob.escape(path.name)
    if not path.exists():  # a kill between the two renames of a swap: what was there is whole, beside its place
        for old in moved_aside(path):
            old.rename(path)
            break
    for pattern in (f"{name}.draft-*", f"{name}.old-*"):
        for leftover in path.parent.glob(pattern):
            ours = (leftover / DRAFT_MARK).is_file() or (
                is_by_process(leftover) and read_manifest(leftover) is not None
            )
            if ours or (leftover.is_dir() and not any(leftover.iterdir())):
                _remove(leftover)


def _swap_in(draft: Path, path: Path) -> None:
    """Give `draft` the name `path`; what was there has the draft's name afterwards."""
    if not path.exists():
        draft.rename(path)
    elif not exchange(draft, path):
        _swap_by_renames(draft, path)
    sync(path.parent)


def _swap_by_renames(draft: Path, path: Path) -> None:
    """The same where two folders cannot exchange their names. Between the two renames there is nothing at `path`: who
    looks for it there finds `NAME.old-PROCESS` (`pinned.where_it_stands`)."""
    old = path.with_name(f"{path.name}.old-{os.getpid()}")
    path.rename(old)
    try:
        draft.rename(path)
    except BaseException:  # Ctrl-C, too: what was there goes back
        if not path.exists():
            old.rename(path)
        raise
    old.rename(draft)


def _remove(folder: Path) -> None:
    """Remove a draft or a former version. What says that it is ours goes last, so that a kill leaves what the next
    writer knows for such; a reader that is still in it finds all files that it needs, or that one is missing."""
    if folder.is_symlink():
        folder.unlink()  # somebody's link to an artifact elsewhere was replaced; that one stays
        return
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.name in (MANIFEST, DRAFT_MARK):
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _sync_tree(folder: Path) -> None:
    for entry in sorted(folder.rglob("*")):
        sync(entry)
    sync(folder)


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, whole or not at all."""
    replace_for_good(path, in_utf8(json.dumps(value, indent=2, sort_keys=False, ensure_ascii=False) + "\n"))


def open_artifact(path: Path, kind: str, format_version: int | tuple[int, ...], checksums: bool = True) -> Manifest:
    """Check the artifact at `path`, of one of the format versions that can be read, and return its manifest.

    File sizes are always compared; `checksums` also every byte, of which a large file's are read once and then again
    when the file system says that it changed (`known_checksums`). Raises `ArtifactError` naming what is wrong.
    """
    return _checked(path, kind, (format_version,) if isinstance(format_version, int) else format_version, checksums)


@of_one_version
def _checked(path: Path, kind: str, readable: tuple[int, ...], checksums: bool) -> Manifest:
    if not path.is_dir():
        raise ArtifactError(f"there is no {kind} at {path}; build it first")
    manifest = require_manifest(path)
    if manifest.kind != kind:
        raise ArtifactError(f"{path} holds a {manifest.kind}, not a {kind}; give the folder of a {kind}")
    if manifest.format_version not in readable:
        raise ArtifactError(
            f"{path} has {kind} format {manifest.format_version}, this version of Lexigraft reads "
            f"{' and '.join(map(str, readable))}; build it again"
        )
    require_inside(path, manifest.files)
    for name, facts in manifest.files.items():
        _check_file(path / name, facts, checksums)
    return manifest


def require_inside(path: Path, names: Iterable[str]) -> None:
    """Raise unless the names that the manifest of the artifact at `path` has lead to files within its folder."""
    for name in names:
        if not name or Path(name).is_absolute() or ".." in Path(name).parts:
            raise ArtifactError(f"{path / MANIFEST} names {name!r}, which is outside of the folder; {MADE_ELSEWHERE}")


def _check_file(path: Path, facts: Mapping[str, Any], checksums: bool) -> None:
    if not path.is_file():
        raise ArtifactError(f"{path} is missing; build the artifact again")
    found = path.stat()
    size = found.st_size
    if size != facts["bytes"]:
        raise ArtifactError(
            f"{path} has {size} bytes instead of {facts['bytes']}: it was cut short or changed; build it again"
        )
    if checksums and not is_known(found, facts["sha256"]):
        if hash_file(path) != facts["sha256"]:
            raise ArtifactError(f"{path} does not match its checksum: it was changed or damaged; build it again")
        remember(path, found, facts["sha256"])


def require_files(path: Path, wanted: Callable[[str], bool]) -> None:
    """Compare the checksums of some files of the artifact at `path`, for a reader that needs only these; `wanted` says
    of a name whether it is one of them. Raises `ArtifactError` naming what is wrong."""
    manifest = read_manifest(path)
    for name, facts in manifest.files.items() if manifest is not None else ():
        if wanted(name):
            _check_file(path / name, facts, checksums=True)
