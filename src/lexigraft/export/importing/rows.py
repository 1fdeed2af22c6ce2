"""Rows that were read from a file, on their way to an index: their files in a working folder, and their vocabulary."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexigraft.core.array_types import Int32s
from lexigraft.core.arrays import StringTable, open_array, write_strings
from lexigraft.core.errors import InputError
from lexigraft.core.types import SparseMatrix, Vocabulary
from lexigraft.vectors.store import DocumentVectors
from lexigraft.vectors.term_queries import KIND

LARGEST_WHOLE = 2**24 - 1  # of a weight that an index keeps as it is


@dataclass(frozen=True)
class ReadRows:
    """The rows lie in `folder`. `largest` weight; `are_whole`: all weights are whole numbers."""

    folder: Path
    vocabulary: Vocabulary
    largest: float
    are_whole: bool

    @property
    def are_kept(self) -> bool:
        """Whether an index can keep the very weights."""
        return self.are_whole and self.largest <= LARGEST_WHOLE

    @property
    def bits(self) -> int:
        """The fewest that keep them."""
        return next(bits for bits in (8, 16, 24) if self.largest < 2**bits)

    def vectors(self) -> DocumentVectors:
        write_strings(self.folder, "terms", self.vocabulary.terms)
        vocabulary = Vocabulary(StringTable(self.folder, "terms"))
        matrix = SparseMatrix(
            StringTable(self.folder, "row_ids"), open_array(self.folder / "indptr.npy", np.int64),
            open_array(self.folder / "term_ids.npy", np.int32), open_array(self.folder / "weights.npy", np.float32),
            len(vocabulary), vocabulary.fingerprint,
        )  # fmt: skip
        return DocumentVectors(matrix, StringTable(self.folder, "titles"), vocabulary, {"kind": KIND}, "")


def number_terms(path: Path, terms: Sequence[str], like: Vocabulary | None) -> tuple[Vocabulary, Int32s]:
    """The vocabulary of an index of these terms, and the id of each of them there: in the order of their names, or as
    `like`, which must have them all, numbers them."""
    if like is not None:
        ids = [like.id_of.get(term, -1) for term in terms]
        if -1 in ids:
            n_absent = ids.count(-1)
            raise InputError(
                f"{path}: term {terms[ids.index(-1)]!r}, and {n_absent - 1:,} others of {len(terms):,}, are not in the "
                "vocabulary of what --like names; give the run or index that this was exported from, or leave it out"
            )
        return like, np.array(ids, np.int32)
    order = sorted(range(len(terms)), key=terms.__getitem__)
    ids_of = np.empty(len(terms), np.int32)
    ids_of[order] = np.arange(len(terms), dtype=np.int32)
    return Vocabulary([terms[number] for number in order]), ids_of
