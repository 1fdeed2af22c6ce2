"""Documents to dense vectors, streamed: the counterpart of `vectors.encode`."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Int64s
from lexigraft.core.arrays import ArrayWriter, StringTableWriter
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Document
from lexigraft.dense.store import ROW_IDS, TITLES, VECTORS, DenseVectors, DenseVectorsMeta, write_meta
from lexigraft.dense.unfinished import UnfinishedVectors
from lexigraft.inference.dense_meta import DenseNetwork
from lexigraft.vectors.store import shown_title
from lexigraft.vocab.batching import batches

DIGEST = 16  # bytes
READ_AHEAD = 1024  # texts at most that are sorted by length at a time, and that a kill may cost


class KnownTexts:
    """The texts among `wanted` that `documents` have too, whose `vectors` are there, row by row."""

    def __init__(self, wanted: Iterable[Document], documents: Iterable[Document], vectors: DenseVectors) -> None:
        self.vectors, self.n_wanted = vectors, 0
        asked: dict[bytes, int] = {}  # how many ask for each
        for document in wanted:
            key = digest(document.contents)
            asked[key] = asked.get(key, 0) + 1
            self.n_wanted += 1
        keys = enumerate(digest(document.contents) for document in documents)
        self._row = {key: row for row, key in keys if key in asked}
        self.n_known = sum(asked[key] for key in self._row)

    def fill(self, texts: Sequence[str], found: NDArray[Any]) -> Int64s:
        """Write the vectors of those that are known into `found`, and return the places of the others."""
        rows = np.array([self._row.get(digest(text), -1) for text in texts], np.int64)
        there = np.flatnonzero(rows >= 0)
        found[there] = self.vectors.matrix[rows[there]]
        return np.flatnonzero(rows < 0)


def digest(text: str) -> bytes:
    """What tells a text from others, where too many are compared to be held in memory."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()


def encode_dense(
    documents: Iterable[Document],
    network: DenseNetwork,
    query_encoder: Mapping[str, Any],
    folder: Path,
    bits: int,
    passages: bool = False,
    progress: Progress = SILENT,
    total: int | None = None,
    known: KnownTexts | None = None,
    unfinished: UnfinishedVectors | None = None,
) -> DenseVectorsMeta:
    """Write the vectors of a stream of documents, with their ids and titles, into `folder`; `bits`, 16 or 32, are
    those of a number. Those that are `known` are not computed again. `total`: how many there are to compute, where
    that can be said. What a former call left `unfinished` is taken from there."""
    n_rows = 0
    with (
        StringTableWriter(folder, ROW_IDS) as row_ids,
        StringTableWriter(folder, TITLES) as titles,
        ArrayWriter(folder / VECTORS, np.dtype(f"float{bits}")) as vectors,
    ):

        def encoded() -> Iterator[int]:
            """Write all, and tell of each that is computed when it is done."""
            nonlocal n_rows
            for batch in batches(documents, lambda document: len(document.text), READ_AHEAD):
                row_ids.extend(document.doc_id for document in batch)
                titles.extend(shown_title(document) for document in batch)
                found = np.zeros((len(batch), network.meta.width), f"float{bits}")
                texts, others = [document.contents for document in batch], np.arange(len(batch))
                if known is not None:
                    others = known.fill(texts, found)
                if unfinished is not None and unfinished.read(texts, found):
                    yield from range(len(others))
                    others = others[:0]
                for places, some in (
                    network.embed_parts([texts[at] for at in others], are_queries=False) if len(others) else ()
                ):
                    found[others[places]] = some
                    yield from range(len(places))
                if unfinished is not None and len(others):
                    unfinished.keep(texts, found)
                vectors.append(found.reshape(-1))
                n_rows += len(batch)

        for _ in progress.track(encoded(), "embedding documents", total):
            pass
    if not n_rows:
        raise InputError("the collection has no documents; its corpus file is empty")
    meta = DenseVectorsMeta(n_rows, network.meta.width, bits, query_encoder, passages)
    write_meta(folder, meta)
    return meta
