"""The rows of a grafted segment: saturated term frequencies, what neighbours lend of theirs, what vectors tell of them.

All three are linear in a term, so the IDF stays with the queries here as well (see `vectors.counted_texts`): it only
says, as it is when a segment is written, which words weigh enough to stay (grafted/threshold.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float32s
from lexigraft.core.arrays import ArrayWriter, open_array, release_pages
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import SparseMatrix
from lexigraft.index.live.counts import CountedSegment
from lexigraft.index.live.graft_facts import LiveGraft
from lexigraft.vectors.counted_texts import CountedRows, saturated_frequencies
from lexigraft.vectors.lexical import inverse_document_frequency
from lexigraft.vectors.query_encoder import Frequencies
from lexigraft.vectors.rows_writer import RowsWriter
from lexigraft.vectors.store import row_ranges

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from lexigraft.grafted.regression import Regression

ROWS = ("indptr", "term_ids", "weights")


@dataclass(frozen=True)
class Grafting:
    """What the documents of one segment are grafted by. `vectors` [documents, width] are theirs, `others` all other
    segments, `frequencies` those of all living documents with these. Without a `regression` it is made anew, and so is
    the threshold: then they are all documents there are."""

    facts: LiveGraft
    vectors: NDArray[np.float16]
    others: Sequence[CountedSegment]
    frequencies: Frequencies
    regression: "Regression | None"
    by_place: bool = False  # it is to be seen whether they are of the documents in their rows


class GraftedRows(NamedTuple):
    """`regression`: where it was made anew."""

    matrix: SparseMatrix
    facts: LiveGraft
    regression: "Regression | None"


def graft_rows(
    rows: CountedRows, mean_length: float, settings: LexicalSettings, grafting: Grafting, progress: Progress = SILENT
) -> GraftedRows:
    """The grafted rows of counted documents, written into the folder of those, and mapped."""
    from lexigraft.grafted.regression import fit  # BM25 alone need not wait for what these load
    from lexigraft.grafted.rows import Graft
    from lexigraft.grafted.shares import Shares, usual_lift
    from lexigraft.grafted.vector_order import require_order
    from lexigraft.grafted.write import threshold_of
    from lexigraft.index.live.graft_neighbours import find_lending

    facts, folder = grafting.facts, rows.folder
    if grafting.regression is None:
        facts = replace(facts, lifted=usual_lift(rows.indptr))
    lending = find_lending(rows, grafting.vectors, grafting.others, facts.neighbours, folder / "lent", progress)
    own = saturated_frequencies(lending.rows, mean_length, settings, lending.rows.folder)
    regression = grafting.regression or fit(grafting.vectors, own, progress=progress)
    idf = _idf(grafting.frequencies)
    weighed = _weighed(own, idf, folder)
    if grafting.by_place:
        require_order(grafting.vectors, weighed, "the vectors")
    graft = Graft(
        weighed,
        grafting.vectors,
        lending.neighbours,
        regression._replace(rows=regression.rows * idf[regression.terms][:, None]),
        Shares(facts.borrowed, facts.told, facts.lifted),
    )
    if grafting.regression is None:
        facts = replace(facts, threshold=threshold_of(graft, facts.cost))
    (folder / "grafted").mkdir()
    with RowsWriter(folder / "grafted") as writer:
        blocks = graft.rows(np.arange(rows.n_rows), facts.threshold)
        written = (row for block in blocks for row in _append(writer, block, idf, facts.largest))
        for _ in progress.track(written, "grafting words", rows.n_rows):
            pass
    indptr, term_ids, weights = (open_array(folder / "grafted" / f"{name}.npy") for name in ROWS)
    matrix = SparseMatrix(rows.row_ids, indptr, term_ids, weights, own.n_terms, own.vocab_fingerprint)
    return GraftedRows(matrix, facts, regression if grafting.regression is None else None)


def _append(writer: RowsWriter, block: "csr_matrix", idf: Float32s, largest: float) -> range:
    """Write rows without their IDF; returns as many places."""
    weights = np.minimum(block.data / idf[block.indices], np.float32(largest))
    writer.append_rows(block.indptr[1:], block.indices, weights)
    return range(block.shape[0])


def _idf(frequencies: Frequencies) -> Float32s:
    """As queries have it; 0 for a term that no living document holds, which finds nothing."""
    idf = inverse_document_frequency(*frequencies)
    return np.where(frequencies.document_frequency > 0, idf, 0).astype(np.float32)


def _weighed(matrix: SparseMatrix, idf: Float32s, folder: Path) -> SparseMatrix:
    """The same rows, times IDF."""
    with ArrayWriter(folder / "weighed.npy", np.float32) as weights:
        for start, end in row_ranges(matrix.indptr):
            span = slice(matrix.indptr[start], matrix.indptr[end])
            weights.append(matrix.weights[span] * idf[matrix.term_ids[span]])
            release_pages(matrix.weights, matrix.term_ids)
    return replace(matrix, weights=open_array(folder / "weighed.npy"))
