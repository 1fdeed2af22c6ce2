"""Which artifacts this installation made or has looked through, so that only those of others are looked through again.

A checksum says that a file is as its maker left it, and nothing of who that was: whoever makes an index makes the
checksums, too. So what kernels believe is validated once when an artifact is opened that is not known here. "Known" is
never read from the artifact's folder: it is a record in the user's state folder ($XDG_STATE_HOME, or ~/.local/state),
an empty file whose name is a keyed digest (HMAC) of the artifact's fingerprint, which covers the checksum of each of
its files. Without the key, 32 random bytes that nobody else can read, no such name can be made up.

Where that folder cannot be written, everything works, and is validated whenever it is opened; so it is with
LEXIGRAFT_VALIDATE=always, and while every byte is read (`--verify`).
"""

import hmac
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from lexigraft.core.errors import ArtifactError
from lexigraft.core.known_checksums import is_known, is_reading_all, remember

WHEN = "LEXIGRAFT_VALIDATE"
AUTO, ALWAYS = "auto", "always"
RULES = 1  # what is validated; to be raised when that becomes more, so that what passed before is looked at again
MOST = 16_384  # artifacts that are known
KEY_BYTES = 32
WHOLE = "whole"  # the part that is all of an artifact: it was made here
_NOT_LISTED = ("manifest.json", ".DS_Store")  # the manifest itself, and what file managers leave: nobody reads that

MADE_ELSEWHERE = "it was damaged or made by another program; build it again"

# Of a fingerprint, what the system said of its files when this process wrote them or compared their checksums: the same
# manifest may lie in another folder beside other files.
_confirmed: dict[str, tuple[tuple[int, ...], ...]] = {}


class Described(Protocol):
    """What is asked of an artifact's manifest."""

    @property
    def files(self) -> Mapping[str, Mapping[str, Any]]: ...

    @property
    def fingerprint(self) -> str: ...


def validate_unless_known(
    path: Path, manifest: Described, checksums: bool, validate: Callable[[], None], part: str = ""
) -> None:
    """Call `validate`, which raises `ArtifactError` for contents that kernels must not see, unless the artifact at
    `path` is known. `checksums`: its files were compared with those of `manifest`. What passed is known from then on,
    or that `part` of it; but not where files were not compared, or some are there that the manifest does not name."""
    fingerprint, listed = manifest.fingerprint, _lists_all_files(path, manifest)
    if checksums:
        confirm(path, manifest)
    recorded = listed and not _asked_for() and (_is_recorded(fingerprint, WHOLE) or _is_recorded(fingerprint, part))
    if recorded and (checksums or _is_confirmed(path, manifest) or _are_as_listed(path, manifest)):
        return
    try:
        validate()
    except (ValueError, TypeError, IndexError, OverflowError, MemoryError) as error:
        raise ArtifactError(f"{path} does not fit together ({error}): {MADE_ELSEWHERE}") from error
    if listed and checksums:
        record(fingerprint, part)


def record(fingerprint: str, part: str = WHOLE) -> None:
    """Remember that the artifact with this fingerprint was made here, or that part of it validated."""
    with suppress(OSError):
        if (note := _note(fingerprint, part, making=True)) is not None:
            note.parent.mkdir(mode=0o700, exist_ok=True)
            note.touch()
            if note.name.startswith("0"):  # now and then: looking at all of them takes milliseconds
                _forget_oldest(note.parent)


def confirm(path: Path, manifest: Described) -> None:
    """Let this process know that the files at `path` have the checksums that the manifest says, as they stand now."""
    with suppress(OSError):
        _confirmed[manifest.fingerprint] = _as_they_stand(path, manifest)


def _is_confirmed(path: Path, manifest: Described) -> bool:
    try:
        return _confirmed.get(manifest.fingerprint) == _as_they_stand(path, manifest)
    except OSError:
        return False


def _as_they_stand(path: Path, manifest: Described) -> tuple[tuple[int, ...], ...]:
    found = (os.stat(f"{path}/{name}") for name in manifest.files)  # noqa: PTH116  # a third of the time of a `Path`
    return tuple((one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns) for one in found)


def _asked_for() -> bool:
    """Whether everything is to be validated, whoever made it."""
    wanted = os.environ.get(WHEN, AUTO)
    return is_reading_all() or wanted != AUTO


def _is_recorded(fingerprint: str, part: str) -> bool:
    try:
        note = _note(fingerprint, part, making=False)
        return note is not None and note.exists()
    except OSError:
        return False


def _lists_all_files(path: Path, manifest: Described) -> bool:
    """Whether the fingerprint covers every file that could be read: a stranger may put others beside the known ones."""
    unseen: list[OSError] = []  # folders that cannot be listed: their files may still be opened
    for folder, folders, names in os.walk(path, onerror=unseen.append):
        if any(Path(folder, one).is_symlink() for one in folders):
            return False  # nobody follows it here, and whoever opens a file does
        inner = os.path.relpath(folder, path)
        for name in names:
            file = name if inner == "." else f"{Path(inner).as_posix()}/{name}"
            if file not in _NOT_LISTED and file not in manifest.files:
                return False
    return not unseen


def _are_as_listed(path: Path, manifest: Described) -> bool:
    """Whether every file has the checksum that the manifest says; large ones are read once."""
    try:
        listed = all(_has_checksum(path / name, str(facts["sha256"])) for name, facts in manifest.files.items())
    except OSError:
        return False
    if listed:
        confirm(path, manifest)
    return listed


def _has_checksum(file: Path, checksum: str) -> bool:
    found = file.stat()
    if is_known(found, checksum):
        return True
    digest = sha256()
    with file.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    if digest.hexdigest() != checksum:
        return False
    remember(file, found, checksum)
    return True


def _note(fingerprint: str, part: str, making: bool) -> Path | None:
    """The file that says that a fingerprint is known; None where there can be none."""
    folder = _folder()
    key = None if folder is None else _key(folder, making)
    if folder is None or key is None:
        return None
    return folder / "made_here" / hmac.new(key, f"{RULES} {fingerprint} {part}".encode(), sha256).hexdigest()


def _folder() -> Path | None:
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        base = given if given.is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:  # nobody's home
        return None
    return base / "lexigraft"


def _key(folder: Path, making: bool) -> bytes | None:
    """The key of this installation, made where there is none; None where there is none and none can be made, or others
    can read or write the one there is."""
    path = folder / "made_here.key"
    try:
        return _read_key(path)
    except FileNotFoundError:
        if not making:
            return None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = folder / f".made_here.key.{os.getpid()}"
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.urandom(KEY_BYTES))
    try:
        with suppress(FileExistsError):
            os.link(aside, path)  # of several processes that begin together one wins, and all use its key
    except OSError:  # a file system without links
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return _read_key(path)


def _read_key(path: Path) -> bytes | None:
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            return None
        key = file.read(KEY_BYTES + 1)
    return key if len(key) == KEY_BYTES else None


def _forget_oldest(folder: Path) -> None:
    """Keep the folder small: where there are too many records, the older half goes."""
    notes = list(folder.iterdir())
    if len(notes) > MOST:
        ages = []
        for note in notes:
            with suppress(FileNotFoundError):
                ages.append((note.stat().st_mtime_ns, note))
        for _, note in sorted(ages)[: len(notes) - MOST // 2]:
            note.unlink(missing_ok=True)
