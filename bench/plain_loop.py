"""The plain loop: what anyone would write first, and every engine has to beat.

Term at a time over int32 document ids and uint8 impacts into int32 accumulators, then one scan of all documents with a
min-heap of the k best. It imports nothing of the search room, so that it stays as it is when that changes.
"""

import numpy as np

from lexigraft.core.array_types import Bytes, Int32s, Int64s
from lexigraft.core.compiled import compiled

ID_MASK = 0x7FFFFFFF


@compiled
def search_plain(
    indptr: Int64s,
    documents: Int32s,
    impacts: Bytes,
    terms: Int32s,
    weights: Int32s,
    accumulators: Int32s,
    heap: Int64s,
) -> int:
    """Fill `heap` with keys (score above, complement of the document below) of the best and return how many.

    `accumulators`, one a document, are 0 before and after.
    """
    for t in range(len(terms)):
        for i in range(indptr[terms[t]], indptr[terms[t] + 1]):
            accumulators[documents[i]] += weights[t] * np.int32(impacts[i])
    size = 0
    for document in range(len(accumulators)):
        score = accumulators[document]
        if score == 0:
            continue
        accumulators[document] = 0
        key = (np.int64(score) << 32) | (ID_MASK - document)
        if size < len(heap):
            at = size
            size += 1
            while at > 0 and heap[(at - 1) >> 1] > key:
                heap[at] = heap[(at - 1) >> 1]
                at = (at - 1) >> 1
            heap[at] = key
        elif key > heap[0]:
            at = 0
            while 2 * at + 1 < size:
                child = 2 * at + 1
                if child + 1 < size and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= key:
                    break
                heap[at] = heap[child]
                at = child
            heap[at] = key
    return size


def ranked(heap: Int64s, size: int) -> tuple[Int64s, Int64s]:
    """(documents, scores) of the heap's keys, best first; of equal scores the smaller id first."""
    keys = heap[:size]
    keys.sort()  # numpy's: several times as fast as one in compiled code
    return unpack_plain(keys)


@compiled
def unpack_plain(keys: Int64s) -> tuple[Int64s, Int64s]:
    """In compiled code, so that ten results do not cost as much as the search."""
    n = len(keys)
    documents, scores = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        documents[i] = ID_MASK - (keys[n - 1 - i] & 0xFFFFFFFF)
        scores[i] = keys[n - 1 - i] >> 32
    return documents, scores
