"""BM25's vectors and a model's, blended into one matrix over BM25's terms.

A model whose queries are looked up scores a document by the sum of q(t) * d(t) over the query's own terms, where q is a
table. That is a sum over the query's terms with weights of the document alone, as BM25's is, so both fit into one
inverted index that is asked by words:

    w(t, d) = (1 - own) * bm25(t, d) + own * scale * q(t) * d(t)    for the terms of the text itself
    w(t, d) = expansion * scale * q(t) * d(t)                       for those that the model adds

`scale` makes the model's weights of own terms as large as BM25's, over all documents. (0, 0) is BM25 to the bit.
"""

from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from lexigraft.core.array_types import Float32s, Int32s, Int64s
from lexigraft.core.errors import ArtifactError
from lexigraft.core.types import Vocabulary
from lexigraft.vectors.analysis import Analyser, reading_in
from lexigraft.vectors.rows_writer import RowsWriter
from lexigraft.vectors.store import DocumentVectors, VectorsMeta, row_ranges, write_meta
from lexigraft.vocab.lookup import TableRows

COPIED = ("row_ids", "titles", "terms")  # tables of BM25's vectors, which are the blend's, too


class Blend(NamedTuple):
    """How much of the model there is: in the weights of own terms, and of those that it adds."""

    own: float
    expansion: float


class Parts(NamedTuple):
    """Some rows over BM25's terms: BM25's weights, the model's of own terms, and those of terms that it adds."""

    bm25: csr_matrix
    own: csr_matrix
    added: csr_matrix


class BlendedVectors:
    """Two sets of vectors of the same documents. `table` is what the model's queries are looked up in; None where its
    query terms weigh 1 each."""

    def __init__(self, lexical: DocumentVectors, model: DocumentVectors, table: TableRows | None) -> None:
        if lexical.matrix.n_rows != model.matrix.n_rows:
            raise ArtifactError(
                f"BM25 has vectors of {lexical.matrix.n_rows} documents and the model of {model.matrix.n_rows}; "
                "continue the run, which encodes them again"
            )
        self.lexical, self.model = lexical, model
        self.term_of = lexical_terms(model.vocabulary, lexical)
        self.query_weights = own_weights(table) if table is not None else np.ones(model.matrix.n_terms, np.float32)

    def chunks(self) -> Iterator[Parts]:
        """All rows in order, some at a time."""
        n_terms = self.lexical.matrix.n_terms
        for start, end in row_ranges(self.model.matrix.indptr):
            indptr, terms, weights = _rows(self.lexical, start, end)
            bm25 = csr_matrix((weights, terms, indptr), shape=(end - start, n_terms))
            model = self._model_rows(start, end, n_terms)
            of_text = bm25.copy()
            of_text.data = np.ones_like(of_text.data)
            own = model.multiply(of_text).tocsr()
            added = (model - own).tocsr()
            added.eliminate_zeros()
            yield Parts(bm25, own, added)

    def _model_rows(self, start: int, end: int, n_terms: int) -> csr_matrix:
        """The model's rows over BM25's terms, times what a query has of each; of several terms that are one there, the
        heaviest counts."""
        indptr, terms, weights = _rows(self.model, start, end)
        row_of = np.repeat(np.arange(end - start), np.diff(indptr))
        term, weight = self.term_of[terms], weights * self.query_weights[terms]
        keep = term >= 0
        place, weight = row_of[keep] * np.int64(n_terms) + term[keep], weight[keep]
        order = np.lexsort((-weight, place))
        place, first = np.unique(place[order], return_index=True)
        return csr_matrix((weight[order][first], (place // n_terms, place % n_terms)), shape=(end - start, n_terms))

    def scale(self) -> float:
        """What the model's weights of own terms are multiplied by to add up to BM25's of the same terms."""
        bm25 = model = 0.0
        for parts in self.chunks():
            there = parts.own.copy()
            there.data = np.ones_like(there.data)
            bm25 += float(parts.bm25.multiply(there).sum())
            model += float(parts.own.sum())
        return bm25 / model if model > 0 else 0.0

    def write(self, blend: Blend, scale: float, source: Path, folder: Path) -> None:
        """Write the vectors into `folder`; `source` is the folder of BM25's."""
        with RowsWriter(folder) as writer:
            for parts in self.chunks():
                rows = blended(parts, blend, scale)
                writer.append_rows(rows.indptr[1:], rows.indices, rows.data)
        for file in sorted(source.iterdir()):
            if file.name.split(".")[0] in COPIED:
                copyfile(file, folder / file.name)
        matrix = self.lexical.matrix
        queries = self.lexical.query_encoder
        write_meta(
            folder,
            VectorsMeta(matrix.n_rows, matrix.n_terms, matrix.vocab_fingerprint, queries, self.lexical.passages),
        )


def blended(parts: Parts, blend: Blend, scale: float) -> csr_matrix:
    """The rows of a blend, term ids ascending, weights above 0."""
    if blend == (0, 0):
        return parts.bm25
    rows = parts.bm25 * (1 - blend.own) + parts.own * (blend.own * scale) + parts.added * (blend.expansion * scale)
    rows = rows.tocsr()
    rows.eliminate_zeros()
    rows.sort_indices()
    return rows


def lexical_terms(terms: Vocabulary, lexical: DocumentVectors) -> NDArray[np.int32]:
    """Of each term of a model, the term that BM25 makes of it; -1 where it makes none, or no document has it."""
    settings, rule = reading_in(lexical.query_encoder)
    analyser, id_of = Analyser(settings, rule), lexical.vocabulary.id_of
    return np.array([id_of.get(analyser.term(term) or "", -1) for term in terms.terms], np.int32)


def own_weights(table: TableRows) -> NDArray[np.float32]:
    """What each term of a query weighs itself; the others that it may bring along are left out."""
    row_of = np.repeat(np.arange(table.n_terms), np.diff(table.indptr))
    own = np.asarray(table.terms) == row_of
    weights = np.zeros(table.n_terms, np.float32)
    weights[row_of[own]] = np.asarray(table.weights)[own]
    return weights


def _rows(vectors: DocumentVectors, start: int, end: int) -> tuple[Int64s, Int32s, Float32s]:
    matrix = vectors.matrix
    span = slice(int(matrix.indptr[start]), int(matrix.indptr[end]))
    indptr = np.asarray(matrix.indptr[start : end + 1]) - matrix.indptr[start]
    return indptr, np.asarray(matrix.term_ids[span]), np.asarray(matrix.weights[span])
