"""Documents to dense vectors, streamed: the counterpart of `vectors.encode`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.arrays import ArrayWriter, StringTableWriter
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Document
from lexigraft.dense.store import ROW_IDS, TITLES, VECTORS, DenseVectorsMeta, write_meta
from lexigraft.inference.dense_meta import DenseNetwork
from lexigraft.vectors.store import shown_title
from lexigraft.vocab.batching import batches

READ_AHEAD = 4096  # texts at most that are sorted by length at a time


def encode_dense(
    documents: Iterable[Document],
    network: DenseNetwork,
    query_encoder: Mapping[str, Any],
    folder: Path,
    bits: int,
    passages: bool = False,
    progress: Progress = SILENT,
    total: int | None = None,
) -> DenseVectorsMeta:
    """Write the vectors of a stream of documents, with their ids and titles, into `folder`; `bits`, 16 or 32, are
    those of a number. `total`: how many there are, where it is known."""
    with (
        StringTableWriter(folder, ROW_IDS) as row_ids,
        StringTableWriter(folder, TITLES) as titles,
        ArrayWriter(folder / VECTORS, np.dtype(f"float{bits}")) as vectors,
    ):

        def encoded() -> Iterator[int]:
            for batch in batches(documents, lambda document: len(document.text), READ_AHEAD):
                write(batch)
                yield from range(len(batch))

        def write(batch: Sequence[Document]) -> None:
            row_ids.extend(document.doc_id for document in batch)
            titles.extend(shown_title(document) for document in batch)
            found = network.embed([document.contents for document in batch], are_queries=False)
            vectors.append(found.reshape(-1))

        n_rows = sum(1 for _ in progress.track(encoded(), "embedding documents", total))
    if not n_rows:
        raise InputError("the collection has no documents; its corpus file is empty")
    meta = DenseVectorsMeta(n_rows, network.meta.width, bits, query_encoder, passages)
    write_meta(folder, meta)
    return meta
