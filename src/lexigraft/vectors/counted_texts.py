"""BM25 without its IDF: texts counted once, and the saturated term frequencies that any average length makes of them.

    w(t, d) = tf / (tf + k1 * (1 - b + b * |d| / avg|d|))

The IDF, which depends on all documents, is left to the query (`LiveLexicalQueries`), so counts stay true whatever is
added and deleted. The terms of a row lie in the order of their first appearance in the text, not by number: so the
vocabulary of any choice of rows, numbered as if they alone had been read, can be had from the counts.

row_ids.* titles.*                  string tables
indptr.npy term_ids.npy counts.npy  CSR, terms in the order of their first appearance
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import ArrayWriter, StringTable, open_array, release_pages
from lexigraft.core.compiled import compiled
from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Document, SparseMatrix, Vocabulary
from lexigraft.core.word_rule import WordRule
from lexigraft.vectors.analysis import USUAL_RULE, Analyser
from lexigraft.vectors.lexical import TermReader, text_batches
from lexigraft.vectors.rows_writer import COUNTS, DocumentRowsWriter
from lexigraft.vectors.store import row_ranges

ARRAYS = ("indptr", "term_ids", "counts")


@dataclass(frozen=True)
class CountedRows:
    """Counted documents, memory-mapped from `folder`."""

    folder: Path
    row_ids: Sequence[str]
    titles: Sequence[str]
    indptr: NDArray[np.int64]
    term_ids: NDArray[np.int32]
    counts: NDArray[np.int32]
    vocabulary: Vocabulary

    @property
    def n_rows(self) -> int:
        return len(self.row_ids)

    @cached_property
    def mean_length(self) -> float:
        """Terms a document on average, at least 1, as BM25 takes it."""
        total = sum(int(self.counts[s:e].sum(dtype=np.int64)) for s, e in row_ranges(np.arange(len(self.counts) + 1)))
        return max(total / max(1, self.n_rows), 1.0)


class CountedRowsWriter(DocumentRowsWriter):
    """Appends counted documents to the files of `folder`; opened again as `CountedRows` by `open_counted`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, COUNTS)

    def append(
        self,
        row_ids: Iterable[str],
        titles: Iterable[str],
        ends: NDArray[np.int64],
        term_ids: NDArray[np.int32],
        counts: NDArray[np.int32],
    ) -> None:
        """Rows that end at `ends` of `term_ids` and `counts`."""
        self.append_names(row_ids, titles)
        self.append_rows(ends, term_ids, counts)


def open_counted(folder: Path, vocabulary: Vocabulary) -> CountedRows:
    """What a `CountedRowsWriter` wrote into `folder`, whose term ids are those of `vocabulary`."""
    row_ids, titles = StringTable(folder, "row_ids"), StringTable(folder, "titles")
    indptr, term_ids, counts = (open_array(folder / f"{name}.npy") for name in ARRAYS)
    return CountedRows(folder, row_ids, titles, indptr, term_ids, counts, vocabulary)


def count_texts(
    documents: Iterable[Document],
    settings: LexicalSettings,
    known: Iterable[str],
    folder: Path,
    rule: WordRule = USUAL_RULE,
) -> CountedRows:
    """Count the terms of a stream of documents into `folder`. The vocabulary begins with the terms `known`, with the
    numbers they have there; new ones follow in the order of their first appearance."""
    reader = TermReader(Analyser(settings, rule))
    reader.id_of.update((term, number) for number, term in enumerate(known))
    with CountedRowsWriter(folder) as rows:
        for batch in text_batches(documents, reader.analyser.cutter):
            tokens, token_ends = reader.read(bytes(batch.text), np.array(batch.ends, np.int64))
            rows.append(batch.doc_ids, batch.titles, *count_in_order(tokens, token_ends, len(reader.id_of)))
    return open_counted(folder, Vocabulary(tuple(reader.id_of)))


