"""Arrays and string lists on disk that grow by appending and are read by memory map.

`ArrayWriter` leaves a standard `.npy` file of unknown length in advance; `StringTable` keeps strings as one UTF-8 blob
with offsets, so that millions of document ids cost no Python objects until they are asked for.
"""

import mmap
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lexigraft.core.compiled import compiled, worth_loading
from lexigraft.core.errors import ArtifactError
from lexigraft.core.made_here import MADE_ELSEWHERE
from lexigraft.core.os_errors import remedy_for
from lexigraft.core.pinned import known_as
from lexigraft.core.plain_files import read_plain_file, require_plain_file

_HEADER_BYTES = 128
_PLAIN_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00v\x00\{'descr': '(?P<dtype>[<|][iuf][1248])', 'fortran_order': False, "
    rb"'shape': \((?P<length>[0-9]{1,18}),\), \} *\n"
)
_BYTES_AT_ONCE = 1 << 22  # of strings that are validated
_SMALL = 1 << 14  # bytes of a file that is read: a mapped one is held open, and a process may open no more than 1,024
_ONE_BY_ONE, _IN_ORDER = 50, 5  # what decoding a string costs without a kernel (see `worth_loading`)


def _npy_header(dtype: np.dtype[Any], length: int) -> bytes:
    """A version 1.0 `.npy` header of fixed size, so that it can be rewritten once the length is known."""
    fields = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({length},), }}"
    return (
        b"\x93NUMPY\x01\x00"
        + (_HEADER_BYTES - 10).to_bytes(2, "little")
        + fields.encode().ljust(_HEADER_BYTES - 11)
        + b"\n"
    )


class ArrayWriter:
    """Appends one-dimensional pieces to a `.npy` file; the header gets its length on closing."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.length = 0
        self._file = path.open("wb")
        self._file.write(_npy_header(self.dtype, 0))

    def append(self, piece: NDArray[Any]) -> None:
        piece = np.ascontiguousarray(piece, dtype=self.dtype)
        self._file.write(piece.data)
        self.length += len(piece)

    def __enter__(self) -> "ArrayWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.seek(0)
        self._file.write(_npy_header(self.dtype, self.length))
        self._file.close()


def open_array(path: Path, *dtypes: DTypeLike, dimensions: int = 1) -> NDArray[Any]:
    """Memory-map a `.npy` file read-only. It must hold numbers of one of `dtypes`, where any are given: kernels are
    compiled for what comes, and would take other numbers for these."""
    try:
        require_plain_file(path, file := path.stat())
        # As a plain array: kernels recognise the memmap subclass tens of microseconds later, at every call.
        array = read_only(np.asarray(_mapped(path, file.st_size)))
    except Exception as error:  # a header is a piece of Python to numpy: what comes of it has no end of kinds
        again = "build the artifact again"
        remedy = remedy_for(error, again) if isinstance(error, OSError) else again
        raise ArtifactError(f"{path} cannot be read as an array ({error}); {remedy}") from error
    if dtypes and (array.dtype not in dtypes or array.ndim != dimensions or not array.flags.c_contiguous):
        wanted = f"{' or '.join(str(np.dtype(dtype)) for dtype in dtypes)} of {dimensions}"
        found = f"{array.dtype} of {array.ndim} dimensions"
        raise ArtifactError(f"{path} holds {found} instead of {wanted}: {MADE_ELSEWHERE}")
    return array


def _mapped(path: Path, n_bytes: int) -> NDArray[Any]:
    """The numbers of a `.npy` file. The header that this module writes, and numpy for such arrays, is read here: numpy
    compiles every header as a piece of Python, half a millisecond for each of the twenty files of an index."""
    with path.open("rb") as file:
        plain = _PLAIN_HEADER.fullmatch(file.read(_HEADER_BYTES))
        if plain is not None and n_bytes > _HEADER_BYTES:
            dtype, length = np.dtype(plain["dtype"].decode()), int(plain["length"])
            if length and n_bytes <= _SMALL:
                return np.frombuffer(file.read(_SMALL), dtype, length)
            return np.memmap(file, dtype, "r", _HEADER_BYTES, (length,))
    # An empty array cannot be mapped, and there is nothing to map.
    mode: Literal["r"] | None = "r" if n_bytes > _HEADER_BYTES else None
    # By its name: of a `Path`, numpy follows every link, file by file, to keep a name that nobody asks for.
    return np.load(os.fspath(path), mmap_mode=mode, allow_pickle=False)  # type: ignore[no-any-return]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, which can no longer be written: as what is mapped. numba compiles a kernel once more for arrays
    that can be written, so that one array of another kind costs seconds at its first search."""
    array.flags.writeable = False
    return array


