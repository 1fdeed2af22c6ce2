"""The kernels of `reorder`: one half of the documents is exchanged with the other until like stand with like.

The cost of a term that a documents of the left half hold and b of the right is, up to a constant, -(F(a) + F(b)) with
F(d) = d log2(d + 1): what the gaps of its list would take if they were even within each half (Dhulipala et al., 2016).
A document's key is the gain of having it on the right instead of the left. The documents with the largest keys go to
the right, which is the same as exchanging the best pairs until one would lose, and needs a selection instead of two
sorts (Mackenzie et al., 2021).
"""

from typing import NamedTuple

import numpy as np

from lexigraft.core.array_types import Float32s, Int32s, Int64s
from lexigraft.core.compiled import compiled

DEEPEST = 64  # ranges waiting at once; each halving leaves one, and there are fewer than 2**32 documents
NUDGE = np.float32(0.1)  # small beside any real difference of gains


class Rows(NamedTuple):
    """The terms of document r are terms[starts[r]:ends[r]]; those that no longer matter are dropped in place."""

    starts: Int64s
    ends: Int64s
    terms: Int32s


class Rules(NamedTuple):
    """`slopes` of all documents, how often two halves are exchanged at most, and the share of them that may still
    change places when they are done."""

    slope: Float32s
    rounds: int
    settled: float


class Work(NamedTuple):
    """What one thread writes to, with a place for every term: `degrees` [2, terms], all zeros between two calls,
    `gains` [2, terms] and `shared` [terms], whose contents do not matter then."""

    degrees: Int32s
    gains: Float32s
    shared: Int32s


def slopes(n_documents: int) -> Float32s:
    """F(d + 1) - F(d) for d = 0 .. n_documents: what one more document of a term is worth to a half that holds d."""
    d = np.arange(n_documents + 2, dtype=np.float64)
    return np.diff(d * np.log2(d + 1)).astype(np.float32)


@compiled
def keep_shared_terms(order: Int32s, first: int, last: int, rows: Rows, counts: Int32s, shared: Int32s) -> int:
    """Cut the rows of order[first:last] to the terms that two of them hold, but not all; return how many these are.

    Other terms cost the same in either half, here and in every range within this one, so they never need to be read
    again. `shared` receives the terms. `counts` is all zeros before and after.
    """
    starts, ends, terms = rows
    n_terms = 0
    for i in range(first, last):
        for at in range(starts[order[i]], ends[order[i]]):
            term = terms[at]
            if counts[term] == 0:
                shared[n_terms] = term
                n_terms += 1
            counts[term] += 1
    for i in range(first, last):
        row = order[i]
        end = starts[row]
        for at in range(starts[row], ends[row]):
            if 2 <= counts[terms[at]] < last - first:
                terms[end] = terms[at]
                end += 1
        ends[row] = end
    n_shared = 0
    for i in range(n_terms):
        term = shared[i]
        if 2 <= counts[term] < last - first:
            shared[n_shared] = term
            n_shared += 1
        counts[term] = 0
    return n_shared


@compiled
def count_terms(order: Int32s, first: int, last: int, rows: Rows, counts: Int32s) -> None:
    """Add to `counts` how many rows of order[first:last] hold each term."""
    starts, ends, terms = rows
    for i in range(first, last):
        for at in range(starts[order[i]], ends[order[i]]):
            counts[terms[at]] += 1


@compiled
def term_gains(shared: Int32s, degrees: Int32s, slope: Float32s, discount: float, gains: Float32s) -> None:
    """What each term adds to the key of a document on the left (gains[0]) and on the right (gains[1]).

    With `discount` 1 that is exactly the gain of this document's move while all others stay. But all move at once, and
    two equal documents in different halves would both want to where the other is, for ever. With 0 a document counts
    itself among those it would leave, so that equals have equal keys and stay.
    """
    for i in range(len(shared)):
        term = shared[i]
        left, right = degrees[0, term], degrees[1, term]
        gain = slope[right] - slope[left]
        gains[0, term] = gain
        gains[1, term] = gain
        if left > 0:
            gains[0, term] += np.float32(discount) * (slope[left] - slope[left - 1])
        if right > 0:
            gains[1, term] -= np.float32(discount) * (slope[right] - slope[right - 1])


