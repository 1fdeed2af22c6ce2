"""Documents that say the same or almost the same as one before them: a query made of one would find the other.

Texts are compared by min-wise hashes of their runs of four words (Broder 1997): the share of equal hashes estimates the
share of runs that two texts have in common. Four bands of four hashes: texts with nine tenths in common are found with
98 of 100, those with a third with fewer than 5 of 100. Of each document, four numbers are kept.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

RUN = 4
BANDS, HASHES_A_BAND = 4, 4
_MIX = np.uint64(0x9E3779B97F4A7C15)


class NearCopies:
    """Told every document once, in order."""

    def __init__(self) -> None:
        draw = np.random.default_rng(20_081_997)
        n_hashes = BANDS * HASHES_A_BAND
        self._factors = draw.integers(1, 2**63, n_hashes, np.uint64) * np.uint64(2) + np.uint64(1)
        self._shifts = draw.integers(0, 2**63, n_hashes, np.uint64)
        self._number_of: dict[str, int] = {}
        self._seen: set[int] = set()

    def is_copy(self, words: list[str]) -> bool:
        """Whether a document of these words is like one that came before; it is noted either way."""
        numbers = np.array([self._number_of.setdefault(word, len(self._number_of) + 1) for word in words], np.uint64)
        hashes = self._min_hashes(runs(numbers))
        bands = {_number(band, of_band.tobytes()) for band, of_band in enumerate(np.split(hashes, BANDS))}
        known = not self._seen.isdisjoint(bands)
        self._seen |= bands
        return known

    def _min_hashes(self, of_runs: NDArray[np.uint64]) -> NDArray[np.uint64]:
        with np.errstate(over="ignore"):
            mixed = of_runs[:, None] * self._factors + self._shifts
            mixed ^= mixed >> np.uint64(29)
            mixed *= _MIX
        found: NDArray[np.uint64] = mixed.min(axis=0)
        return found


def _number(band: int, hashes: bytes) -> int:
    """The hashes of a band as one number."""
    return int.from_bytes(hashlib.blake2b(bytes([band]) + hashes, digest_size=8).digest(), "little")


def runs(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash for each run of four words; a shorter text is one run."""
    width = min(RUN, len(numbers))
    n = max(1, len(numbers) - width + 1)
    found = np.zeros(n, np.uint64)
    with np.errstate(over="ignore"):
        for place in range(width):
            found = (found ^ numbers[place : place + n]) * _MIX
            found ^= found >> np.uint64(32)
    return found
