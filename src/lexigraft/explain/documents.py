"""A grafted document explained: which words it has that its text does not hold, and where they come from."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lexigraft.core.origin import BORROWED, VECTOR, Origin, sum_of
from lexigraft.explain.lookup import impacts_of
from lexigraft.explain.origins import Origins
from lexigraft.index.inverted import Index

HEAVIEST = 10  # words of each kind that are shown


class AddedWord(NamedTuple):
    """A term that a document did not hold, and its weight now."""

    term: str
    weight: float
    origin: Origin


@dataclass(frozen=True)
class ExplainedDocument:
    """`added`: the words that its text does not hold, the heaviest first; `origin` is that of all `n_terms` together,
    in points of `scale`."""

    doc_id: str
    title: str
    n_terms: int
    origin: Origin
    scale: float
    added: tuple[AddedWord, ...]

    @property
    def borrowed(self) -> list[AddedWord]:
        """Of the added words, those that come from neighbours for the most part."""
        return [word for word in self.added if word.origin.kind == BORROWED]

    @property
    def told(self) -> list[AddedWord]:
        """Those that come from the document's vector."""
        return [word for word in self.added if word.origin.kind == VECTOR]

    @property
    def said(self) -> str:
        """How much of it is its own, as a line."""
        return f"{self.n_terms} terms, {len(self.added)} of them not in its text; of all weight: {self.origin.said}"


def explain_document(index: Index, origins: Origins, ordinal: int) -> ExplainedDocument:
    """The words of a row of the index."""
    terms, _ = origins.vectors.matrix.row(origins.row_of(index, ordinal))
    impacts = impacts_of(index, terms, np.array([ordinal], np.int32))[:, 0].astype(np.int64)
    terms, impacts = terms[impacts > 0], impacts[impacts > 0]  # an index may keep fewer terms than the vectors have
    found = origins.of(index, ordinal, terms.tolist(), impacts.tolist())
    names, scale = index.vocabulary.terms, index.meta.scale
    added = [
        AddedWord(names[term], impact * scale, origin)
        for term, impact, origin in zip(terms.tolist(), impacts.tolist(), found, strict=True)
        if not origin.own
    ]
    added.sort(key=lambda word: (-word.weight, word.term))
    return ExplainedDocument(
        index.doc_ids[ordinal], index.titles[ordinal], len(terms), sum_of(found), scale, tuple(added)
    )
