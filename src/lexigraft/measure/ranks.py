"""Effectiveness of thousands of rankings, from the rows they found: no names, no dictionaries, one call.

The same numbers as `measures` gives, which a test holds equal; for where the same queries are searched again and again.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float64s, Int64s
from lexigraft.core.compiled import compiled
from lexigraft.index.inverted import Index

RANK_MEASURES = ("MRR@10", "R@10", "R@100", "R@1000", "nDCG@10")
DEEPEST = 1000
NOTHING = -1  # behind the last document of a ranking


class RankJudge:
    """Judgements of some queries as rows of an index; a relevant document that it does not hold counts as missed."""

    def __init__(self, index: Index, query_ids: Sequence[str], judged: Mapping[str, Mapping[str, int]]) -> None:
        number_of, self._number = _document_numbers(index, judged)
        self._indptr = np.zeros(len(query_ids) + 1, np.int64)
        self._n_relevant = np.zeros(len(query_ids), np.int64)
        self._ideal = np.zeros(len(query_ids), np.float64)
        documents: list[int] = []
        gains: list[int] = []
        for place, query_id in enumerate(query_ids):
            grades = {doc_id: grade for doc_id, grade in judged[query_id].items() if grade > 0}
            known = sorted((number_of[doc_id], grade) for doc_id, grade in grades.items() if doc_id in number_of)
            documents.extend(number for number, _ in known)
            gains.extend(grade for _, grade in known)
            self._indptr[place + 1] = len(documents)
            self._n_relevant[place] = len(grades)
            best = np.array(sorted(grades.values(), reverse=True)[:10], np.float64)
            self._ideal[place] = (best / np.log2(np.arange(len(best)) + 2)).sum()
        self._documents, self._gains = np.array(documents, np.int64), np.array(gains, np.float64)

    def measure(self, rows: NDArray[np.integer], places: Int64s | None = None) -> Float64s:
        """[queries, RANK_MEASURES] of rankings [queries, depth], `NOTHING` behind their ends; `places` says which
        of the judged queries they are of, all in order where it is None."""
        asked = np.arange(len(self._ideal)) if places is None else places
        numbers = np.where(rows >= 0, self._number[np.maximum(rows, 0)], NOTHING)
        return measure_rows(
            numbers, asked, self._indptr, self._documents, self._gains, self._n_relevant, self._ideal
        )  # fmt: skip


def _document_numbers(index: Index, judged: Mapping[str, Mapping[str, int]]) -> tuple[dict[str, int], Int64s]:
    """(the number of each judged document that the index holds, the number of each row): passages of a document share
    one."""
    number = (index.document_rank if index.meta.passages else np.arange(index.n_documents)).astype(np.int64)
    wanted = {doc_id for grades in judged.values() for doc_id in grades}
    return {doc_id: int(number[index.ordinals(doc_id)[0]]) for doc_id in wanted if index.holds(doc_id)}, number


@compiled
def measure_rows(
    numbers: Int64s,
    asked: Int64s,
    indptr: Int64s,
    documents: Int64s,
    gains: Float64s,
    n_relevant: Int64s,
    ideal: Float64s,
) -> Float64s:
    """One row of RANK_MEASURES for each ranking; the relevant documents of a query lie ascending in `documents`."""
    found = np.zeros((len(asked), 5), np.float64)
    for place in range(len(asked)):
        query = asked[place]
        first, last = indptr[query], indptr[query + 1]
        for rank in range(min(numbers.shape[1], DEEPEST)):
            if numbers[place, rank] < 0:
                break
            at = first + np.searchsorted(documents[first:last], numbers[place, rank])
            if at == last or documents[at] != numbers[place, rank]:
                continue
            if rank < 10:
                if found[place, 0] == 0:
                    found[place, 0] = 1 / (rank + 1)
                found[place, 1] += 1
                found[place, 4] += gains[at] / np.log2(rank + 2)
            if rank < 100:
                found[place, 2] += 1
            found[place, 3] += 1
        if n_relevant[query] > 0:
            found[place, 1:4] /= n_relevant[query]
            found[place, 4] /= ideal[query]
    return found
