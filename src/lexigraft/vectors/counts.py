"""How often each document holds each term of a lexical vocabulary: what BM25 weighs, kept for who needs it again.

BM25's own counts are thrown away once they are weighed, so these are counted from the text, streamed, in memory for one
batch and the vocabulary. They are an artifact of their own (`counts`):

row_ids.*                               string table
indptr.npy term_ids.npy counts.npy      CSR, term ids ascending within a row
lengths.npy                             words of each document that the analysis keeps, unknown ones included
document_frequency.npy                  documents that hold each term
meta.json                               number of terms, vocabulary fingerprint
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import ArrayWriter, StringTable, StringTableWriter, open_array
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.made_here import validate_unless_known
from lexigraft.core.pinned import of_one_version
from lexigraft.core.settings import LexicalSettings
from lexigraft.core.stored_record import COUNT, read_record
from lexigraft.core.types import Document, Vocabulary
from lexigraft.core.validation import require_length, require_within, wrong
from lexigraft.core.word_rule import WordRule
from lexigraft.vectors.analysis import USUAL_RULE, Analyser
from lexigraft.vectors.lexical import TermReader, count_rows, text_batches
from lexigraft.vectors.validate import validate_rows, validate_tables

KIND, FORMAT_VERSION = "counts", 1
ARRAYS = {
    "indptr": np.int64, "term_ids": np.int32, "counts": np.int32, "lengths": np.int64, "document_frequency": np.int64
}  # fmt: skip


@dataclass(frozen=True)
class CountsMeta:
    n_terms: int
    vocab_fingerprint: str


@dataclass(frozen=True)
class TermCounts:
    """Rows of counted terms in CSR form; `lengths` of rows in words, `document_frequency` of terms in rows."""

    row_ids: Sequence[str]
    indptr: NDArray[np.int64]
    term_ids: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int64]
    document_frequency: NDArray[np.int64]
    vocab_fingerprint: str

    @property
    def n_rows(self) -> int:
        return len(self.row_ids)


def write_counts(
    documents: Iterable[Document],
    settings: LexicalSettings,
    vocabulary: Vocabulary,
    folder: Path,
    rule: WordRule = USUAL_RULE,
) -> None:
    """Count the terms of a stream of documents, read as `settings` and `rule` say, into `folder`. Words that
    `vocabulary` lacks count in the lengths alone."""
    reader, n_terms = TermReader(Analyser(settings, rule)), len(vocabulary)
    reader.id_of.update(vocabulary.id_of)  # unknown words get ids from `n_terms` on
    document_frequency = np.zeros(n_terms, np.int64)
    with (
        StringTableWriter(folder, "row_ids") as row_ids,
        ArrayWriter(folder / "indptr.npy", np.int64) as indptr,
        ArrayWriter(folder / "term_ids.npy", np.int32) as columns,
        ArrayWriter(folder / "counts.npy", np.int32) as counts,
        ArrayWriter(folder / "lengths.npy", np.int64) as lengths,
    ):
        indptr.append(np.zeros(1, np.int64))
        for batch in text_batches(documents, reader.analyser.cutter):
            row_ids.extend(batch.doc_ids)
            tokens, token_ends = reader.read(bytes(batch.text), np.array(batch.ends, np.int64))
            ends, ids, repeats = count_rows(tokens, token_ends)
            known = ids < n_terms
            indptr.append(np.concatenate(([0], np.cumsum(known)))[ends] + columns.length)
            columns.append(ids[known])
            counts.append(repeats[known])
            lengths.append(np.diff(token_ends, prepend=0))
            document_frequency += np.bincount(ids[known], minlength=n_terms)
    with ArrayWriter(folder / "document_frequency.npy", np.int64) as frequencies:
        frequencies.append(document_frequency)
    write_json(folder / "meta.json", {"n_terms": n_terms, "vocab_fingerprint": vocabulary.fingerprint})


@of_one_version
def open_counts(path: Path, checksums: bool = True) -> TermCounts:
    """The counts at `path`, memory-mapped."""
    manifest = open_artifact(path, KIND, FORMAT_VERSION, checksums)
    meta = read_record(path / "meta.json", CountsMeta, {"n_terms": COUNT})
    arrays = {name: open_array(path / f"{name}.npy", dtype) for name, dtype in ARRAYS.items()}
    found = TermCounts(StringTable(path, "row_ids"), **arrays, vocab_fingerprint=meta.vocab_fingerprint)
    validate_unless_known(path, manifest, checksums, lambda: _validate(path, found, meta.n_terms))
    return found


def _validate(path: Path, found: TermCounts, n_terms: int) -> None:
    validate_tables(path, (found.row_ids,), {"row_ids": len(found.indptr) - 1})
    validate_rows(path, found.indptr, found.term_ids, found.counts, "counts.npy", n_terms)
    require_length(path / "lengths.npy", len(found.lengths), found.n_rows)
    require_within(path / "lengths.npy", found.lengths, 0, 2**62)
    frequency = np.bincount(found.term_ids, minlength=n_terms)
    if not np.array_equal(frequency, found.document_frequency):
        raise wrong(path / "document_frequency.npy", "has other numbers of documents than the rows have")
