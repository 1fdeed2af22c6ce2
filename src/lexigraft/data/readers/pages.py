"""A folder of Markdown, text or HTML files, or one such file: one document a file. Its id is the path within the
folder."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from lexigraft.core.artifact import hash_file
from lexigraft.core.errors import InputError
from lexigraft.core.plain_files import require_size
from lexigraft.data.readers.formats import PAGE_SUFFIXES, bare_suffix
from lexigraft.data.readers.front_matter import Value, split_front_matter
from lexigraft.data.readers.html_text import html_text
from lexigraft.data.readers.lines import read_whole
from lexigraft.data.readers.records import Record, Records

PATH, TITLE, TEXT = "path", "title", "text"
_HTML, _MARKDOWN = (".html", ".htm"), (".md", ".markdown")
_HEADING = re.compile(r"#[ \t]+(.+)")
_FILE = "file"


def page_files(place: Path) -> Iterator[Path]:
    """The files of a folder and of those in it, in order; what is hidden (".git") is left out. A file is itself."""
    if place.is_file():
        yield place
        return
    for folder, _, names in _walk(place):
        yield from (Path(folder) / name for name in names if bare_suffix(Path(name)) in PAGE_SUFFIXES)


def other_kinds(place: Path) -> Counter[str]:
    """How many files of which endings a folder has that are no pages."""
    every = (Path(name) for _, _, names in _walk(place) for name in names)
    return Counter(bare_suffix(file) or file.name for file in every if bare_suffix(file) not in PAGE_SUFFIXES)


def _walk(place: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `os.walk` in order, without what is hidden."""
    for folder, inside, names in os.walk(place):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        yield folder, inside, sorted(name for name in names if not name.startswith("."))


def page_records(place: Path, on_bad_bytes: str = "error") -> Records:
    """path, title and text of every file; of Markdown also what its front matter says."""
    number = 0
    for number, file in enumerate(page_files(place), 1):
        within = PurePosixPath(file.name if file == place else file.relative_to(place).as_posix())
        yield Record(number, file, {**_page(file, on_bad_bytes), PATH: str(within)}, _FILE)
    if not number:
        raise InputError(f"{place} has no files that are read one document a file ({', '.join(PAGE_SUFFIXES)})")


def pages_digest(place: Path) -> str:
    """Of the files' paths and contents."""
    digest = hashlib.sha256()
    for file in page_files(place):
        require_size(file, file.stat().st_size)  # before all of a hole is read
        digest.update(f"{file.relative_to(place).as_posix()}\0{hash_file(file)}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _page(file: Path, on_bad_bytes: str) -> dict[str, Value]:
    text, suffix = read_whole(file, on_bad_bytes), bare_suffix(file)
    if suffix in _HTML:
        title, text = html_text(text)
        return {TITLE: title or _first_heading(text), TEXT: text}
    if suffix not in _MARKDOWN:
        return {TITLE: "", TEXT: text}
    said, text = split_front_matter(text, str(file))
    named = said.get(TITLE)
    return {**said, TITLE: named if isinstance(named, str) and named else _first_heading(text), TEXT: text}


def _first_heading(text: str) -> str:
    found = _HEADING.search(text)
    return found.group(1).rstrip(" \t#") if found else ""
