"""The lists of an index as inverted files of others hold them: those that have postings, by their terms in the order of
UTF-8 bytes, one at a time. Neither all postings nor all rows are ever in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Int64s
from lexigraft.core.compiled import compiled
from lexigraft.core.errors import InputError
from lexigraft.core.progress import Progress
from lexigraft.index.inverted import Index

MOST = 2**31 - 1  # what 32 bits with a sign hold
_LINE_ENDS = ("\n", "\r")


class List(NamedTuple):
    term: str
    ordinals: NDArray[np.int32]
    impacts: NDArray[np.uint32]


@dataclass(frozen=True)
class OrderedLists:
    """`lengths` is the length of every document as such files count it: the sum of its impacts, as if each were the
    number of times that a term comes."""

    index: Index
    order: NDArray[np.int64]  # the ids of the terms that have postings, by their names
    lengths: Int64s

    @property
    def total(self) -> int:
        return int(self.lengths.sum())

    def read(self, progress: Progress, label: str) -> Iterator[List]:
        terms = self.index.vocabulary.terms
        for term_id in progress.track(self.order.tolist(), label, len(self.order)):
            yield List(terms[term_id], *self.index.postings(term_id))


def order_lists(index: Index, progress: Progress) -> OrderedLists:
    """Sort the terms, and measure the documents; a document that is too long for 32 bits is refused by its id."""
    terms = list(index.vocabulary.terms)
    used = np.flatnonzero(index.lengths).tolist()
    order = sorted(used, key=terms.__getitem__)  # by code points, which is the order of UTF-8 bytes
    lengths = np.zeros(index.n_documents, np.int64)
    for term_id in progress.track(order, "measuring documents", len(order)):
        add_impacts(*index.postings(term_id), lengths)
    longest = int(lengths.argmax()) if len(lengths) else 0
    if len(lengths) and lengths[longest] > MOST:
        raise InputError(
            f"document {index.doc_ids[longest]!r} has impacts that sum up to {lengths[longest]:,}, and its length is "
            f"written in 32 bits (at most {MOST:,}); build the index with fewer bits (index.bits) or terms (--keep)"
        )
    return OrderedLists(index, np.array(order, np.int64), lengths)


@compiled
def add_impacts(ordinals: NDArray[np.int32], impacts: NDArray[np.uint32], lengths: Int64s) -> None:
    for i in range(len(ordinals)):
        lengths[ordinals[i]] += impacts[i]


def with_capitals(lists: OrderedLists) -> list[str]:
    """The terms that have letters from A to Z: PISA's Python binding looks terms of queries up in lower case, and so
    never finds their lists."""
    terms = lists.index.vocabulary.terms
    found = (terms[term_id] for term_id in lists.order.tolist())
    return [term for term in found if any("A" <= char <= "Z" for char in term)]


def require_single_lines(names: Sequence[str], what: str, why: str) -> None:
    """Raise unless every name is a line of a text file: not empty, and without a line end. `what` it is, `why` it is
    written to one."""
    for name in names:
        if not name or any(end in name for end in _LINE_ENDS):
            said = "is empty" if not name else "holds a line end"
            raise InputError(f"the {what} {name!r} {said}, and {why}; give it another name")
