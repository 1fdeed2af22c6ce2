"""BM25 as an encoder: documents become vectors of BM25 weights, queries vectors of term counts.

The dot product of the two is the BM25 score (Lucene's form, which leaves out the constant k1 + 1):

    w(t, d) = ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * |d| / avg|d|))

Document frequencies are known only at the end of the stream, so counts are written first and weighed in a second pass
over the counts, not over the text. Memory holds the vocabulary and one batch.
"""

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import ArrayWriter, open_array, release_pages, write_strings
from lexigraft.core.compiled import compiled
from lexigraft.core.errors import InputError
from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Document, TermSource, TracedText, Vocabulary
from lexigraft.core.word_rule import WordRule
from lexigraft.vectors.analysis import USUAL_RULE, Analyser, described
from lexigraft.vectors.rows_writer import COUNTS, DocumentRowsWriter
from lexigraft.vectors.store import VectorsMeta, row_ranges, shown_title, write_meta
from lexigraft.vocab.bags import TermBags
from lexigraft.vocab.pieces import PieceTable
from lexigraft.vocab.words import WordCutter, normalise

BATCH_BYTES = 1 << 20
BATCH_DOCUMENTS = 1 << 14
MAX_DISTINCT_PIECES = 1 << 20
MOST_REMEMBERED = 1 << 16  # pieces of queries: some ten mebibytes


