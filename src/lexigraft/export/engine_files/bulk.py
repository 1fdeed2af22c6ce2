"""Bulk files: rows as lines, cut into parts of a bounded size and compressed, written while they come."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

PART_BYTES = 8 << 20  # of a part before it is compressed: servers take 32 MB (Qdrant) and 100 MB (OpenSearch) at once
VOCABULARY = "vocabulary.jsonl"


class Form(NamedTuple):
    """How a part is named, and what stands around its rows."""

    stem: str
    suffix: str
    opening: bytes = b""
    between: bytes = b"\n"
    closing: bytes = b"\n"

    def alone(self, row: bytes) -> int:
        """Bytes of a part that holds this row only: of the smallest request by which it can be sent."""
        return len(self.opening) + len(row) + len(self.closing)


class Parts:
    """`append` a row at a time. A part ends before the row that would make it larger than `most` bytes; a larger row
    is a part of its own: whether the engine takes it is asked before (`limits.require_request`). The same rows are the
    same bytes: no time or name is in the compressed files."""

    def __init__(self, folder: Path, form: Form, most: int = PART_BYTES) -> None:
        self._folder, self._form, self._most = folder, form, most
        self._raw: IO[bytes] | None = None
        self._file: gzip.GzipFile | None = None
        self._in_part = 0
        self.n_parts, self.n_rows, self.n_bytes = 0, 0, 0

    def append(self, row: bytes) -> None:
        size = len(row) + len(self._form.between)
        if self._file is not None and self._in_part + size + len(self._form.closing) > self._most:
            self._end_part()
        if self._file is None:
            self._begin_part()
        else:
            self._write(self._form.between)
        self._write(row)
        self.n_rows += 1

    def __enter__(self) -> "Parts":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._end_part()

    def _begin_part(self) -> None:
        path = self._folder / f"{self._form.stem}-{self.n_parts:05}{self._form.suffix}.gz"
        self._raw = path.open("wb")
        self._file = gzip.GzipFile("", "wb", compresslevel=6, fileobj=self._raw, mtime=0)
        self.n_parts, self._in_part = self.n_parts + 1, 0
        self._write(self._form.opening)

    def _write(self, data: bytes) -> None:
        assert self._file is not None, "a part is begun"
        self._file.write(data)
        self._in_part += len(data)

    def _end_part(self) -> None:
        assert self._file is not None and self._raw is not None, "a part is begun"
        self._write(self._form.closing)
        self._file.close()
        self.n_bytes += self._raw.tell()
        self._raw.close()
        self._file = self._raw = None


def as_json(value: Any) -> bytes:
    """A value on one line. Halves of surrogate pairs, which UTF-8 cannot hold, become question marks."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def write_json_file(path: Path, value: Any) -> None:
    """For a person, and a program, to read."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    path.write_bytes(text.encode("utf-8", "replace") + b"\n")


def write_lines(path: Path, values: Sequence[Any]) -> None:
    """A JSON value a line."""
    with path.open("wb") as file:
        file.writelines(as_json(value) + b"\n" for value in values)


def write_vocabulary(folder: Path, terms: Sequence[str]) -> None:
    """A term a line, as JSON writes a text, because a term may hold a line's end; the first line is term 0."""
    write_lines(folder / VOCABULARY, terms)
