"""A teacher's scores, read from a file and looked up for the pairs that are trained on (F1)."""

from array import array
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.trec_ids import known_as
from lexigraft.data.readers.scores import read_scores


class TeacherScores:
    """Scores by rows of query and document. Of a pair that the file scores twice, the last score counts."""

    def __init__(self, path: Path, query_rows: Mapping[str, int], document_rows: Mapping[str, int]) -> None:
        """Rows are those of ids; lines of other queries and documents are passed over."""
        self._n_documents = len(document_rows)
        keys, scores = array("q"), array("f")
        for pair in read_scores(path):
            query = query_rows.get(known_as(pair.query_id, query_rows))
            document = document_rows.get(known_as(pair.doc_id, document_rows))
            if query is not None and document is not None:
                keys.append(query * self._n_documents + document)
                scores.append(pair.score)
        self._keys, lasts = np.unique(np.array(keys, np.int64)[::-1], return_index=True)
        self._scores = np.array(scores, np.float32)[::-1][lasts]

    def of(self, queries: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of pairs, [pairs]; not a number where there is none."""
        if not len(self._keys):
            return np.full(len(queries), np.nan, np.float32)
        asked = queries * self._n_documents + documents
        at = np.minimum(np.searchsorted(self._keys, asked), len(self._keys) - 1)
        return np.where(self._keys[at] == asked, self._scores[at], np.float32(np.nan))
