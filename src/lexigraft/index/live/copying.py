"""A live index copied beside its writer: the files of one state, by the way that readers take.

A copy of the whole folder would have the state of one moment and segments of another.
"""

import shutil
from pathlib import Path

from lexigraft.core.artifact import MANIFEST, hash_file
from lexigraft.core.bounds import LARGEST_WHOLE
from lexigraft.core.errors import ArtifactError
from lexigraft.core.manifest import require_manifest
from lexigraft.core.pinned import of_one_version, read_pinned
from lexigraft.core.plain_files import require_size
from lexigraft.index.live.deleted import read_allowed
from lexigraft.index.live.folder import INNER
from lexigraft.index.live.reader import at_newest
from lexigraft.index.live.state import DELETED, METADATA, REMEDY, SEGMENTS, LiveState, write_state


@of_one_version
def copy_live(folder: Path, target: Path) -> LiveState:
    """Copy the newest state of the live index at `folder`, and all that it names, to `target`, which is made; returns
    that state. Every byte is compared with its checksum."""
    state, _ = at_newest(folder, lambda state: _copy_state(folder, state, target))
    return state


def _copy_state(folder: Path, state: LiveState, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)  # of a state that was gone before it was copied
    for inner in INNER:
        (target / inner).mkdir(parents=True)
    for segment in state.segments:
        named = [(SEGMENTS, segment.name, segment.manifest_sha256)]
        if segment.metadata is not None:
            named.append((METADATA, segment.metadata.name, segment.metadata.manifest_sha256))
        for inner, name, checksum in named:
            copy_artifact(folder / inner / name, checksum, target / inner / name)
        if segment.deleted is not None:
            name = segment.deleted.name
            _copy_file(folder / DELETED / name, target / DELETED / name, segment.deleted.sha256)
            read_allowed(target, segment)
    write_state(target, state)


def copy_artifact(path: Path, checksum: str, target: Path) -> None:
    """Copy the artifact whose manifest has this checksum; every byte is compared."""

    def copy(pinned: Path) -> None:
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        _copy_file(pinned / MANIFEST, target / MANIFEST, checksum)
        for name, facts in require_manifest(target).files.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            _copy_file(pinned / name, target / name, str(facts["sha256"]), facts["bytes"])

    read_pinned(path, copy)


def _copy_file(file: Path, target: Path, checksum: str, most: int = LARGEST_WHOLE) -> None:
    try:
        require_size(file, file.stat().st_size, most)  # a hole that is copied fills the disk
        shutil.copyfile(file, target)
    except FileNotFoundError:
        raise ArtifactError(f"{file} is missing; {REMEDY}") from None
    if hash_file(target) != checksum:
        raise ArtifactError(f"{file} does not match its checksum: it was changed or damaged; {REMEDY}")
