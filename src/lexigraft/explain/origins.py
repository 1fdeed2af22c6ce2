"""Takes the weights of grafted documents apart: what is of their own words, borrowed, and told by their vectors.

An index holds one impact for each sum of `grafted.rows`. A document's own weight stands in BM25's vectors, and what a
neighbour lends is its own weight there times its share, and times the lift where the document has the word itself. So
both are looked up, and what is left comes from the document's vector.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float64s, Int64s
from lexigraft.core.errors import MixedVersionsError
from lexigraft.core.origin import BORROWED, OWN, VECTOR, Lender, Origin
from lexigraft.core.types import Contribution
from lexigraft.grafted.shares import neighbour_shares, own_lifts
from lexigraft.grafted.stored import read_facts, read_neighbours
from lexigraft.index.inverted import Index
from lexigraft.vectors.store import DocumentVectors, open_vectors


class Origins:
    """Of every row of a grafted index, where its words come from. Nothing changes once it is made: many threads may
    ask."""

    def __init__(self, grafted: Path, lexical: Path) -> None:
        """`grafted`: the vectors that the index was made of, `lexical`: BM25's of the same documents."""
        self.vectors = open_vectors(grafted, checksums=False)
        self._lexical = open_vectors(lexical, checksums=False)
        facts = read_facts(grafted)
        self._borrowed, self._lifts = facts.borrowed, own_lifts(self._lexical.matrix.indptr, facts.lifted)
        self._neighbours = read_neighbours(grafted)

    def require_made_of(self, index: Index, name: str) -> None:
        """Raise unless an index was made of these vectors."""
        if index.parents.get("vectors") != self.vectors.fingerprint:
            raise MixedVersionsError(
                f"{name} was made of other vectors than those that lie beside it now; continue the run, which makes "
                "the index anew"
            )

    def of(self, index: Index, ordinal: int, term_ids: Sequence[int], impacts: Sequence[int]) -> list[Origin]:
        """Where the impacts of some terms in a row come from."""
        row, terms = self.row_of(index, ordinal), np.asarray(term_ids, np.int32)
        neighbours, parts = self._parts(index, row, terms)
        whole = split(parts, np.asarray(impacts, np.int64))
        names = [(self.vectors.matrix.row_ids[one], self.vectors.titles[one]) for one in neighbours]
        return [_origin(column, names) for column in whole.T.tolist()]

    def _parts(self, index: Index, row: int, terms: NDArray[np.int32]) -> tuple[list[int], Float64s]:
        """The neighbours of a row, and what the row itself and each of them adds to some terms, in impacts."""
        rows, cosines = self._neighbours.rows[row], self._neighbours.cosines[row]
        lenders, there = rows[rows >= 0].tolist(), rows >= 0
        shares = self._borrowed * neighbour_shares(cosines[None], rows[None])[0][there]
        of_each = zip(lenders, shares.tolist(), strict=True)
        own = weights_of(self._lexical, row, terms)
        lift = np.where(own > 0, self._lifts[row], 1.0)
        parts = [own, *(share * lift * weights_of(self._lexical, one, terms) for one, share in of_each)]
        return lenders, np.array(parts) / index.meta.scale

    def explained(self, index: Index, ordinal: int, found: Sequence[Contribution]) -> tuple[Contribution, ...]:
        """What terms add to the score of a row, each with the origin of its points."""
        impacts = [round(item.document_weight / index.meta.scale) for item in found]
        origins = self.of(index, ordinal, [item.term_id for item in found], impacts)
        return tuple(
            item._replace(origin=origin.times(item.points // impact))
            for item, impact, origin in zip(found, impacts, origins, strict=True)
        )

    def kinds(self, index: Index, ordinal: int, found: Sequence[Contribution]) -> list[str]:
        """`Origin.kind` of each term: what lists of results show, for which neighbours' names are not looked up."""
        row, terms = self.row_of(index, ordinal), np.array([item.term_id for item in found], np.int32)
        own = weights_of(self._lexical, row, terms) > 0
        if own.all():
            return [OWN] * len(found)
        _, parts = self._parts(index, row, terms)
        lent = parts[1:].sum(axis=0) * index.meta.scale
        together = zip(own.tolist(), lent.tolist(), found, strict=True)
        return [
            OWN if is_own else BORROWED if 2 * weight >= item.document_weight else VECTOR
            for is_own, weight, item in together
        ]

    def row_of(self, index: Index, ordinal: int) -> int:
        """The row of the vectors that a row of the index is; one that was reordered has others."""
        doc_id = index.doc_ids[ordinal]
        return ordinal if self.vectors.matrix.row_ids[ordinal] == doc_id else self._row_of_id[doc_id]

    @cached_property
    def _row_of_id(self) -> dict[str, int]:
        return {doc_id: row for row, doc_id in enumerate(self.vectors.matrix.row_ids)}


def weights_of(vectors: DocumentVectors, row: int, terms: NDArray[np.int32]) -> Float64s:
    """The weights of some terms in a row, 0 where it lacks one."""
    held, weights = vectors.matrix.row(row)
    if not len(held):
        return np.zeros(len(terms))
    at = np.minimum(np.searchsorted(held, terms), len(held) - 1)
    return np.where(held[at] == terms, weights[at], 0.0).astype(np.float64)


def split(parts: Float64s, impacts: Int64s) -> Int64s:
    """Each impact as whole numbers that add up to it: one for each row of `parts` [parts, impacts], which are its exact
    parts but for the last, and then that last one.

    Rounded are the sums of the first part, of the first two, and so on: no part is further from its exact value than
    one, however many there are. If a single one is left at the end, it is the impact's own rounding, and goes to the
    heaviest part."""
    sums = np.minimum(np.rint(np.cumsum(parts, axis=0)), impacts)
    whole = np.diff(sums, axis=0, prepend=0.0).astype(np.int64)
    left = impacts - whole.sum(axis=0)
    rounding = np.flatnonzero((left == 1) & (parts.sum(axis=0) > 0))
    whole[parts[:, rounding].argmax(axis=0), rounding] += 1
    left[rounding] = 0
    return np.concatenate((whole, left[None]))


def _origin(parts: Sequence[int], names: Sequence[tuple[str, str]]) -> Origin:
    own, *lent, vector = parts
    lenders = [Lender(*name, points) for name, points in zip(names, lent, strict=True) if points]
    return Origin(own, tuple(sorted(lenders, key=lambda lender: -lender.points)), vector)
