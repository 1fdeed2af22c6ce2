"""BM25 as an encoder: documents become vectors of BM25 weights, queries vectors of term counts.

The dot product of the two is the BM25 score (Lucene's form, which leaves out the constant k1 + 1):

    w(t, d) = ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * |d| / avg|d|))

Document frequencies are known only at the end of the stream, so counts are written first and weighed in a second pass
over the counts, not over the text. Memory holds the vocabulary and one batch.
"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import ArrayWriter, StringTableWriter, open_array, release_pages, write_strings
from lexigraft.core.compiled import compiled
from lexigraft.core.config import LexicalSettings
from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, Vocabulary
from lexigraft.vectors.analysis import Analyser
from lexigraft.vectors.store import VectorsMeta, row_ranges, shown_title, write_meta
from lexigraft.vocab.words import split_pieces

BATCH_TOKENS = 1 << 20
BATCH_DOCUMENTS = 1 << 16
MAX_CACHED_PIECES = 1 << 20


class TermIds(dict[bytes, tuple[int, ...]]):
    """Piece of text to the ids of its terms, learned as pieces come: the full word rule, stop-words and stemming are
    paid once per distinct piece, not once per occurrence."""

    def __init__(self, analyser: Analyser) -> None:
        super().__init__()
        self._analyser = analyser
        self.id_of: dict[str, int] = {}

    def __missing__(self, piece: bytes) -> tuple[int, ...]:
        if len(self) >= MAX_CACHED_PIECES:
            self.clear()
        ids = tuple(self.id_of.setdefault(term, len(self.id_of)) for term in self._analyser.terms_of_piece(piece))
        self[piece] = ids
        return ids

    def of_text(self, text: str) -> Iterator[int]:
        return chain.from_iterable(map(self.__getitem__, split_pieces(text)))


def encode_documents(documents: Iterable[Document], settings: LexicalSettings, folder: Path) -> VectorsMeta:
    """Write the BM25 vectors of a stream of documents, with their ids, titles and vocabulary, into `folder`."""
    term_ids = TermIds(Analyser(settings))
    lengths = _count(documents, term_ids, folder)
    if not len(lengths):
        raise InputError("the collection has no documents; its corpus file is empty")
    if not term_ids.id_of:
        raise InputError(f"no word was found in any of the {len(lengths)} documents; nothing can be indexed")
    _weigh(lengths, len(term_ids.id_of), settings, folder)
    vocabulary = Vocabulary(tuple(term_ids.id_of))
    write_strings(folder, "terms", vocabulary.terms)
    meta = VectorsMeta(len(lengths), len(vocabulary), vocabulary.fingerprint, {"kind": "bm25", **asdict(settings)})
    write_meta(folder, meta)
    return meta


def _count(documents: Iterable[Document], term_ids: TermIds, folder: Path) -> NDArray[np.int32]:
    """First pass: ids, titles, term ids and counts of every document; returns the documents' lengths in terms."""
    lengths = array("i")
    with (
        StringTableWriter(folder, "row_ids") as row_ids,
        StringTableWriter(folder, "titles") as titles,
        ArrayWriter(folder / "indptr.npy", np.int64) as indptr,
        ArrayWriter(folder / "term_ids.npy", np.int32) as columns,
        ArrayWriter(folder / "counts.npy", np.int32) as counts,
    ):
        indptr.append(np.zeros(1, np.int64))
        for batch in _batches(documents, term_ids):
            row_ids.extend(document.doc_id for document in batch.documents)
            titles.extend(shown_title(document) for document in batch.documents)
            ends, kept, repeats = count_rows(np.frombuffer(batch.tokens, np.int32), np.frombuffer(batch.ends, np.int64))
            indptr.append(ends + columns.length)
            columns.append(kept)
            counts.append(repeats)
            lengths.extend(np.diff(np.frombuffer(batch.ends, np.int64), prepend=0).tolist())
    return np.array(lengths, np.int32)


class _Batch:
    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.tokens = array("i")
        self.ends = array("q")


def _batches(documents: Iterable[Document], term_ids: TermIds) -> Iterator[_Batch]:
    batch = _Batch()
    for document in documents:
        batch.documents.append(Document(document.doc_id, document.title, document.text[:200]))  # for its title only
        batch.tokens.extend(term_ids.of_text(document.contents))
        batch.ends.append(len(batch.tokens))
        if len(batch.tokens) >= BATCH_TOKENS or len(batch.documents) >= BATCH_DOCUMENTS:
            yield batch
            batch = _Batch()
    if batch.documents:
        yield batch


def _weigh(lengths: NDArray[np.int32], n_terms: int, settings: LexicalSettings, folder: Path) -> None:
    """Second pass: counts to BM25 weights, chunk by chunk."""
    indptr, columns, counts = (open_array(folder / f"{name}.npy") for name in ("indptr", "term_ids", "counts"))
    document_frequency = np.zeros(n_terms, np.int64)
    for start, end in row_ranges(indptr):
        document_frequency += np.bincount(columns[indptr[start] : indptr[end]], minlength=n_terms)
        release_pages(columns)
    idf = np.log1p((len(lengths) - document_frequency + 0.5) / (document_frequency + 0.5))
    mean_length = max(float(lengths.mean()), 1.0)
    norms = settings.k1 * (1 - settings.b + settings.b * lengths / mean_length)
    with ArrayWriter(folder / "weights.npy", np.float32) as weights:
        for start, end in row_ranges(indptr):
            span = slice(indptr[start], indptr[end])
            row_of = np.repeat(np.arange(start, end), np.diff(indptr[start : end + 1]))
            tf = counts[span].astype(np.float64)
            weights.append(idf[columns[span]] * tf / (tf + norms[row_of]))
            release_pages(columns, counts)
    (folder / "counts.npy").unlink()


@compiled
def count_rows(
    tokens: NDArray[np.int32], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Sort each row of `tokens` (rows end at `ends`) and fold repeats: (new ends, distinct ids ascending, counts)."""
    new_ends = np.empty(len(ends), np.int64)
    ids = np.empty(len(tokens), np.int32)
    counts = np.empty(len(tokens), np.int32)
    start, n = 0, 0
    for row in range(len(ends)):
        ordered = np.sort(tokens[start : ends[row]])
        for i in range(len(ordered)):
            if i > 0 and ordered[i] == ordered[i - 1]:
                counts[n - 1] += 1
            else:
                ids[n] = ordered[i]
                counts[n] = 1
                n += 1
        start = ends[row]
        new_ends[row] = n
    return new_ends, ids[:n].copy(), counts[:n].copy()


class LexicalQueryEncoder:
    """Query text to (term ids ascending, counts); words outside the vocabulary are dropped."""

    def __init__(self, settings: LexicalSettings, vocabulary: Vocabulary) -> None:
        self._analyser = Analyser(settings)
        self._id_of = vocabulary.id_of

    def encode(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        known = [term_id for term in self._analyser.terms(text) if (term_id := self._id_of.get(term)) is not None]
        ids, counts = np.unique(np.array(known, np.int32), return_counts=True)
        return ids, counts.astype(np.float32)