@compiled
def nudge(shared: Int32s, gains: Float32s) -> None:
    """Add a small amount to each term's gain, between -NUDGE and NUDGE, that depends on its number alone.

    Where both halves are alike (topics that take turns), every gain is 0 and nothing would ever move.
    """
    for i in range(len(shared)):
        mixed = np.uint64(shared[i]) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        fraction = np.float32(np.int64(mixed >> np.uint64(41)) - 2**22) / np.float32(2**22)
        gains[0, shared[i]] += NUDGE * fraction
        gains[1, shared[i]] += NUDGE * fraction


@compiled
def document_keys(order: Int32s, first: int, last: int, rows: Rows, gains: Float32s, keys: Float32s) -> None:
    """keys[i] = the sum of the gains of the terms of row order[i], for i in first .. last - 1."""
    starts, ends, terms = rows
    for i in range(first, last):
        key = np.float32(0)
        for at in range(starts[order[i]], ends[order[i]]):
            key += gains[terms[at]]
        keys[i] = key


@compiled
def exchange(order: Int32s, first: int, middle: int, last: int, rows: Rows, degrees: Int32s, keys: Float32s) -> int:
    """Bring the last - middle largest keys into order[middle:last], each against one that leaves; return how many.

    Of equal keys those that are on the right already stay there. `degrees` follows the documents; `keys` does not.
    """
    starts, ends, terms = rows
    pivot = np.partition(keys[first:last], middle - first)[middle - first]  # the smallest key on the right
    ties_right = last - middle
    for i in range(first, last):
        ties_right -= keys[i] > pivot
    ties_there = 0
    for i in range(middle, last):
        ties_there += keys[i] == pivot
    ties_staying = min(ties_there, ties_right)
    ties_coming = ties_right - ties_staying
    n_exchanged, there = 0, middle
    for here in range(first, middle):
        if keys[here] == pivot and ties_coming > 0:
            ties_coming -= 1
        elif keys[here] <= pivot:
            continue
        while keys[there] > pivot or (keys[there] == pivot and ties_staying > 0):
            ties_staying -= keys[there] == pivot
            there += 1
        coming, leaving = order[here], order[there]
        order[here], order[there] = leaving, coming
        for at in range(starts[coming], ends[coming]):
            degrees[0, terms[at]] -= 1
            degrees[1, terms[at]] += 1
        for at in range(starts[leaving], ends[leaving]):
            degrees[0, terms[at]] += 1
            degrees[1, terms[at]] -= 1
        there += 1
        n_exchanged += 1
    return n_exchanged


@compiled
def split(order: Int32s, first: int, last: int, rows: Rows, rules: Rules, keys: Float32s, work: Work) -> bool:
    """Rearrange order[first:last] so that its halves share few terms; return whether there was a term to go by.

    Touches nothing of rows outside the range, so that ranges which do not overlap may be split at once, each with
    `work` of its own.
    """
    degrees, gains = work.degrees, work.gains
    shared = work.shared[: keep_shared_terms(order, first, last, rows, degrees[0], work.shared)]
    if len(shared) == 0:
        return False
    middle = first + (last - first) // 2
    count_terms(order, first, middle, rows, degrees[0])
    count_terms(order, middle, last, rows, degrees[1])
    for step in range(rules.rounds):
        # Bold first and cautious later: else small ranges swing to and fro until the rounds are spent.
        term_gains(shared, degrees, rules.slope, 0.0 if step == 0 else 1 - step / rules.rounds, gains)
        if step == 0:
            nudge(shared, gains)
        document_keys(order, first, middle, rows, gains[0], keys)
        document_keys(order, middle, last, rows, gains[1], keys)
        n_exchanged = exchange(order, first, middle, last, rows, degrees, keys)
        if step > 0 and n_exchanged <= rules.settled * (last - first):
            break
    for i in range(len(shared)):
        degrees[0, shared[i]] = 0
        degrees[1, shared[i]] = 0
    return True


@compiled
def split_to_leaves(
    order: Int32s, first: int, last: int, leaf: int, rows: Rows, rules: Rules, keys: Float32s, work: Work
) -> None:
    """`split` order[first:last], its halves, theirs, until no range has more than `leaf` documents.

    Within such a range, and within one whose documents share nothing, documents stand as they came.
    """
    waiting = np.empty((DEEPEST, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = first, last
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        low, high = waiting[n_waiting, 0], waiting[n_waiting, 1]
        if high - low <= leaf or not split(order, low, high, rows, rules, keys, work):
            order[low:high].sort()
            continue
        middle = low + (high - low) // 2
        waiting[n_waiting, 0], waiting[n_waiting, 1] = low, middle
        waiting[n_waiting + 1, 0], waiting[n_waiting + 1, 1] = middle, high
        n_waiting += 2
