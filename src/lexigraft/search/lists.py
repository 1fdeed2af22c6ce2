"""Adding a query term's list to accumulators, in each of its forms (index/codec.py).

Indices are unsigned throughout: numba otherwise asks of each whether it is negative, which takes as long as the rest.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.index.codec import HEADER, list_count
from lexigraft.index.inverted import Index

Terms = NDArray[np.int32]
Weights = NDArray[np.int32]  # a query's, as integers
Keys = NDArray[np.int64]  # of the best documents (search/topk.py)
Sums = NDArray[np.int32]  # an accumulator for each document of a range


class Lists(NamedTuple):
    """What kernels read of an index. Handing it over from Python costs 3 microseconds more than a plain tuple does, so
    the kernel that must be quick takes a tuple, and makes a `Lists` of it, which costs nothing in compiled code."""

    entries: NDArray[np.uint32]
    stream: NDArray[np.uint16]
    octets: NDArray[np.uint8]  # the stream's
    range_starts: NDArray[np.int64]
    range_size: int
    tie_rank: NDArray[np.int32]
    bits: int  # of an impact


def lists_of(index: Index) -> Lists:
    octets = index.stream.view(np.uint8)
    return Lists(
        index.entries, index.stream, octets, index.range_starts, index.meta.range_size, index.tie_rank, index.meta.bits
    )


BEFORE_FIRST = np.uint64(0xFFFFFFFFFFFFFFFF)  # the place before 0, from which the first gap counts


@compiled
def add_wide(
    stream: NDArray[np.uint16],
    octets: NDArray[np.uint8],
    bits: int,
    at: int,
    weight: np.int32,
    accumulators: NDArray[np.int32],
) -> int:
    """Add weight * impact of each posting of the wide list at word `at`; return how many. `octets` are the stream's."""
    count = list_count(stream, at)
    factor, places = np.uint32(weight), np.uint64(at + HEADER)
    impacts = np.uint64(at + HEADER + count)
    if bits == 8:
        impacts *= np.uint64(2)
        for i in range(np.uint64(count)):
            accumulators[stream[places + i]] += np.int32(factor * np.uint32(octets[impacts + i]))
    else:
        for i in range(np.uint64(count)):
            accumulators[stream[places + i]] += np.int32(factor * np.uint32(stream[impacts + i]))
    return count


@compiled
def add_gaps(
    stream: NDArray[np.uint16],
    octets: NDArray[np.uint8],
    bits: int,
    at: int,
    weight: np.int32,
    accumulators: NDArray[np.int32],
) -> int:
    """Add a list of gaps, times `weight`, to the accumulators; returns how many it has, its fillers included."""
    count = list_count(stream, at)
    factor, place = np.uint32(weight), BEFORE_FIRST
    first = np.uint64(2 * (at + HEADER))
    if bits == 8:
        for i in range(first, first + np.uint64(2 * count), np.uint64(2)):
            place += np.uint64(octets[i])
            accumulators[place] += np.int32(factor * np.uint32(octets[i + np.uint64(1)]))
    else:
        impacts = np.uint64(at + HEADER + (count + 1) // 2)
        for i in range(np.uint64(count)):
            place += np.uint64(octets[first + i])
            accumulators[place] += np.int32(factor * np.uint32(stream[impacts + i]))
    return count


@compiled
def add_dense(row: NDArray[np.uint8], weight: np.int32, sums: NDArray[np.uint16]) -> None:
    """Add weight * impact of each document; the caller knows that 16 bits hold the sums."""
    factor = np.uint16(weight)
    for i in range(len(row)):
        sums[i] += np.uint16(factor * np.uint16(row[i]))


@compiled
def add_fine_dense(row: NDArray[np.uint16], weight: np.int32, accumulators: NDArray[np.int32]) -> None:
    """The same of impacts of 16 bits."""
    factor = np.uint32(weight)
    for i in range(len(row)):
        accumulators[i] += np.int32(factor * np.uint32(row[i]))


@compiled
def flush(sums: NDArray[np.uint16], accumulators: NDArray[np.int32]) -> None:
    """Move `sums` into `accumulators`."""
    for i in range(len(sums)):
        accumulators[i] += np.int32(sums[i])
        sums[i] = np.uint16(0)