class StringTableWriter:
    """Appends strings to `NAME.utf8` and their end offsets to `NAME.offsets.npy`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._blob = (folder / f"{name}.utf8").open("wb")
        self._offsets = ArrayWriter(folder / f"{name}.offsets.npy", np.int64)
        self._offsets.append(np.zeros(1, np.int64))
        self._position = 0

    def extend(self, strings: Iterable[str]) -> None:
        """Append strings, a bounded number at a time; a lone surrogate, which UTF-8 cannot hold, becomes "?"."""
        stream = iter(strings)
        while encoded := [string.encode("utf-8", "replace") for string in islice(stream, 4096)]:
            ends = np.cumsum([len(piece) for piece in encoded], dtype=np.int64) + self._position
            self._blob.write(b"".join(encoded))
            self._offsets.append(ends)
            self._position = int(ends[-1])

    def __enter__(self) -> "StringTableWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._blob.close()
        self._offsets.__exit__(kind, error, trace)


class StringTable(Sequence[str]):
    """A read-only list of strings, memory-mapped from the files of a `StringTableWriter`."""

    def __init__(self, folder: Path, name: str) -> None:
        path = folder / f"{name}.utf8"
        self._path = known_as(path)
        self._offsets = open_array(folder / f"{name}.offsets.npy", np.int64)
        try:
            is_small = path.stat().st_size <= _SMALL
            found = (
                np.frombuffer(read_plain_file(path), np.uint8)
                if is_small
                else np.memmap(os.fspath(path), np.uint8, "r")
            )
        except FileNotFoundError:
            raise ArtifactError(f"{path} is missing; build the artifact again") from None
        self._bytes: NDArray[np.uint8] = np.asarray(found)
        if not len(self._offsets) or self._offsets[0] != 0 or self._offsets[-1] != len(self._bytes):
            raise self._wrong("does not end where its offsets do")
        self._blob = memoryview(self._bytes.data)  # slices of a memoryview cost a tenth of an array's

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __reduce__(self) -> tuple[type[list[str]], tuple[list[str]]]:
        """Sent to another process it is a list: by then the file may be another one."""
        return list, (list(self),)

    def _wrong(self, what: str) -> ArtifactError:
        return ArtifactError(f"{self._path} {what}: {MADE_ELSEWHERE}")

    def validate(self) -> None:
        """Raise `ArtifactError` unless every string lies within the file, behind the one before it, and is UTF-8. One
        pass over all of it: for tables that others made, which `take` hands to a kernel."""
        offsets, blob = self._offsets, self._bytes
        if (offsets[1:] < offsets[:-1]).any():
            raise self._wrong("has offsets that go back")
        starts = offsets[:-1]
        if ((blob[starts[starts < len(blob)]] & 0xC0) == 0x80).any():
            raise self._wrong("has strings that begin within a character")
        first = 0
        while first < len(self):
            last = int(np.searchsorted(offsets, offsets[first] + _BYTES_AT_ONCE, side="right")) - 1
            last = min(max(last, first + 1), len(self))
            try:
                str(self._blob[offsets[first] : offsets[last]], "utf-8")
            except UnicodeDecodeError:
                raise self._wrong("holds bytes that are not UTF-8") from None
            first = last

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> list[str]: ...
    def __getitem__(self, position: int | slice) -> str | list[str]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        if not -len(self) <= position < len(self):
            raise IndexError(position)
        position %= len(self)
        return str(self._blob[self._offsets[position] : self._offsets[position + 1]], "utf-8")

    def take(self, positions: NDArray[np.integer[Any]]) -> list[str]:
        """The strings at `positions`: gathered into one text and cut, several times faster than one by one."""
        if not worth_loading(_ONE_BY_ONE * len(positions)):
            return [self[position] for position in positions.tolist()]
        places = np.ascontiguousarray(positions, np.int64)
        try:
            strings = gather_nul_ended(self._bytes, self._offsets, places).tobytes().decode().split("\0")[:-1]
        except ValueError as error:  # of a table that nobody validated: a model's, for example
            raise self._wrong(f"cannot be read ({error})") from error
        return strings if len(strings) == len(positions) else [self[int(i)] for i in positions]  # a string held a NUL

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), 4096):
            end = min(start + 4096, len(self))
            if worth_loading(_IN_ORDER * (end - start)):
                yield from self.take(np.arange(start, end))
            else:
                yield from self._between(start, end)

    def _between(self, start: int, end: int) -> list[str]:
        """The strings of these positions, cut out of one text where that has a character a byte."""
        offsets = self._offsets[start : end + 1]
        first, last = int(offsets[0]), int(offsets[-1])
        text = str(self._blob[first:last], "utf-8")
        if len(text) != last - first:
            return [str(self._blob[begin:stop], "utf-8") for begin, stop in pairwise(offsets.tolist())]
        return [text[begin:stop] for begin, stop in pairwise((offsets - first).tolist())]


def taken(strings: Sequence[str], positions: NDArray[np.integer[Any]]) -> list[str]:
    """The strings at `positions`, in one go where they are a table."""
    return strings.take(positions) if isinstance(strings, StringTable) else [strings[at] for at in positions.tolist()]


@compiled
def gather_nul_ended(
    blob: NDArray[np.uint8], offsets: NDArray[np.int64], positions: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """The strings at `positions` one after the other, each followed by a NUL."""
    n_bytes = len(positions)
    for position in positions:
        if not 0 <= position < len(offsets) - 1:
            raise IndexError("no string has such a position")
        if not 0 <= offsets[position] <= offsets[position + 1] <= len(blob):
            raise ValueError("a string lies outside of its file")
        n_bytes += offsets[position + 1] - offsets[position]
    gathered = np.empty(n_bytes, np.uint8)
    at = 0
    for position in positions:
        start, size = offsets[position], offsets[position + 1] - offsets[position]
        gathered[at : at + size] = blob[start : start + size]
        gathered[at + size] = 0
        at += size + 1
    return gathered


def write_strings(folder: Path, name: str, strings: Iterable[str]) -> None:
    with StringTableWriter(folder, name) as table:
        table.extend(strings)


def release_pages(*arrays: NDArray[Any]) -> None:
    """Tell the kernel that mapped pages read so far are not needed: a pass over a file then stays small in memory."""
    for array in arrays:
        owner: Any = array
        while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap):
            owner = owner.base
        if isinstance(owner, np.memmap):
            owner._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]
