"""The terms of a vocabulary that a word may have been meant for: few edits away, and frequent.

An edit is a letter put in, left out or replaced, or two neighbours that changed places (optimal string alignment). All
terms are looked at in a few passes of numpy over their letters: what differs too much in length, or in which letters it
has, is left out before any distance is worked out.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float64s, Int64s

SHORTEST = 3  # a shorter word is near to too many
LONGEST_OF_ONE_EDIT, LONGEST = 4, 64  # letters of a word that may be one edit away, and of any that is looked for
WORTH_OF_AN_EDIT = math.log(100)  # a term that is one edit further must be so many times as frequent

Letters = NDArray[np.uint32]


def most_edits(word: str) -> int:
    """How many edits away a term may be: more in longer words, and none where a word is too short or too long."""
    return 0 if not SHORTEST <= len(word) <= LONGEST else 1 if len(word) <= LONGEST_OF_ONE_EDIT else 2


class NearTerms:
    """Looks for terms that are near a word. Made once for many words: their letters are then laid out for numpy."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._letters = _letters("".join(terms))
        self._lengths = np.fromiter(map(len, terms), np.int64, len(terms))
        self._starts = np.cumsum(self._lengths) - self._lengths
        if len(self._letters):
            self._signatures = _signatures(self._letters, np.minimum(self._starts, len(self._letters) - 1))

    def likeliest(self, word: str, frequencies: Int64s, most: int, ending: int = 0) -> list[int]:
        """The numbers of at most so many terms that some document has, the likeliest first; equals are in the order of
        the vocabulary. See `near`."""
        places, edits = self.near(word, most_edits(word), ending)
        found = zip(places.tolist(), edits.tolist(), frequencies[places].tolist(), strict=True)
        ranked = sorted((WORTH_OF_AN_EDIT * n - math.log(often), place) for place, n, often in found if often > 0)
        return [place for _, place in ranked[:most]]

    def near(self, word: str, limit: int, ending: int = 0) -> tuple[Int64s, Float64s]:
        """(the numbers, ascending, and the edits) of all terms that are at most `limit` edits from the word, or from
        what is left of it without some of its last `ending` letters, which count half an edit each: stems have lost
        theirs."""
        if not limit or not len(self._letters):
            return np.zeros(0, np.int64), np.zeros(0)
        asked, lengths = _letters(word), self._lengths
        (ours,) = _signatures(asked, np.zeros(1, np.int64))
        # An edit takes one letter away and brings one other at most.
        fits = (lengths > 0) & (lengths >= len(asked) - ending - limit) & (lengths <= len(asked) + limit)
        near = np.flatnonzero(fits)
        theirs = self._signatures[near]
        near = near[(_n_bits(theirs & ~ours) <= limit) & (_n_bits(ours & ~theirs) <= limit + ending)]
        rows = _rows(self._letters, self._starts[near], lengths[near], len(asked) + limit)
        edits = _edits(asked, rows, lengths[near], limit, ending)
        found = np.isfinite(edits)
        return near[found], edits[found]


def _letters(text: str) -> Letters:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _signatures(letters: Letters, starts: Int64s) -> Letters:
    """Which letters there are from each start to the next, as 32 bits; some letters share one."""
    signatures: Letters = np.bitwise_or.reduceat(np.uint32(1) << (letters & np.uint32(31)), starts)
    return signatures


def _n_bits(signatures: Letters) -> Letters:
    """How many bits of each are set, counted in pairs, in fours, and so on."""
    n = signatures - ((signatures >> np.uint32(1)) & np.uint32(0x55555555))
    n = (n & np.uint32(0x33333333)) + ((n >> np.uint32(2)) & np.uint32(0x33333333))
    n = (n + (n >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
    added: Letters = (n * np.uint32(0x01010101)) >> np.uint32(24)
    return added


def _rows(letters: Letters, starts: Int64s, lengths: Int64s, width: int) -> Letters:
    """[width, terms]: the letters of each term below one another, and zeros where it has ended."""
    at = np.arange(width)[:, None]
    rows: Letters = letters[np.minimum(starts + at, len(letters) - 1)]
    rows[at >= lengths] = 0
    return rows


def _edits(asked: Letters, rows: Letters, lengths: Int64s, limit: int, ending: int) -> Float64s:
    """What `near_terms` says of each term; infinite where that is more than the limit."""
    width, n = rows.shape
    last = before_last = np.repeat(np.arange(width + 1, dtype=np.int16)[:, None], n, axis=1)
    best, each = np.full(n, np.inf), np.arange(n)
    for i in range(len(asked)):
        row = np.empty_like(last)
        row[0] = i + 1
        differs = rows != asked[i]
        for j in range(width):
            row[j + 1] = np.minimum(np.minimum(last[j + 1], row[j]) + 1, last[j] + differs[j])
            if i and j:
                swapped = (rows[j] == asked[i - 1]) & ~differs[j - 1]
                row[j + 1] = np.where(swapped, np.minimum(row[j + 1], before_last[j - 1] + 1), row[j + 1])
        before_last, last = last, row
        if (left := len(asked) - 1 - i) <= ending:
            edits = row[lengths, each]
            best = np.minimum(best, np.where(edits <= limit, edits + left / 2, np.inf))
    return best
