"""The folder of a live index: where one may begin, the state that counts, and what belongs to none and is removed.

    .begun    there from the first moment of a beginning until it has a state

Without it, segments that no state names are those of an index whose state was lost, and stay.
"""

import logging
import shutil
from pathlib import Path

from lexigraft.core.errors import ArtifactError
from lexigraft.core.lock import lock_file
from lexigraft.core.plain_files import sync
from lexigraft.index.live.state import DELETED, METADATA, REMEDY, SEGMENTS, STATE_FILE, LiveState, is_live, read_state

SCRATCH, BEGUN = ".scratch", ".begun"
INNER = (SEGMENTS, METADATA, DELETED)  # the folders of what states name

log = logging.getLogger(__name__)


def require_free(folder: Path) -> None:
    """Raise unless a live index may begin at `folder`: it is absent, empty, or left by one killed beginning."""
    if is_live(folder):
        raise ArtifactError(f"{folder} holds a live index already; add to it, or give another folder")
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not lock_file(folder).exists() or not all(_is_ours(entry) for entry in folder.iterdir()):
        raise ArtifactError(f"{folder} exists and is not a live index; give another folder, or remove it first")
    if (folder / SEGMENTS).exists() and not (folder / BEGUN).exists():
        raise ArtifactError(f"{folder / STATE_FILE} is missing, and there are segments; {REMEDY}, in another folder")


def _is_ours(entry: Path) -> bool:
    names = (*INNER, SCRATCH, BEGUN, lock_file(entry.parent).name)
    return entry.name in names or entry.name.startswith(f".{STATE_FILE}.")


def begin(folder: Path) -> None:
    """Mark `folder` as one in which a live index begins; the lock is held."""
    (folder / BEGUN).touch()
    sync(folder)  # before there is any segment: without the mark it could not be told from one whose state was lost
    make_folders(folder)
    sync(folder.parent)


def make_folders(folder: Path) -> None:
    """The folders within, where they are absent: a backup of what the state names may have none for deleted rows."""
    absent = [folder / name for name in INNER if not (folder / name).is_dir()]
    for inner in absent:
        inner.mkdir()
    if absent:
        sync(folder)


def abandon(folder: Path, keep_folder: bool) -> None:
    """Take back a beginning to which nothing was added; the lock is held."""
    if (folder / SEGMENTS).exists() and not (folder / BEGUN).exists():
        return  # there was a state, and it was lost
    for name in (*INNER, SCRATCH, BEGUN, lock_file(folder).name):  # the mark after what it is there for
        remove(folder / name)
    for aside in folder.glob(f".{STATE_FILE}.*"):
        remove(aside)
    if not keep_folder:
        folder.rmdir()


def state_on_disk(folder: Path) -> LiveState | None:
    """The state that counts, None in a beginning; raises `ArtifactError` where it was lost or is damaged."""
    return None if not is_live(folder) and (folder / BEGUN).exists() else read_state(folder)


def sweep(folder: Path) -> None:
    """Remove what the state on the disk does not name: of killed writers, of failed steps, and of states before it.
    The lock is held. Nothing is removed where it is in doubt what counts: the state cannot be read, or what it names is
    not there."""
    try:
        state = state_on_disk(folder)
    except ArtifactError as error:
        log.warning("nothing is removed from %s: %s", folder, error)
        return
    named = _named(folder, state) if state else set()
    if absent := sorted(path for path in named if not path.exists()):
        log.warning("nothing is removed from %s: %s is missing; %s", folder, absent[0], REMEDY)
        return
    for inner in (folder / name for name in INNER):
        for entry in inner.iterdir() if inner.is_dir() else ():
            if entry not in named:
                remove(entry)
    remove(folder / SCRATCH)
    for aside in folder.glob(f".{STATE_FILE}.*"):
        remove(aside)
    if state:
        remove(folder / BEGUN)


def _named(folder: Path, state: LiveState) -> set[Path]:
    segments = {folder / SEGMENTS / segment.name for segment in state.segments}
    metadata = {folder / METADATA / segment.metadata.name for segment in state.segments if segment.metadata}
    deleted = {folder / DELETED / segment.deleted.name for segment in state.segments if segment.deleted}
    return segments | metadata | deleted


def remove(path: Path) -> None:
    """Remove a file or folder, or nothing where there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
