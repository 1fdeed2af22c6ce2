"""The page and what it is made of: the files of the folder `page`, which travels with the package."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parent / "page"
INDEX = "index.html"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}


class PageFile(NamedTuple):
    content: bytes
    kind: str
    tag: str  # by which a browser knows that it has it already


class PageFiles:
    """Files by their names below the folder. Only those that a listing found are served, so no name leads elsewhere."""

    def __init__(self, folder: Path = PAGE) -> None:
        self._folder = folder
        self._read: dict[Path, tuple[int, PageFile]] = {}
        self._files: dict[str, Path] = {}
        self._folders: dict[Path, int] = {}  # and when each was changed

    def get(self, name: str) -> PageFile | None:
        """A file, read anew where it was changed; None where there is none of that name."""
        path = self._listed().get(name)
        if path is None:
            return None
        changed = path.stat().st_mtime_ns
        if path not in self._read or self._read[path][0] != changed:
            content = path.read_bytes()
            self._read[path] = (
                changed,
                PageFile(content, KINDS[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:20]}"'),
            )
        return self._read[path][1]

    def _listed(self) -> dict[str, Path]:
        """Listed anew only where a folder was changed: a look at those is quicker, and the event loop waits for it."""
        if not self._folders or self._folders != _changes(self._folders):
            found = list(self._folder.rglob("*"))
            self._folders = _changes([self._folder, *(path for path in found if path.is_dir())])
            files = (path for path in found if path.suffix in KINDS and path.is_file())
            self._files = {path.relative_to(self._folder).as_posix(): path for path in files}
        return self._files


def _changes(folders: Iterable[Path]) -> dict[Path, int]:
    """When each of the folders that there are was changed."""
    return {folder: folder.stat().st_mtime_ns for folder in folders if folder.is_dir()}
