"""The lists of a CIFF file as rows: every list is gone through once, a range of documents at a time, so that memory
holds the postings of one range."""

from pathlib import Path

import numpy as np

from lexigraft.core.progress import Progress
from lexigraft.core.types import Vocabulary
from lexigraft.export.importing.ciff_file import CiffFile, open_ciff
from lexigraft.export.importing.ciff_kernels import spread_lists
from lexigraft.export.importing.rows import ReadRows, number_terms
from lexigraft.vectors.rows_writer import DocumentRowsWriter
from lexigraft.vectors.store import row_ranges

ENTRIES_AT_ONCE = 1 << 24  # 128 MiB of ids and weights


def read_ciff(path: Path, folder: Path, like: Vocabulary | None, progress: Progress) -> ReadRows:
    """Write the rows of the file at `path` into `folder`."""
    found = open_ciff(path, progress)
    vocabulary, ids_of = number_terms(path, found.terms, like)
    with DocumentRowsWriter(folder) as rows:
        for doc_ids in found.doc_ids():
            rows.append_names(doc_ids, [""] * len(doc_ids))
        _spread(found, ids_of, rows, progress)
    return ReadRows(folder, vocabulary, float(found.largest), True)


def _spread(found: CiffFile, ids_of: np.ndarray, rows: DocumentRowsWriter, progress: Progress) -> None:
    ends = np.concatenate(([0], np.cumsum(found.counts)))
    cursors, documents = found.starts.copy(), np.full(len(found.starts), -1, np.int64)
    order = np.argsort(ids_of, kind="stable")  # rows have their terms in the order of their numbers
    ranges = list(row_ranges(ends, ENTRIES_AT_ONCE))
    for first, last in progress.track(ranges, "turning lists to rows", len(ranges)):
        places = ends[first:last] - ends[first]
        n_entries = int(ends[last] - ends[first])
        term_ids, weights = np.empty(n_entries, np.int32), np.empty(n_entries, np.float32)
        spread_lists(
            found.data, cursors, found.ends, documents, order, ids_of, first, last, places, term_ids, weights
        )  # fmt: skip
        rows.append_rows(ends[first + 1 : last + 1] - ends[first], term_ids, weights)
