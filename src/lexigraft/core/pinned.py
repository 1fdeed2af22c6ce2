"""All files of one opening come from one version of a folder, whatever a writer does to its name meanwhile.

A writer never changes a file of a finished artifact: it makes another folder, which takes the name in one step. So a
reader opens the folder once, by a descriptor, and reaches every file through that: /proc/self/fd/N is such a way, which
every library takes for a path. What was hashed is then what is mapped. A former version is removed while somebody may
still be reading it: then a file is missing, another folder has the name, and that is opened instead.

Where there is no /proc (macOS), files are reached by their path, and all is read again if the folder had changed
meanwhile. The descriptor is held there, too: no other folder can get the same number as long as it is open.
"""

import functools
import glob
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from lexigraft.core.errors import ArtifactError
from lexigraft.core.manifest import read_manifest

ATTEMPTS = 100  # a folder that is replaced and removed while it is read, so many times in a row
DESCRIPTORS = Path("/proc/self/fd")
LOOKS = 3  # for a name that is in no place for a moment

P = ParamSpec("P")
T = TypeVar("T")

_known_as: dict[Path, Path] = {}  # ways through descriptors that are held now, and the paths that they were opened by


def of_one_version(load: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
    """`load`, whose first argument is the folder of an artifact, with `read_pinned`. What it returns must not keep the
    path that it was given, which leads nowhere afterwards, but `known_as` of it; errors may name it."""

    @functools.wraps(load)
    def loading(path: Path, /, *arguments: P.args, **named: P.kwargs) -> T:
        return read_pinned(path, lambda folder: load(folder, *arguments, **named))

    return loading


def read_pinned(path: Path, load: Callable[[Path], T]) -> T:
    """`load(folder)`, where `folder` leads to one version of the artifact at `path` as long as `load` works. It is
    called again where that version was removed meanwhile. Errors name `path`."""
    for _ in range(ATTEMPTS):
        with _held(path) as held:
            if held is None:
                return load(path)  # which says what is missing
            descriptor, folder = held
            try:
                found = load(folder)
            except Exception as error:
                if _leads_to(path, descriptor):
                    _name_user_path(error, folder, path)
                    raise
                continue  # it was removed while it was read; libraries say that in many ways
            if _leads_to(path, descriptor) or (folder.parent == DESCRIPTORS and is_whole(folder)):
                return found
    raise ArtifactError(f"{path} was replaced {ATTEMPTS} times while it was opened; try again, or write less often")


@contextmanager
def _held(path: Path) -> Iterator[tuple[int, Path] | None]:
    """(a descriptor of the folder at `path`, a path to its files); None where there is no folder."""
    standing = where_it_stands(path)
    try:
        descriptor = os.open(standing, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    way = DESCRIPTORS / str(descriptor)
    try:
        if way.exists():
            _known_as[way] = path
        yield descriptor, way if way in _known_as else standing
    finally:
        _known_as.pop(way, None)
        os.close(descriptor)


def known_as(path: Path) -> Path:
    """What a user calls the folder, or a file in it, that `path` leads to within `read_pinned`; elsewhere `path`."""
    for way in (path, *path.parents) if _known_as else ():
        if way in _known_as:
            return known_as(_known_as[way] / path.relative_to(way))
    return path


def _leads_to(path: Path, descriptor: int) -> bool:
    """Whether the folder that was opened still has its name."""
    try:
        return os.path.samestat(where_it_stands(path).stat(), os.fstat(descriptor))
    except OSError:
        return False


def where_it_stands(path: Path) -> Path:
    """`path`, or the whole artifact beside it that a writer has moved aside for a moment, or was killed in that moment,
    on a file system where two folders cannot exchange their names."""
    for _ in range(LOOKS):
        if path.exists():
            break
        if aside := next(moved_aside(path), None):
            return aside
    return path


def moved_aside(path: Path) -> Iterator[Path]:
    """The whole artifacts that writers have moved from `path` to a place beside it."""
    for old in sorted(path.parent.glob(f"{glob.escape(path.name)}.old-*")):
        if is_by_process(old) and is_whole(old):
            yield old


def is_by_process(path: Path) -> bool:
    """Whether a name ends as those of writers do, by the number of a process: `index.old-good` is somebody's copy."""
    return path.name.rpartition("-")[2].isdecimal()


def is_whole(path: Path) -> bool:
    """Whether an artifact has all its files, by their sizes: one that was being removed does not."""
    manifest = read_manifest(path)
    if manifest is None:
        return False
    try:
        return all((path / name).stat().st_size == facts["bytes"] for name, facts in manifest.files.items())
    except OSError:
        return False


def _name_user_path(error: BaseException, folder: Path, path: Path) -> None:
    """Let an error say `path` where it says `folder`, the way through a descriptor."""
    if folder == path:
        return
    way = re.compile(re.escape(str(folder)) + r"(?![0-9])")
    error.args = tuple(way.sub(lambda _: str(path), part) if isinstance(part, str) else part for part in error.args)
    for name in ("filename", "filename2"):
        if isinstance(value := getattr(error, name, None), str):
            setattr(error, name, way.sub(lambda _: str(path), value))
