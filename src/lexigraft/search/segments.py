"""The rankings of an index's segments as one: the best of all, whose scores are compared as real numbers, ties by
`doc_id`.

A segment's ranking is the order of all its documents, so the k best of all are among the k best of each; and they are
the first so many of each.
"""

from collections.abc import Sequence

import numpy as np

from lexigraft.index.live.reader import Segment
from lexigraft.search.searching import Found


def best_of_all(segments: Sequence[Segment], found: Sequence[Found], k: int) -> list[Found]:
    """The beginnings of the segments' rankings, of k documents at most each, that together are the k best."""
    if len(found) == 1 or sum(len(ordinals) for ordinals, _ in found) <= k:
        return list(found)
    scores = np.concatenate([of_segment for _, of_segment in found])
    worst = np.partition(scores, len(scores) - k)[len(scores) - k]
    kept = [int(np.count_nonzero(of_segment > worst)) for _, of_segment in found]
    tied = []  # in every segment they follow those above, in the order of their ids
    for number, (ordinals, of_segment) in enumerate(found):
        equal = ordinals[kept[number] : int(np.count_nonzero(of_segment >= worst))]
        tied += [(name, number) for name in segments[number].index.names(equal)]
    for _, number in sorted(tied)[: k - sum(kept)]:
        kept[number] += 1
    return [(ordinals[:n], of_segment[:n]) for n, (ordinals, of_segment) in zip(kept, found, strict=True)]


def in_one_order(
    segments: Sequence[Segment], found: Sequence[Found]
) -> tuple[list[str], list[float], list[int], list[int]]:
    """(documents, scores, numbers of segments, rows in them), best first."""
    names: list[str] = []
    scores: list[float] = []
    numbers: list[int] = []
    rows: list[int] = []
    for number, (ordinals, of_segment) in enumerate(found):
        names += segments[number].index.names(ordinals)
        scores += of_segment.tolist()
        numbers += [number] * len(ordinals)
        rows += ordinals.tolist()
    if len(found) > 1:
        order = sorted(range(len(names)), key=lambda at: (-scores[at], names[at]))
        names, scores = [names[at] for at in order], [scores[at] for at in order]
        numbers, rows = [numbers[at] for at in order], [rows[at] for at in order]
    return names, scores, numbers, rows


def titles_at(segments: Sequence[Segment], numbers: Sequence[int], rows: Sequence[int]) -> list[str]:
    """The titles of rows of the segments with these numbers, in order."""
    at, of = np.array(rows, np.int64), np.array(numbers, np.int64)
    if len(segments) == 1:
        return segments[0].index.titles.take(at)
    read = [iter(segment.index.titles.take(at[of == number])) for number, segment in enumerate(segments)]
    return [next(read[number]) for number in numbers]
