"""The texts of an index's documents, compressed in blocks and read one by one by memory map.

texts.zlib              blocks one after the other, each compressed by itself
texts.block_starts.npy  int64 [blocks + 1]   where each block begins in that file
texts.block_rows.npy    int64 [blocks + 1]   the first row of each block
texts.ends.npy          uint32 [rows]        where each row ends in its block, once that is decompressed
texts.rows.npy          int64 [documents]    the row of each document; only where an index is reordered

A row is the length of the title in bytes (4 of them, the lowest first), the title and the text in UTF-8. One of no
bytes has no text: it is of a document that came without it. Rows are in the order in which documents came.
"""

import logging
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import ArrayWriter, StringTable, open_array
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.pinned import known_as
from lexigraft.core.types import Document
from lexigraft.core.validation import require_permutation, require_pointers, wrong

NAME = "texts"
BLOBS, STARTS, ROWS, ENDS, ORDER = (
    f"{NAME}.{rest}" for rest in ("zlib", "block_starts.npy", "block_rows.npy", "ends.npy", "rows.npy")
)
REMEMBERED_BYTES = 1 << 21  # of blocks that were decompressed
BLOCK_BYTES = 1 << 15  # larger ones compress little better, and one is decompressed for every text that is shown
BLOCK_ROWS = 1 << 12  # of rows without text no number fills the bytes of a block, and a block is held in memory
LARGEST_ROW = 2**32 - 1
LARGEST_TAKEN = 1 << 28  # bytes of a row that are believed of an index made elsewhere
TITLE_LENGTH = 4  # bytes
LEVEL = 6
ROWS_AT_ONCE = 1 << 16  # whose lengths are worked out together

log = logging.getLogger(__name__)


class KeptText(NamedTuple):
    """A document as it was read; `title` may be empty."""

    title: str
    text: str

    @property
    def contents(self) -> str:
        """What was encoded."""
        return Document("", self.title, self.text).contents


