"""The texts of a batch job, written out once, so that every shard reads its own and no other.

A collection is a stream: who wants its last tenth reads all of it. It may also lie where other machines cannot read it.
So one process reads it, once, and writes documents as they will be encoded together, batch by batch:

texts.jsonl    [id, title, text], a line a document
rows.npy       int64 [batches]: the documents of each
bytes.npy      int64 [batches]: its bytes in texts.jsonl
digests.npy    uint8 [batches x 32]: the SHA-256 of those

Nothing here depends on the number of shards: a shard is a range of batches.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Int64s
from lexigraft.core.arrays import ArrayWriter, open_array
from lexigraft.core.artifact import open_artifact
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.pinned import of_one_version
from lexigraft.core.types import Document

KIND, FORMAT_VERSION = "texts of shards", 1
TEXTS, ROWS, BYTES, DIGESTS = "texts.jsonl", "rows.npy", "bytes.npy", "digests.npy"
DIGEST_BYTES = 32


def write_texts(batches: Iterable[Sequence[Document]], folder: Path) -> None:
    """Write documents, in their batches, into `folder`."""
    with (
        (folder / TEXTS).open("wb") as file,
        ArrayWriter(folder / ROWS, np.int64) as rows,
        ArrayWriter(folder / BYTES, np.int64) as sizes,
        ArrayWriter(folder / DIGESTS, np.uint8) as digests,
    ):
        for batch in batches:
            # Escaped to ASCII, so that every string comes back as it was, lone surrogates too.
            lines = "".join(json.dumps(list(document)) + "\n" for document in batch).encode("ascii")
            file.write(lines)
            rows.append(np.array([len(batch)], np.int64))
            sizes.append(np.array([len(lines)], np.int64))
            digests.append(np.frombuffer(hashlib.sha256(lines).digest(), np.uint8))
    if not rows.length:
        raise InputError("the collection has no documents; its corpus file is empty")


@dataclass(frozen=True)
class BatchRange:
    """A shard: the batches `first` to `last`, without the last; `first_row` to `last_row` are their documents."""

    first: int
    last: int
    first_row: int
    last_row: int

    @property
    def n_rows(self) -> int:
        return self.last_row - self.first_row


@dataclass(frozen=True)
class ShardTexts:
    """What `write_texts` wrote, opened."""

    path: Path
    rows: Int64s
    sizes: Int64s
    digests: NDArray[np.uint8]

    def cut(self, n_shards: int) -> list[BatchRange]:
        """At most so many ranges of about as many bytes each; fewer where there are fewer batches."""
        bytes_upto = np.concatenate((np.zeros(1, np.int64), np.cumsum(self.sizes)))
        rows_upto = np.concatenate((np.zeros(1, np.int64), np.cumsum(self.rows)))
        targets = bytes_upto[-1] * np.arange(1, n_shards) // n_shards
        ends = np.unique([0, *np.searchsorted(bytes_upto, targets, side="left").tolist(), len(self.rows)]).tolist()
        return [BatchRange(first, last, int(rows_upto[first]), int(rows_upto[last])) for first, last in pairwise(ends)]

    def digest(self, shard: BatchRange) -> str:
        """What tells the texts of a shard from any others."""
        return hashlib.sha256(self.digests[shard.first : shard.last].tobytes()).hexdigest()

    def read(self, shard: BatchRange) -> Iterator[list[Document]]:
        """The batches of a shard. A byte that is not as it was written raises `ArtifactError`."""
        with (self.path / TEXTS).open("rb") as file:
            file.seek(int(self.sizes[: shard.first].sum()))
            for number in range(shard.first, shard.last):
                lines = file.read(int(self.sizes[number]))
                if hashlib.sha256(lines).digest() != self.digests[number].tobytes():
                    raise ArtifactError(
                        f"{self.path / TEXTS} does not match its checksum: it was changed or damaged; give "
                        "the same command again, which writes it anew"
                    )
                yield [Document(*json.loads(line)) for line in lines.splitlines()]


@of_one_version
def _open(path: Path) -> tuple[Int64s, Int64s, NDArray[np.uint8]]:
    # Sizes alone: a shard compares the checksums of its own batches, and of no others.
    open_artifact(path, KIND, FORMAT_VERSION, checksums=False)
    rows, sizes = (open_array(path / name, np.int64) for name in (ROWS, BYTES))
    digests = open_array(path / DIGESTS, np.uint8)
    fits = len(rows) == len(sizes) and len(digests) == DIGEST_BYTES * len(rows)
    if not fits or (rows < 1).any() or (sizes < 1).any() or int(sizes.sum()) != (path / TEXTS).stat().st_size:
        raise ArtifactError(f"{path} does not fit together: it was changed or damaged; remove it")
    return rows, sizes, digests.reshape(-1, DIGEST_BYTES)


def open_texts(path: Path) -> ShardTexts:
    """The texts at `path`."""
    return ShardTexts(path, *_open(path))


@dataclass(frozen=True)
class OfTexts:
    """What does something with the documents of each of `n_shards` shards of `texts`, into folders below `folder`."""

    texts: Path
    folder: Path
    n_shards: int

    @cached_property
    def opened(self) -> ShardTexts:
        return open_texts(self.texts)

    @cached_property
    def cut(self) -> list[BatchRange]:
        return self.opened.cut(self.n_shards)

    @property
    def sizes(self) -> list[int]:
        return [shard.n_rows for shard in self.cut]

    def place_of(self, number: int) -> dict[str, object]:
        """Which of the documents a shard has, as its manifest says it."""
        shard = self.cut[number]
        return {"shard": number, "of": len(self.cut), "rows": [shard.first_row, shard.last_row]}
