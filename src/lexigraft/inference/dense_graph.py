"""A dense encoder as a graph for onnxruntime: what embeds texts where no torch is loaded.

Its folder lies beside the encoder and has the files of `inference.folder`, without facts. The graph takes `subwords`
[texts, length] of texts of one length and gives `vectors` [texts, width], of unit length.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexigraft.core.array_types import Float32s, Int64s
from lexigraft.core.pinned import known_as, read_pinned
from lexigraft.inference.batches import Batch, batches_of
from lexigraft.inference.dense_meta import FORM_FORMAT, FORM_KIND, DenseMeta, read_dense_meta
from lexigraft.inference.folder import GRAPHS, check_form, form_beside, raw_tokenizer
from lexigraft.inference.raw_texts import RawTextReader
from lexigraft.inference.session import Session, open_session
from lexigraft.inference.threads import usable_threads


class DenseGraph:
    """`session` runs the graph whose folder is `folder`, a batch on each of `threads` threads (None: all there are)."""

    def __init__(self, meta: DenseMeta, folder: Path, session: Session, threads: int | None = None) -> None:
        self.meta, self._session, self._threads = meta, session, threads
        self._reader = RawTextReader(raw_tokenizer(folder))

    def reading(self, document_length: int) -> "DenseGraph":
        other = copy(self)
        other.meta = replace(self.meta, document_length=document_length)
        return other

    def embed_parts(self, texts: Sequence[str], are_queries: bool) -> Iterator[tuple[Int64s, Float32s]]:
        length = self.meta.query_length if are_queries else self.meta.document_length
        read = self._reader.read(texts, length)
        batches = batches_of(read, np.ones(len(read.aligned.subwords), np.bool_))[::-1]

        def run(batch: Batch) -> tuple[Int64s, Float32s]:
            (vectors,) = self._session.run(["vectors"], {"subwords": batch.subwords})
            if vectors.shape != (len(batch.rows), self.meta.width) or not np.isfinite(vectors).all():
                raise self._session.gives_no(f"vector of {self.meta.width} finite numbers for each text")
            return batch.rows, vectors

        threads = min(self._threads or usable_threads(), len(batches))
        if threads <= 1:
            yield from map(run, batches)
        else:
            with ThreadPoolExecutor(threads) as pool:
                yield from pool.map(run, batches)


def open_dense_graph(encoder: Path, bits: int, threads: int | None = None) -> DenseGraph:
    """The encoder at `encoder`, whose inference form is there, in so many bits; in 32 where its graph of 8 was not
    kept. Raises `MixedVersionsError` where the form is of another encoder."""
    form = form_beside(known_as(encoder))

    def load(pinned: Path) -> DenseGraph:
        return read_pinned(form, lambda folder: _open_graph(pinned, folder, bits, threads))

    return read_pinned(encoder, load)


def _open_graph(encoder: Path, folder: Path, bits: int, threads: int | None) -> DenseGraph:
    check_form(folder, (FORM_KIND, FORM_FORMAT), encoder)
    graph = folder / GRAPHS[bits]
    return DenseGraph(
        read_dense_meta(encoder), folder, open_session(graph if graph.is_file() else folder / GRAPHS[32]), threads
    )
