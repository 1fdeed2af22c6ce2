"""Document vectors on disk: the files of a `vectors` artifact, read by memory map.

row_ids.*, titles.*, terms.*    string tables: document ids, what to show for them, the vocabulary
indptr.npy term_ids.npy weights.npy    the CSR matrix
meta.json                              counts, vocabulary fingerprint, and how to encode a query for it
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import StringTable, open_array
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.encoder_description import ENCODER
from lexigraft.core.made_here import validate_unless_known
from lexigraft.core.pinned import of_one_version
from lexigraft.core.stored_record import COUNT, read_record
from lexigraft.core.types import Document, SparseMatrix, Vocabulary
from lexigraft.vectors.encoding_facts import MODEL, terms_before_cut
from lexigraft.vectors.validate import validate_matrix, validate_tables

KIND, FORMAT_VERSION = "vectors", 1
ENTRIES_PER_CHUNK = 1 << 21
TITLE_CHARACTERS = 100
OF_META = {"n_rows": COUNT, "n_terms": COUNT, "query_encoder": ENCODER}  # what meta.json may say


@dataclass(frozen=True)
class VectorsMeta:
    """`query_encoder` describes the encoder whose queries fit these documents: {"kind": "bm25", ...its settings}.
    `passages`: the rows are parts of documents, and their scores are to be folded. `encoding`: what a model's encoding
    left out (`encoding_facts`); empty of BM25, which leaves nothing out, and of vectors of former versions."""

    n_rows: int
    n_terms: int
    vocab_fingerprint: str
    query_encoder: Mapping[str, Any]
    passages: bool = False
    encoding: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DocumentVectors:
    matrix: SparseMatrix
    titles: Sequence[str]
    vocabulary: Vocabulary
    query_encoder: Mapping[str, Any]
    fingerprint: str
    passages: bool = False
    encoding: Mapping[str, Any] = field(default_factory=dict)  # as of VectorsMeta

    @property
    def are_whole_of_a_model(self) -> bool:
        """Whether a learned model wrote them, and is known to have cut none."""
        before = terms_before_cut(self.encoding, str(self.query_encoder.get("kind")), int(self.matrix.indptr[-1]))
        return self.query_encoder.get("kind") == MODEL and before == int(self.matrix.indptr[-1])


def write_meta(folder: Path, meta: VectorsMeta) -> None:
    written = asdict(meta)
    if not meta.encoding:
        del written["encoding"]  # as before there was any
    write_json(folder / "meta.json", written)


@of_one_version
def read_meta(path: Path) -> VectorsMeta:
    return read_record(path / "meta.json", VectorsMeta, OF_META)


@of_one_version
def open_vectors(path: Path, checksums: bool = True) -> DocumentVectors:
    """The vectors at `path`; looked through as a whole where they were not made here (core/made_here.py)."""
    manifest = open_artifact(path, KIND, FORMAT_VERSION, checksums)
    meta = read_meta(path)
    matrix = SparseMatrix(
        row_ids=StringTable(path, "row_ids"),
        indptr=open_array(path / "indptr.npy", np.int64),
        term_ids=open_array(path / "term_ids.npy", np.int32),
        weights=open_array(path / "weights.npy", np.float32),
        n_terms=meta.n_terms,
        vocab_fingerprint=meta.vocab_fingerprint,
    )
    vocabulary = Vocabulary(StringTable(path, "terms"))
    titles = StringTable(path, "titles")

    def validate() -> None:
        tables = {"row_ids": meta.n_rows, "titles": meta.n_rows, "terms": meta.n_terms}
        validate_tables(path, (matrix.row_ids, titles, vocabulary.terms), tables)
        validate_matrix(path, matrix, vocabulary)

    validate_unless_known(path, manifest, checksums, validate)
    described = meta.query_encoder, manifest.fingerprint, meta.passages, meta.encoding
    return DocumentVectors(matrix, titles, vocabulary, *described)


def row_ranges(indptr: NDArray[np.int64], entries: int = ENTRIES_PER_CHUNK) -> Iterator[tuple[int, int]]:
    """Consecutive row ranges (start, end) that together hold about `entries` matrix entries, at least one row each."""
    n_rows, start = len(indptr) - 1, 0
    while start < n_rows:
        end = int(np.searchsorted(indptr, indptr[start] + entries, side="right")) - 1
        end = min(max(end, start + 1), n_rows)
        yield start, end
        start = end


def shown_title(document: Document) -> str:
    """What a person sees of a document: its title, or the beginning of its text on one line."""
    shown = document.title or document.text[: 4 * TITLE_CHARACTERS]
    title = " ".join(shown.split())
    if not title.isprintable():
        title = " ".join("".join(char if char.isprintable() else " " for char in title).split())
    return title if len(title) <= TITLE_CHARACTERS else title[: TITLE_CHARACTERS - 1] + "…"
