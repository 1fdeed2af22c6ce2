"""A CIFF file, looked through: its terms, its documents and how many postings each has. Every number is believed only
as far as the file has bytes for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from lexigraft.core.array_types import Bytes, Int64s
from lexigraft.core.arrays import read_only
from lexigraft.core.errors import InputError
from lexigraft.core.plain_files import require_plain_file
from lexigraft.core.progress import Progress
from lexigraft.export.importing import ciff_kernels as kernels
from lexigraft.export.lists.ciff_wire import VERSION

AT_ONCE = 1 << 14  # records that are read together
LONGEST_NAME = 1 << 16  # bytes: what is longer is no term and no id, but a mistake
_HEADER_FIELDS = {8: "version", 16: "num_postings_lists", 24: "num_docs"}


@dataclass(frozen=True)
class CiffFile:
    """`starts` and `ends` of the messages of lists in `data`, in the order of the file; postings of each document in
    `counts`; `largest` tf. Records begin at `records`."""

    path: Path
    data: Bytes
    terms: list[str]
    starts: Int64s
    ends: Int64s
    counts: Int64s
    largest: int
    records: int

    def doc_ids(self) -> Iterator[list[str]]:
        """The ids of the documents in their order, some at a time; raises for what is wrong, up to the file's end."""
        at, done, n_documents = self.records, 0, len(self.counts)
        names = np.zeros((AT_ONCE, 2), np.int64)
        while done < n_documents:
            wanted = min(AT_ONCE, n_documents - done)
            at, n = kernels.scan_records(self.data, at, done, wanted, names)
            if n < wanted:
                self._wrong_record(at, done + n)
            yield [
                _name(self.path, self.data, start, end, f"the id of document {done + row}")
                for row, (start, end) in enumerate(names[:n].tolist())
            ]
            done += n
        if at < len(self.data):
            raise InputError(
                f"{self.path}: {len(self.data) - at:,} bytes follow the last of {n_documents:,} documents that its "
                "header counts; it was damaged, or written by halves"
            )

    def _wrong_record(self, at: int, number: int) -> NoReturn:
        place = f"document {number} of {len(self.counts):,}, at byte {at:,}"
        size, start = kernels.read_varint(self.data, at, len(self.data))
        if start < 0 or not 0 <= size <= len(self.data) - start:
            raise _cut_short(self.path, place)
        raise InputError(
            f"{self.path}: {place}, is damaged, has another number (they ascend from 0 on), or is no document: its "
            f"header counts {len(self.starts):,} lists"
        )


def open_ciff(path: Path, progress: Progress) -> CiffFile:
    """Look through the header and all lists of a file."""
    require_plain_file(path, path.stat())
    if not path.stat().st_size:
        raise InputError(f"{path} is empty; a CIFF file begins with a header")
    data = read_only(np.asarray(np.memmap(path, np.uint8, "r")))
    n_lists, n_documents, at = _read_header(path, data)
    starts, ends, counts = np.zeros(n_lists, np.int64), np.zeros(n_lists, np.int64), np.zeros(n_documents, np.int64)
    facts, terms, largest = np.zeros(kernels.N_FACTS, np.int64), [], 0
    for number in progress.track(range(n_lists), "looking through lists", n_lists):
        place = f"list {number} of {n_lists:,}, at byte {at:,}"
        starts[number], ends[number] = start, at = _message(path, data, at, place)
        kernels.scan_list(data, start, at, counts, facts)
        span = int(facts[kernels.TERM_START]), int(facts[kernels.TERM_END])
        term = _name(path, data, *span, f"the term of {place}")
        _require_right(path, f"list {number} of {n_lists:,}, of term {term!r}", facts, n_documents)
        terms.append(term)
        largest = max(largest, int(facts[kernels.TF_MOST]))
    _require_distinct(path, terms)
    return CiffFile(path, data, terms, starts, ends, counts, largest, at)


def _read_header(path: Path, data: Bytes) -> tuple[int, int, int]:
    """(lists, documents, place behind the header)."""
    at, end = _message(path, data, 0, "the header")
    found = dict.fromkeys(_HEADER_FIELDS.values(), 0)
    while at < end:
        tag, value, _, at = kernels.read_field(data, at, end)
        if at < 0:
            raise InputError(f"{path} does not begin with a header of CIFF; give a file of that format (--format)")
        if tag in _HEADER_FIELDS:
            found[_HEADER_FIELDS[tag]] = value
    version, n_lists, n_documents = found.values()
    if version != VERSION:
        raise InputError(f"{path} says that it is of CIFF's version {version}; version {VERSION} is read")
    left = len(data) - end
    for name, count in (("num_postings_lists", n_lists), ("num_docs", n_documents)):
        if not 0 < count <= left:  # every message takes a byte at least
            raise InputError(
                f"{path}: its header says {name} = {count}, and {left:,} bytes follow it; it has no such number of them"
            )
    return n_lists, n_documents, end


def _message(path: Path, data: Bytes, at: int, place: str) -> tuple[int, int]:
    """(first byte, place behind) of the message that stands at `at` behind its length."""
    size, start = kernels.read_varint(data, at, len(data))
    if start < 0 or not 0 <= size <= len(data) - start:
        raise _cut_short(path, place)
    return start, start + size


def _cut_short(path: Path, place: str) -> InputError:
    return InputError(f"{path} ends within {place}: it is cut short, damaged, or no CIFF file (gzip is not read)")


def _name(path: Path, data: Bytes, start: int, end: int, what: str) -> str:
    if not 0 < end - start <= LONGEST_NAME:
        raise InputError(f"{path}: {what} has {end - start:,} bytes; 1 to {LONGEST_NAME:,} are allowed")
    try:
        name = data[start:end].tobytes().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: {what} is not UTF-8 ({error.reason} at byte {start + error.start:,})") from error
    if "\0" in name:
        raise InputError(f"{path}: {what} holds a NUL character: {name!r}")
    return name


def _require_right(path: Path, place: str, facts: Int64s, n_documents: int) -> None:
    _, _, df, cf, n_postings, tf_sum, _, wrong, value = facts.tolist()
    posting = f"{path}: {place}: posting {n_postings}"
    if wrong == kernels.BROKEN:
        raise InputError(f"{posting} or a field beside it is broken; the file was damaged")
    if wrong == kernels.BACKWARDS:
        raise InputError(f"{posting} has a gap of {value} to the document before; documents must ascend")
    if wrong == kernels.UNKNOWN_DOCUMENT:
        raise InputError(f"{posting} is {value:,} further than the one before, and there are {n_documents:,} documents")
    if wrong == kernels.NOT_POSITIVE:
        raise InputError(f"{posting} has tf = {value}; it must be from 1 to {2**31 - 1:,}")
    for name, said, found in (("df", df, n_postings), ("cf", cf, tf_sum)):
        if said != found:
            raise InputError(f"{path}: {place}, says {name} = {said:,}, and its postings give {found:,}")


def _require_distinct(path: Path, terms: list[str]) -> None:
    if len(set(terms)) < len(terms):
        seen: dict[str, int] = {}
        for number, term in enumerate(terms):
            if term in seen:
                raise InputError(
                    f"{path}: lists {seen[term]} and {number} are both of term {term!r}; each has one list"
                )
            seen[term] = number