class TextWriter:
    """Writes texts into a folder as they come. Those that are more than `most` bytes in all are not kept: what was
    written goes, and `keeps` is false from then on."""

    def __init__(self, folder: Path, most: float = float("inf")) -> None:
        self._folder, self._most = folder, most
        self._open = ExitStack()
        self._blobs = self._open.enter_context((folder / BLOBS).open("wb"))
        self._starts = self._open.enter_context(ArrayWriter(folder / STARTS, np.int64))
        self._rows = self._open.enter_context(ArrayWriter(folder / ROWS, np.int64))
        self._ends = self._open.enter_context(ArrayWriter(folder / ENDS, np.uint32))
        self._block, self._block_ends = bytearray(), list[int]()
        self._position = 0
        self.n_rows, self.n_bytes = 0, 0
        self.keeps = True
        self._begin_block()
        if most <= 0:
            self._drop()

    def append(self, text: KeptText | None) -> None:
        """One more document; None has no text. A lone surrogate, which UTF-8 cannot hold, becomes "?"."""
        self.n_rows += 1
        if not self.keeps:
            return
        row = b"" if text is None else _row(text)
        self.n_bytes += max(0, len(row) - TITLE_LENGTH)
        if self.n_bytes > self._most:
            log.info("texts are not kept: they are more than %d MiB; --texts yes keeps them", int(self._most) >> 20)
            self._drop()
            return
        is_full = len(self._block) + len(row) > BLOCK_BYTES or len(self._block_ends) == BLOCK_ROWS
        if self._block_ends and is_full:
            self._end_block()
        self._block += row
        self._block_ends.append(len(self._block))

    def passing(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The same documents, each of which is kept on its way."""
        for document in documents:
            self.append(KeptText(document.title, document.text))
            yield document

    def _end_block(self) -> None:
        compressed = zlib.compress(bytes(self._block), LEVEL)
        self._blobs.write(compressed)
        self._ends.append(np.array(self._block_ends, np.uint32))
        self._position += len(compressed)
        self._block, self._block_ends = bytearray(), []
        self._begin_block()

    def _begin_block(self) -> None:
        self._starts.append(np.array([self._position]))
        self._rows.append(np.array([self._ends.length]))

    def _drop(self) -> None:
        self.keeps = False
        self._block, self._block_ends = bytearray(), []
        self._open.close()
        remove_texts(self._folder)

    def __enter__(self) -> "TextWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.keeps and self._block_ends:
            self._end_block()
        self._open.close()


def _row(text: KeptText) -> bytes:
    title, body = text.title.encode("utf-8", "replace"), text.text.encode("utf-8", "replace")
    if len(title) + len(body) > LARGEST_ROW - TITLE_LENGTH:
        raise InputError("a document has more than 4 GiB of text, which an index cannot keep; set index.texts=no")
    return len(title).to_bytes(TITLE_LENGTH, "little") + title + body


class StoredTexts:
    """The texts that a `TextWriter` left in a folder, by the ordinals of the index there."""

    def __init__(self, folder: Path) -> None:
        self._path = known_as(folder / BLOBS)
        self._starts, self._rows = open_array(folder / STARTS, np.int64), open_array(folder / ROWS, np.int64)
        self._ends = open_array(folder / ENDS, np.uint32)
        ordered = (folder / ORDER).is_file()
        self._order: NDArray[np.int64] | None = open_array(folder / ORDER, np.int64) if ordered else None
        n_bytes = (folder / BLOBS).stat().st_size
        fits = len(self._starts) == len(self._rows) > 0
        if not fits or self._starts[-1] != n_bytes or self._rows[-1] != len(self._ends):
            raise ArtifactError(f"{self._path} does not fit the files beside it: it was changed; build it again")
        # An empty file cannot be mapped.
        self._blobs = memoryview(
            np.asarray(np.memmap(os.fspath(folder / BLOBS), np.uint8, "r")).data if n_bytes else b""
        )
        self._last: dict[int, bytes] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._ends)

    def validate(self) -> None:
        """Raise `ArtifactError` unless every row lies in its block, every block in the file, and none is larger than
        it may be. Blocks themselves are decompressed when they are read, never to more than is said here."""
        folder, starts, rows, ends = self._path.parent, self._starts, self._rows, self._ends
        require_pointers(folder / STARTS, starts, len(starts) - 1, len(self._blobs))
        require_pointers(folder / ROWS, rows, len(rows) - 1, len(ends))
        n_rows = np.diff(rows)
        if (n_rows == 0).any():
            raise wrong(folder / ROWS, "has blocks without rows")
        lengths = np.diff(ends.astype(np.int64), prepend=0)
        lengths[rows[:-1]] = ends[rows[:-1]]
        if (lengths < 0).any():
            raise wrong(folder / ENDS, "has rows that end before they begin")
        if (ends[rows[1:] - 1][n_rows > 1] > BLOCK_BYTES).any():
            raise wrong(folder / ENDS, "has blocks that are larger than any is written")
        if len(lengths) and int(lengths.max()) > LARGEST_TAKEN:
            raise wrong(folder / ENDS, f"has a text of more than {LARGEST_TAKEN >> 20} MiB, which is not believed")
        if self._order is not None:
            require_permutation(folder / ORDER, self._order, len(self))

    def get(self, ordinal: int) -> KeptText | None:
        """The text of a document; None where it came without one."""
        row = ordinal if self._order is None else int(self._order[ordinal])
        if not 0 <= row < len(self):
            raise IndexError(ordinal)
        block = int(np.searchsorted(self._rows, row, side="right")) - 1
        start = int(self._ends[row - 1]) if row > self._rows[block] else 0
        end = int(self._ends[row])
        if start == end:
            return None
        try:
            found = self._decompressed(block)[start:end]
            split = TITLE_LENGTH + int.from_bytes(found[:TITLE_LENGTH], "little")
            return KeptText(found[TITLE_LENGTH:split].decode(), found[split:].decode())
        except (zlib.error, UnicodeDecodeError) as error:
            raise ArtifactError(f"{self._path} is damaged ({error}); build the index again") from error

    def _decompressed(self, block: int) -> bytes:
        """The last few are remembered, for who reads all texts in order, and for one who types a query, whose results
        change little from key to key."""
        content = self._last.get(block)
        if content is None:
            stored = self._blobs[int(self._starts[block]) : int(self._starts[block + 1])]
            size = int(self._ends[self._rows[block + 1] - 1])
            unpacking = zlib.decompressobj()
            content = unpacking.decompress(stored, size + 1)  # a few bytes can say that they are gigabytes
            if len(content) != size or not unpacking.eof:
                raise zlib.error(f"block {block} is not of {size} bytes")
            with self._lock:
                self._last[block] = content
                while len(self._last) > 1 and sum(map(len, self._last.values())) > REMEMBERED_BYTES:
                    del self._last[next(iter(self._last))]
        return content

    @property
    def most_bytes(self) -> int:
        """No less than `count_bytes`, by one number a block."""
        return int(self._ends[self._rows[1:] - 1].sum(dtype=np.int64))

    def count_bytes(self, allowed: NDArray[np.uint8] | None = None) -> int:
        """Of titles and texts in UTF-8: of all, or of the documents whose ordinals `allowed` has no 0 for."""
        parts = self._lengths(allowed)
        return sum(int(part.sum()) - TITLE_LENGTH * int(np.count_nonzero(part)) for part in parts)

    def holds_any(self, allowed: NDArray[np.uint8]) -> bool:
        """Whether any of these documents has a text."""
        return any(part.any() for part in self._lengths(allowed))

    def _lengths(self, allowed: NDArray[np.uint8] | None) -> Iterator[NDArray[np.int64]]:
        """The bytes of these documents' rows, some at a time."""
        if allowed is not None and self._order is not None:
            by_ordinal, allowed = allowed, np.empty_like(allowed)
            allowed[self._order] = by_ordinal
        for first in range(0, len(self), ROWS_AT_ONCE):
            last = min(first + ROWS_AT_ONCE, len(self))
            ends = np.zeros(last - first + 1, np.int64)
            ends[1:] = self._ends[first:last]
            ends[0] = self._ends[first - 1] if first else 0
            lengths = np.diff(ends)
            low, high = np.searchsorted(self._rows, (first, last))
            begins = self._rows[low:high] - first  # of blocks
            lengths[begins] = ends[begins + 1]
            yield lengths if allowed is None else lengths[allowed[first:last] != 0]


def open_texts(folder: Path) -> StoredTexts | None:
    """The texts in the folder of an index; None where it keeps none."""
    return StoredTexts(folder) if (folder / BLOBS).is_file() else None


def remove_texts(written: Path) -> None:
    """Remove what a `TextWriter` wrote, if there is something."""
    for name in (BLOBS, STARTS, ROWS, ENDS):
        (written / name).unlink(missing_ok=True)


def keep_texts(written: Path, folder: Path, came: Sequence[str], doc_ids: Sequence[str] | None) -> None:
    """Move what a `TextWriter` wrote, if it keeps something, into the folder of an index. `doc_ids` is what `own_order`
    says of the index, `came` are the same ids in the order in which documents came."""
    if not (written / BLOBS).is_file():
        return
    for name in (BLOBS, STARTS, ROWS, ENDS):
        (written / name).rename(folder / name)
    if doc_ids is not None:
        row_of = {doc_id: row for row, doc_id in enumerate(came)}
        np.save(folder / ORDER, np.array([row_of[doc_id] for doc_id in doc_ids], np.int64))


def copy_texts(index: Path, folder: Path) -> None:
    """Copy the texts of an index into `folder`, as a `TextWriter` wrote them, so that another index may keep them."""
    if (index / BLOBS).is_file():
        for name in (BLOBS, STARTS, ROWS, ENDS):
            shutil.copyfile(index / name, folder / name)


def own_order(index: Path, reordered: bool) -> Sequence[str] | None:
    """The ids of an index's documents where they are in an order of their own; None where they lie as they came."""
    return StringTable(index, "doc_ids") if reordered else None