class TermReader:
    """Batches of text to term ids, numbered in order of first appearance.

    The full word rule, stop-words and stemming are paid once per distinct piece of text, not once per occurrence.
    """

    def __init__(self, analyser: Analyser) -> None:
        self.id_of: dict[str, int] = {}
        self.analyser = analyser
        self._forget_pieces()

    def read(self, texts: bytes, ends: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """(term ids, new ends) of documents that lie one after the other in `texts`, ending at `ends`."""
        if self._table.count > MAX_DISTINCT_PIECES:
            self._forget_pieces()
        known = self._table.count
        numbers, number_ends = self._table.number(texts, ends)
        for piece in self._table.pieces(known):
            for term in self.analyser.terms_of_piece(piece):
                self._terms.append(self.id_of.setdefault(term, len(self.id_of)))
            self._starts.append(len(self._terms))
        return replace_pieces(numbers, number_ends, np.array(self._starts, np.int32), np.array(self._terms, np.int32))

    def _forget_pieces(self) -> None:
        self._table = PieceTable()
        self._starts, self._terms = array("i", [0]), array("i")  # the terms of piece n: starts[n] to starts[n + 1]


@compiled
def replace_pieces(
    numbers: NDArray[np.int32], ends: NDArray[np.int64], starts: NDArray[np.int32], terms: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Every piece's number replaced by the ids of its terms: none, one or several."""
    size = 0
    for number in numbers:
        size += starts[number + 1] - starts[number]
    replaced, new_ends = np.empty(size, np.int32), np.empty(len(ends), np.int64)
    n, at = 0, 0
    for document in range(len(ends)):
        while at < ends[document]:
            for i in range(starts[numbers[at]], starts[numbers[at] + 1]):
                replaced[n] = terms[i]
                n += 1
            at += 1
        new_ends[document] = n
    return replaced, new_ends


def encode_documents(
    documents: Iterable[Document],
    settings: LexicalSettings,
    folder: Path,
    passages: bool = False,
    rule: WordRule = USUAL_RULE,
) -> VectorsMeta:
    """Write the BM25 vectors of a stream of documents, with their ids, titles and vocabulary, into `folder`."""
    reader = TermReader(Analyser(settings, rule))
    lengths = _count(documents, reader, folder)
    if not len(lengths):
        raise InputError("the collection has no documents; its corpus file is empty")
    if not reader.id_of:
        raise InputError(f"no word was found in any of the {len(lengths)} documents; nothing can be indexed")
    _weigh(lengths, len(reader.id_of), settings, folder)
    vocabulary = Vocabulary(tuple(reader.id_of))
    write_strings(folder, "terms", vocabulary.terms)
    queries = described("bm25", settings, rule)
    meta = VectorsMeta(len(lengths), len(vocabulary), vocabulary.fingerprint, queries, passages)
    write_meta(folder, meta)
    return meta


def _count(documents: Iterable[Document], reader: TermReader, folder: Path) -> NDArray[np.int64]:
    """First pass: ids, titles, term ids and counts of every document; returns the documents' lengths in terms."""
    lengths = [np.zeros(0, np.int64)]
    with DocumentRowsWriter(folder, COUNTS) as rows:
        for batch in text_batches(documents, reader.analyser.cutter):
            rows.append_names(batch.doc_ids, batch.titles)
            tokens, token_ends = reader.read(bytes(batch.text), np.array(batch.ends, np.int64))
            rows.append_rows(*count_rows(tokens, token_ends))
            lengths.append(np.diff(token_ends, prepend=0))
    return np.concatenate(lengths)


class TextBatch:
    """`text` holds documents one after the other, which end at `ends`."""

    def __init__(self) -> None:
        self.doc_ids: list[str] = []
        self.titles: list[str] = []
        self.text = bytearray()
        self.ends: list[int] = []


def text_batches(documents: Iterable[Document], cutter: WordCutter) -> Iterator[TextBatch]:
    """Documents as normalised UTF-8, one after the other, about a mebibyte at a time."""
    batch = TextBatch()
    for document in documents:
        batch.doc_ids.append(document.doc_id)
        batch.titles.append(shown_title(document))
        batch.text += cutter.normalised_utf8(document.contents)
        batch.ends.append(len(batch.text))
        if len(batch.text) >= BATCH_BYTES or len(batch.ends) >= BATCH_DOCUMENTS:
            yield batch
            batch = TextBatch()
    if batch.ends:
        yield batch


def _weigh(lengths: NDArray[np.int64], n_terms: int, settings: LexicalSettings, folder: Path) -> None:
    """Second pass: counts to BM25 weights, chunk by chunk."""
    indptr, columns, counts = (open_array(folder / f"{name}.npy") for name in ("indptr", "term_ids", "counts"))
    document_frequency = np.zeros(n_terms, np.int64)
    for start, end in row_ranges(indptr):
        document_frequency += np.bincount(columns[indptr[start] : indptr[end]], minlength=n_terms)
        release_pages(columns)
    idf = inverse_document_frequency(len(lengths), document_frequency)
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


def inverse_document_frequency(n_documents: int, document_frequency: NDArray[np.int64]) -> NDArray[np.float64]:
    """BM25's IDF in Lucene's form, which is never 0 or less."""
    idf: NDArray[np.float64] = np.log1p((n_documents - document_frequency + 0.5) / (document_frequency + 0.5))
    return idf


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
    """Query text to (term ids ascending, counts); words outside the vocabulary are dropped.

    Pieces of text are remembered with their terms: the words of queries come again and again, and the word rule and the
    stemmer cost more than all the rest.
    """

    def __init__(self, settings: LexicalSettings, vocabulary: Vocabulary, rule: WordRule = USUAL_RULE) -> None:
        self._analyser = Analyser(settings, rule)
        self._split_pieces = self._analyser.cutter.split_pieces
        self._id_of = vocabulary.id_of
        self._terms_of: dict[bytes, list[int]] = {}

    def encode(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        return self.count(text)

    def count(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """(term ids ascending, how often each comes) of the known words of a text."""
        counts = self._counts(text)
        ids = sorted(counts)  # for so few, numpy's own sorting and counting take several times as long
        return np.array(ids, np.int32), np.array([counts[term] for term in ids], np.float32)

    def _counts(self, text: str) -> dict[int, int]:
        counts: dict[int, int] = {}
        for piece in self._split_pieces(text):
            terms = self._terms_of.get(piece)
            for term in self._learn(piece) if terms is None else terms:
                counts[term] = counts.get(term, 0) + 1
        return counts

    def _learn(self, piece: bytes) -> list[int]:
        """The terms of a piece, remembered."""
        if len(self._terms_of) >= MOST_REMEMBERED:
            self._terms_of = {}
        named = self._analyser.terms_of_piece(piece)
        terms = [term for name in named if (term := self._id_of.get(name)) is not None]
        self._terms_of[piece] = terms
        return terms

    def encode_all(self, texts: list[str]) -> list[tuple[NDArray[np.int32], NDArray[np.float32]]]:
        return [self.encode(text) for text in texts]

    def own_terms(self, text: str) -> NDArray[np.int32]:
        return np.array(sorted(self._counts(text)), np.int32)

    def trace_query(self, text: str, terms: NDArray[np.int32]) -> TracedText:
        """Every term is a word of the text: the first that becomes it."""
        spanned = self._analyser.cutter.spans(text)
        places: dict[int | None, TermSource] = {}
        for place, (start, end) in enumerate(spanned.spans):
            term = self._analyser.term(normalise(spanned.text[start:end]))
            places.setdefault(self._id_of.get(term or ""), TermSource("own", place, spanned.text[start:end]))
        unknown = TermSource("unknown", -1, "")
        sources = {term: places.get(term, unknown) for term in terms.tolist()}
        return TracedText(spanned.text, spanned.spans, len(spanned.spans), sources)

    trace_document = trace_query

    def own_bags(self, texts: list[str]) -> TermBags:
        """The terms of whole texts, counted; words outside the vocabulary are not."""
        rows = [self.count(text) for text in texts]
        return TermBags(
            np.cumsum([0, *(len(ids) for ids, _ in rows)], dtype=np.int64),
            np.concatenate([np.zeros(0, np.int32), *(ids for ids, _ in rows)]),
            np.concatenate([np.zeros(0, np.int32), *(counts.astype(np.int32) for _, counts in rows)]),
            np.array([counts.sum() for _, counts in rows], np.int32),
        )


class LiveLexicalQueries(LexicalQueryEncoder):
    """Query text to (term ids ascending, counts times IDF), for documents that hold saturated term frequencies alone.

    `document_frequency` is that of each term among the `n_documents` that live. A word that no living document holds is
    dropped, as one outside the vocabulary is: it finds nothing, and its large IDF would only make the others coarse
    when a query's weights become integers.
    """

    def __init__(
        self,
        settings: LexicalSettings,
        vocabulary: Vocabulary,
        n_documents: int,
        document_frequency: NDArray[np.int64],
        rule: WordRule = USUAL_RULE,
    ) -> None:
        super().__init__(settings, vocabulary, rule)
        idf = inverse_document_frequency(n_documents, document_frequency)
        # As a view that gives Python's numbers: for the few terms of a query, numpy's indexing takes twice as long.
        self._idf = np.where(document_frequency > 0, idf, 0).astype(np.float32).data

    def encode(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        counts, idf = self._counts(text), self._idf
        ids = sorted(counts)
        return np.array(ids, np.int32), np.array([counts[term] * idf[term] for term in ids], np.float32)

    def _learn(self, piece: bytes) -> list[int]:
        """The terms of a piece that living documents hold, remembered."""
        held = [term for term in super()._learn(piece) if self._idf[term] > 0]
        self._terms_of[piece] = held
        return held
