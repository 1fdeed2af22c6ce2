"""Writes the vectors of a grafted system: the rows that a cost pays for, and the neighbours that explain them.

Beside the files of all vectors (`vectors.store`), whose terms and queries are BM25's, lie those of `grafted.stored`.
"""

from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from lexigraft.core.arrays import open_array
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.sealed_json import write_sealed
from lexigraft.core.types import SparseMatrix
from lexigraft.grafted.neighbours import nearest
from lexigraft.grafted.regression import fit
from lexigraft.grafted.rows import Graft
from lexigraft.grafted.shares import Shares, usual_lift
from lexigraft.grafted.stored import COSINES, FACTS, NEIGHBOURS, GraftFacts
from lexigraft.grafted.threshold import likely, sampled_rows, threshold_for
from lexigraft.vectors.rows_writer import RowsWriter
from lexigraft.vectors.store import DocumentVectors, VectorsMeta, write_meta

TABLES = ("row_ids", "titles", "terms")  # of BM25's vectors, which are those of these, too
FLOOR = 0.03  # of BM25's heaviest weight: what weighs less is never kept, whatever the cost (docs/LOG.md)


def make_graft(
    weights: SparseMatrix, vectors: NDArray[np.floating], shares: Shares, k: int, progress: Progress = SILENT
) -> Graft:
    """What the rows of a grafted system are made of; `vectors` are unit rows of the same documents. Own words are
    lifted as is usual in a collection of such documents."""
    if len(vectors) != weights.n_rows:
        raise InputError(f"there are {len(vectors)} vectors for {weights.n_rows} documents; give one for each")
    neighbours, shares = nearest(vectors, k, progress), shares._replace(lifted=usual_lift(weights.indptr))
    return Graft(weights, vectors, neighbours, fit(vectors, weights, progress=progress), shares)


def threshold_of(graft: Graft, cost: float | None) -> float:
    """What a word must weigh for the index to cost `cost` times what BM25's does, for likely words of queries."""
    weights = graft.weights
    floor = FLOOR * float(weights.weights.max(initial=0))
    if cost is None:
        return floor
    asked, sample = likely(weights), sampled_rows(weights.n_rows, len(graft.regression.terms))
    starts, ends = weights.indptr[sample], weights.indptr[sample + 1]
    bm25 = sum(float(asked[weights.term_ids[start:end]].sum()) for start, end in zip(starts, ends, strict=True))
    return max(floor, threshold_for(graft.rows(sample, floor), asked, cost * bm25))


def write_grafted(
    lexical: DocumentVectors, tables: Path, graft: Graft, cost: float | None, folder: Path,
    progress: Progress = SILENT,
) -> GraftFacts:  # fmt: skip
    """Write the vectors into `folder`; `tables` is the folder of BM25's."""
    threshold, matrix = threshold_of(graft, cost), lexical.matrix
    with RowsWriter(folder) as writer:
        blocks = graft.rows(np.arange(matrix.n_rows), threshold)
        done = (_append(writer, one) for one in blocks)
        for _ in progress.track((row for n in done for row in range(n)), "grafting words", matrix.n_rows):
            pass
    copy_tables(tables, folder, TABLES)
    np.save(folder / NEIGHBOURS, graft.neighbours.rows.reshape(-1))
    np.save(folder / COSINES, graft.neighbours.cosines.reshape(-1))
    n_postings = len(open_array(folder / "term_ids.npy", np.int32))
    k = graft.neighbours.rows.shape[1]
    facts = GraftFacts(*graft.shares, k, cost, threshold, n_postings, int(matrix.indptr[-1]))
    write_sealed(folder / FACTS, facts._asdict())
    write_meta(
        folder,
        VectorsMeta(matrix.n_rows, matrix.n_terms, matrix.vocab_fingerprint, lexical.query_encoder, lexical.passages),
    )
    return facts


def copy_tables(source: Path, folder: Path, names: Sequence[str]) -> None:
    """Copy tables of strings, which are of the same rows, from one artifact into another."""
    for file in sorted(source.iterdir()):
        if file.name.split(".")[0] in names:
            copyfile(file, folder / file.name)


def _append(writer: RowsWriter, rows: csr_matrix) -> int:
    """Write some rows; returns how many."""
    writer.append_rows(rows.indptr[1:], rows.indices, rows.data)
    return int(rows.shape[0])