@compiled
def count_in_order(
    tokens: NDArray[np.int32], ends: NDArray[np.int64], n_terms: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Fold the repeats of each row of `tokens` (rows end at `ends`): (new ends, distinct ids in the order of their
    first appearance, counts)."""
    new_ends = np.empty(len(ends), np.int64)
    ids, counts = np.empty(len(tokens), np.int32), np.empty(len(tokens), np.int32)
    place = np.full(n_terms, -1, np.int64)  # where a term was written last; one before the row's first is of another
    at, n = 0, 0
    for row in range(len(ends)):
        first = n
        while at < ends[row]:
            term = tokens[at]
            if place[term] >= first:
                counts[place[term]] += 1
            else:
                place[term] = n
                ids[n], counts[n] = term, 1
                n += 1
            at += 1
        new_ends[row] = n
    return new_ends, ids[:n].copy(), counts[:n].copy()


class Renumbering:
    """Terms numbered anew in the order in which they are met, as a reader of the same texts would."""

    def __init__(self, n_terms: int) -> None:
        self._new: NDArray[np.int32] = np.full(n_terms, -1, np.int32)
        self._n_met = 0

    def renumber(self, term_ids: NDArray[np.int32]) -> NDArray[np.int32]:
        renumbered = np.empty(len(term_ids), np.int32)
        self._n_met = number_by_appearance(term_ids, self._new, self._n_met, renumbered)
        return renumbered

    def met(self) -> NDArray[np.int64]:
        """The old ids of the terms that were met, in their new order."""
        old = np.empty(self._n_met, np.int64)
        held = np.flatnonzero(self._new >= 0)
        old[self._new[held]] = held
        return old


@compiled
def number_by_appearance(
    term_ids: NDArray[np.int32], new: NDArray[np.int32], n_met: int, renumbered: NDArray[np.int32]
) -> int:
    """Fill `renumbered` by `new`, where a term that was not met (-1) gets the next number; returns how many were."""
    for i in range(len(term_ids)):
        term = term_ids[i]
        if new[term] < 0:
            new[term] = n_met
            n_met += 1
        renumbered[i] = new[term]
    return n_met


def saturated_frequencies(
    rows: CountedRows, mean_length: float, settings: LexicalSettings, folder: Path
) -> SparseMatrix:
    """The documents' vectors: term frequencies saturated as BM25 does it for this average length, none above 1. Written
    into `folder` chunk by chunk, and mapped."""
    with (
        ArrayWriter(folder / "ascending.npy", np.int32) as term_ids,
        ArrayWriter(folder / "weights.npy", np.float32) as weights,
    ):
        for start, end in row_ranges(rows.indptr):
            span = slice(rows.indptr[start], rows.indptr[end])
            pointers = rows.indptr[start : end + 1] - rows.indptr[start]
            ids, tf, lengths = ascending_rows(pointers, rows.term_ids[span], rows.counts[span])
            norms = settings.k1 * (1 - settings.b + settings.b * lengths / mean_length)
            term_ids.append(ids)
            weights.append(tf / (tf + np.repeat(norms, np.diff(pointers))))
            release_pages(rows.term_ids, rows.counts)
    return SparseMatrix(
        row_ids=rows.row_ids,
        indptr=rows.indptr,
        term_ids=open_array(folder / "ascending.npy"),
        weights=open_array(folder / "weights.npy"),
        n_terms=len(rows.vocabulary),
        vocab_fingerprint=rows.vocabulary.fingerprint,
    )


@compiled
def ascending_rows(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], counts: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
    """Each row by term id: (term ids, counts as float64, the rows' lengths in words)."""
    ids, tf = np.empty(len(term_ids), np.int32), np.empty(len(term_ids), np.float64)
    lengths = np.zeros(len(indptr) - 1, np.int64)
    for row in range(len(indptr) - 1):
        first = indptr[row]
        order = np.argsort(term_ids[first : indptr[row + 1]])
        for i in range(len(order)):
            count = counts[first + order[i]]
            ids[first + i], tf[first + i] = term_ids[first + order[i]], count
            lengths[row] += count
    return ids, tf, lengths
