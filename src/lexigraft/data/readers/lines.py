"""Lines of text files, plain or gzip, as a stream: each with its number and a name for messages.

Lines are decoded one by one, so a wrong byte is named by its line, and memory holds one line whatever the file's size.
"""

import codecs
import gzip
import io
import logging
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from lexigraft.core.bounds import FEW_UNPACKED, LARGEST_WHOLE, MOST_UNPACKED
from lexigraft.core.errors import InputError
from lexigraft.core.plain_files import require_plain_file

BAD_BYTES = ("error", "replace")
_BOM, _GZIP = b"\xef\xbb\xbf", b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")  # how such a file begins
BUFFER = 1 << 18
LONGEST_LINE = LARGEST_WHOLE  # bytes: memory holds a line, and one that is longer is no line of text, but a mistake

log = logging.getLogger(__name__)


class Line(NamedTuple):
    """`text` has no line end."""

    number: int
    path: Path
    text: str
    unit: str = "line"

    @property
    def where(self) -> str:
        """File and line number, for messages; made when asked for, because lines are many."""
        return f"{self.path}:{self.number}"


def read_lines(path: Path, on_bad_bytes: str = "error", blank: bool = False) -> Iterator[Line]:
    """Every line that holds more than white space, or with `blank` every line; gzip is told by its first bytes. A line
    that is not UTF-8 is an error or, with "replace", read with U+FFFD in the wrong places and counted in a warning."""
    n_replaced, example = 0, 0
    try:
        with open_unpacked(path) as file:
            for number, raw in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), 1):
                if len(raw) > LONGEST_LINE:
                    raise InputError(
                        f"{path}:{number}: the line is longer than {LONGEST_LINE >> 20} MiB; is the file what its name "
                        "says, with a record a line? One JSON array is read with --format json"
                    )
                if number == 1 and raw.startswith(_BOM):
                    raw = raw[len(_BOM) :]
                try:
                    text = raw.decode()
                except UnicodeDecodeError as error:
                    if on_bad_bytes == "error":
                        other = "UTF-16, " if number == 1 and raw.startswith(_UTF16) else ""
                        raise InputError(
                            f"{path}:{number} is {other}not UTF-8 ({error.reason} at byte {error.start + 1} of the "
                            "line); convert the file, for example with iconv, or, for a collection, set "
                            "data.on_bad_bytes=replace"
                        ) from error
                    text = raw.decode("utf-8", "replace")
                    n_replaced, example = n_replaced + 1, example or number
                text = text.rstrip("\r\n")
                if blank or (text and not text.isspace()):
                    yield Line(number, path, text)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is not a whole gzip file: {error}") from error
    if n_replaced:
        log.warning(
            "%s: %d lines are not UTF-8 (such as line %d); wrong bytes were replaced", path, n_replaced, example
        )


def read_start(path: Path, n_bytes: int = 1 << 16) -> bytes:
    """The first bytes, unpacked."""
    with open_unpacked(path) as file:
        return file.read(n_bytes)


def read_pieces(path: Path, on_bad_bytes: str = "error") -> Iterator[str]:
    """The text of a file as it is read and unpacked, some of it at a time, without a mark of byte order."""
    decoder, n_lines, raw = codecs.getincrementaldecoder("utf-8-sig")(), 1, b"-"
    try:
        with open_unpacked(path) as file:
            while raw:
                raw = file.read(BUFFER)
                try:
                    text = decoder.decode(raw, final=not raw)
                except UnicodeDecodeError as error:
                    if on_bad_bytes == "error":
                        line = n_lines + error.object.count(b"\n", 0, error.start)
                        raise InputError(
                            f"{path}:{line} is not UTF-8 ({error.reason}); convert the file, for example with iconv, "
                            "or set data.on_bad_bytes=replace"
                        ) from error
                    log.warning("%s is not UTF-8; wrong bytes were replaced", path)
                    decoder.errors = "replace"
                    text = decoder.decode(raw, final=not raw)
                n_lines += text.count("\n")
                if text:
                    yield text
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is not a whole gzip file: {error}") from error


def read_whole(path: Path, on_bad_bytes: str = "error") -> str:
    """The text of a whole file, with "\n" at the end of each line. It may be as long as a line of other files: a few
    bytes of gzip, or a hole, can stand for gigabytes."""
    parts, length = [], 0
    for part in read_pieces(path, on_bad_bytes):
        parts.append(part)
        length += len(part)
        if length > LARGEST_WHOLE:
            most = f"{LARGEST_WHOLE >> 20} MiB"
            raise InputError(
                f"{path} is longer than {most}, the most that is read as one text; leave it out, or cut it"
            )
    return "".join(parts).replace("\r\n", "\n")


def open_unpacked(path: Path) -> BinaryIO:
    """The bytes of a file, which are unpacked where it begins as gzip does."""
    require_plain_file(path, path.stat())  # a pipe without a writer would be waited for, and one with, read once
    with path.open("rb") as file:
        packed = file.read(len(_GZIP)) == _GZIP
    if not packed and path.suffix != ".gz":
        return path.open("rb")
    return io.BufferedReader(_Unpacking(path, "rb"), BUFFER)  # which finds lines in C; gzip's own does it in Python


class _Unpacking(gzip.GzipFile):
    """Ends where a few bytes stand for very many: a thousand times as many are possible."""

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        n_packed = self.myfileobj.tell() if self.myfileobj is not None else 0  # that were read so far
        if self.tell() > max(FEW_UNPACKED, MOST_UNPACKED * n_packed):
            raise InputError(
                f"{self.name} unpacks to more than {MOST_UNPACKED} times its size, which no file of texts does; to "
                "read it all the same, unpack it"
            )
        return found
