"""The folder of a live index: where one may begin, and what in it belongs to no state and is removed."""

import shutil
from pathlib import Path

from lexigraft.core.artifact import sync
from lexigraft.core.errors import ArtifactError
from lexigraft.core.lock import lock_file
from lexigraft.index.live_state import DELETED, SEGMENTS, STATE_FILE, LiveState, is_live

SCRATCH = ".scratch"


def require_free(folder: Path) -> None:
    """Raise unless a live index may begin at `folder`: it is absent, empty, or left by one killed beginning."""
    if is_live(folder):
        raise ArtifactError(f"{folder} holds a live index already; add to it, or give another folder")
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not lock_file(folder).exists() or not all(_is_ours(entry) for entry in folder.iterdir()):
        raise ArtifactError(f"{folder} exists and is not a live index; give another folder, or remove it first")


def _is_ours(entry: Path) -> bool:
    names = (SEGMENTS, DELETED, SCRATCH, lock_file(entry.parent).name)
    return entry.name in names or entry.name.startswith(f".{STATE_FILE}.")


def make_folders(folder: Path) -> None:
    (folder / SEGMENTS).mkdir(exist_ok=True)
    (folder / DELETED).mkdir(exist_ok=True)
    sync(folder)
    sync(folder.parent)


def abandon(folder: Path, keep_folder: bool) -> None:
    """Take back a beginning to which nothing was added; the lock is held."""
    for name in (SEGMENTS, DELETED, lock_file(folder).name):
        remove(folder / name)
    if not keep_folder:
        folder.rmdir()


def sweep(folder: Path, state: LiveState | None) -> None:
    """Remove what `state` does not name: of killed writers, of failed steps, and of states before it."""
    segments = state.segments if state else ()
    named = {segment.name for segment in segments}
    named.update(segment.deleted.name for segment in segments if segment.deleted)
    for inner in (folder / SEGMENTS, folder / DELETED):
        for entry in inner.iterdir():
            if entry.name not in named:
                remove(entry)
    remove(folder / SCRATCH)
    for aside in folder.glob(f".{STATE_FILE}.*"):
        remove(aside)


def remove(path: Path) -> None:
    """Remove a file or folder, or nothing where there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
