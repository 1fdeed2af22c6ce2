"""The values of one key, as documents have them, and the column that they become: numbers, dates, texts or lists."""

import logging
import math
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import write_strings
from lexigraft.core.dates import Period, read_period
from lexigraft.index.metadata import Scalar, Value
from lexigraft.index.metadata_files import DATE, LIST, NO_DATE, NUMBER, TEXT, Column

LARGEST_WHOLE = 2**53  # integers beyond are not all told apart by float64: they stay texts, and with them the column
NONE = -1

log = logging.getLogger(__name__)


class GivenValues:
    """A code a document, the number of its value among the distinct ones. From the first list on, every value is one:
    its place among the codes of all elements, and how many it has."""

    def __init__(self, n_documents: int) -> None:
        self._codes = np.full(n_documents, NONE, np.int32)  # of lists: their lengths
        self._known: dict[Scalar, int] = {}
        self._starts: NDArray[np.int64] | None = None
        self._elements = array("i")
        self._n_characters = 0

    @property
    def n_documents(self) -> int:
        """How many documents have a value; of lists, an element."""
        return int((self._codes >= (0 if self._starts is None else 1)).sum())

    @property
    def n_characters(self) -> int:
        """How long the distinct texts are, together."""
        return self._n_characters

    def set(self, place: int, value: Value) -> None:
        """The value of the document at `place`."""
        if isinstance(value, tuple) and self._starts is None:
            self._become_lists()
        if self._starts is None:
            assert not isinstance(value, tuple), "these are no lists"
            self._codes[place] = self._code(value)
            return
        elements = value if isinstance(value, tuple) else (value,)
        self._starts[place], self._codes[place] = len(self._elements), len(elements)
        self._elements.extend(map(self._code, elements))

    def _code(self, value: Scalar) -> int:
        code = self._known.get(value)
        if code is None:
            code = self._known[value] = len(self._known)
            self._n_characters += len(value) if isinstance(value, str) else 0
        return code

    def _become_lists(self) -> None:
        """A single value is a list of one element."""
        present = np.flatnonzero(self._codes >= 0)
        self._elements.extend(self._codes[present].tolist())
        self._starts = np.zeros(len(self._codes), np.int64)
        self._starts[present] = np.arange(len(present))
        self._codes[present] = 1

    def write(self, folder: Path, key: str, place: int) -> Column:
        """Write the column as the files of number `place`."""
        values = list(self._known)
        of_numbers = all(map(_is_number, values))
        if self._starts is not None:
            return self._write_lists(folder, key, place, of_numbers)
        present = self._codes >= 0
        if of_numbers:
            numbers = np.array([float(value) for value in values])
            np.save(folder / f"{place}.npy", np.where(present, numbers[self._codes], np.nan))
            return Column(key, NUMBER, self.n_documents, place)
        if (periods := _all_dates(values)) is not None:
            moments = np.array([period.start for period in periods], np.int64)
            np.save(folder / f"{place}.npy", np.where(present, moments[self._codes], NO_DATE))
            return Column(key, DATE, self.n_documents, place)
        if any(map(_is_number, values)):
            no_number = next(value for value in values if not _is_number(value))
            message = "%s is kept as text and compares as text, because %.60r is not a number, or not told apart as one"
            log.warning(message, key, no_number)
        remap = _write_table(folder, place, values)
        np.save(folder / f"{place}.npy", np.where(present, remap[self._codes], np.int32(NONE)))
        return Column(key, TEXT, self.n_documents, place)

    def _write_lists(self, folder: Path, key: str, place: int, of_numbers: bool) -> Column:
        assert self._starts is not None, "these are lists"
        remap, lengths = _write_table(folder, place, list(self._known)), np.maximum(self._codes, 0).astype(np.int64)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        taken = np.repeat(self._starts - indptr[:-1], lengths) + np.arange(indptr[-1])
        np.save(folder / f"{place}.indptr.npy", indptr)
        np.save(folder / f"{place}.npy", remap[np.asarray(self._elements, np.int32)[taken]])
        return Column(key, LIST, self.n_documents, place, NUMBER if of_numbers and self._known else TEXT)


def _write_table(folder: Path, place: int, values: list[Scalar]) -> NDArray[np.int32]:
    """Write the distinct texts of values in order; returns the place of each value."""
    texts = [as_text(value).encode("utf-8", "replace").decode() for value in values]  # as a table holds them
    table = sorted(set(texts))
    write_strings(folder, str(place), table)
    place_of = {text: at for at, text in enumerate(table)}
    return np.array([place_of[text] for text in texts], np.int32)


def _all_dates(values: list[Scalar]) -> list[Period] | None:
    """The periods of values that are dates, all of them; None where one is not. Years alone are no dates: they may be
    any numbers."""
    found = []
    for value in values:
        period = read_period(value) if isinstance(value, str) else None
        if period is None:
            return None
        found.append(period)
    return found if any("-" in str(value) for value in values) else None


def _is_number(value: Scalar) -> bool:
    """Whether float64 holds it as it is."""
    if isinstance(value, int):
        return abs(value) <= LARGEST_WHOLE
    return isinstance(value, float) and math.isfinite(value)


def as_text(value: Scalar) -> str:
    """Equal numbers are one text, whichever of 1 and 1.0 came first."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
