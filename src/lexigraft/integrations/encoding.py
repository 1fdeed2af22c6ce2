"""A model as the frameworks ask for it: some texts at a time, from any thread, cut to so many terms."""

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from lexigraft.core.cut import QueryCut, query_cut
from lexigraft.core.errors import InputError, require
from lexigraft.core.progress import SILENT, Progress
from lexigraft.retrieve.sparse_encoder import SparseEncoder
from lexigraft.vectors.prune import prune_rows

BATCH_SIZE = 256  # texts that are encoded together: of many, some have one length


class SparseRow(NamedTuple):
    """A text as plain lists: term ids, ascending, and what each of them weighs."""

    indices: list[int]
    values: list[float]


class RowEncoder:
    """Writes texts as rows of the model at `model` (a model, or a run with one; or an encoder that is open already).

    `keep`: terms kept of each text, as (qk, dk) say it; 0 keeps all. Any thread may call it: one encodes at a time.
    What was opened stays behind where this is sent to another process, and is opened there when it is needed.
    """

    def __init__(
        self, model: str | Path | SparseEncoder, are_queries: bool, keep: QueryCut = 0, batch_size: int = BATCH_SIZE
    ) -> None:
        require(isinstance(batch_size, int) and batch_size > 0, "batch_size", batch_size, "a whole number from 1 on")
        self._keep, self._are_queries, self._batch_size = query_cut(keep), are_queries, batch_size
        self._model = model if isinstance(model, SparseEncoder) else os.fspath(model)
        self._opened: SparseEncoder | None = None
        self._opening = Lock()

    def open(self) -> SparseEncoder:
        """The encoder, opened when it is first asked for."""
        if isinstance(self._model, SparseEncoder):
            return self._model
        with self._opening:
            if self._opened is None:
                self._opened = SparseEncoder.open(self._model)
            return self._opened

    def rows(self, texts: Sequence[str], progress: Progress = SILENT) -> Iterator[SparseRow]:
        """One row a text, in order; a text without words has no terms."""
        require_texts(texts)
        starts = range(0, len(texts), self._batch_size)
        for start in progress.track(starts, "encoding", len(starts)):
            yield from self._batch(list(texts[start : start + self._batch_size]))

    def _batch(self, texts: list[str]) -> Iterator[SparseRow]:
        encoder = self.open()
        found = encoder.encode_queries(texts) if self._are_queries else encoder.encode_documents(texts)
        indptr, term_ids, weights = prune_rows(found.indptr, found.indices, found.data, self._keep)
        for start, end in pairwise(indptr.tolist()):
            yield SparseRow(term_ids[start:end].tolist(), weights[start:end].tolist())

    def named(self, rows: Iterator[SparseRow]) -> Iterator[dict[str, float]]:
        """Rows as {term: weight}."""
        names = self.open().vocabulary.terms
        for row in rows:
            yield {names[term]: weight for term, weight in zip(*row, strict=True)}

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_opened": None, "_opening": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, _opening=Lock())


def require_texts(texts: Sequence[object]) -> None:
    """Raise for what is no text: a cell of a table that is empty, for one, is a number."""
    if isinstance(texts, str):
        raise InputError("texts is one string; give a list of texts")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"text {place} is {text!r}; give a string, which may be empty")
