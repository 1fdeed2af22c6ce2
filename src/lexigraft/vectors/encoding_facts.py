"""What a model's encoding left out, counted while it encodes: how much of its documents it reads, and how many terms
its vectors had before they were cut. Kept with the vectors, for the report."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MODEL = "model"  # the kind of a learned encoder


@dataclass
class EncodingFacts:
    """Sums over texts. `length`: the most subwords that are read of one, special ones included. `most_terms`: what the
    model cuts a vector to (0: nothing is cut), `terms_before`: the terms of all vectors before that."""

    length: int
    most_terms: int = 0
    documents: int = 0
    read_whole: int = 0
    shares_read: float = 0.0
    terms_before: int = 0

    def add_reading(self, read: NDArray[np.int64], whole: NDArray[np.int64]) -> None:
        """Some documents, of which so many subwords were `read` of as many as the `whole` has."""
        self.documents += len(whole)
        self.read_whole += int((read >= whole).sum())
        self.shares_read += float((read / np.maximum(whole, 1))[whole > 0].sum()) + int((whole == 0).sum())

    def add(self, other: "EncodingFacts") -> None:
        """Count the texts of `other`, which the same model encoded, after those counted here."""
        self.documents += other.documents
        self.read_whole += other.read_whole
        self.shares_read += other.shares_read
        self.terms_before += other.terms_before

    def as_json(self) -> dict[str, Any]:
        """As the vectors' `meta.json` has it."""
        return asdict(self)


def terms_before_cut(facts: Mapping[str, Any], kind: str, n_terms: int) -> int | None:
    """How many terms vectors had that now have `n_terms` together, before their encoder, of a `kind`, cut them: as many
    where it was no model, or cuts nothing; None where a model of a former version did not count them."""
    if "terms_before" in facts:
        return int(facts["terms_before"])
    return None if kind == MODEL else n_terms


def reading_in_words(facts: Mapping[str, Any]) -> str:
    """What part of a document is read, of what `EncodingFacts` counted; empty where that is not known."""
    if not facts.get("documents"):
        return ""
    whole, share = (facts[name] / facts["documents"] for name in ("read_whole", "shares_read"))
    return (
        f"reads the first {facts['length']} subwords of a document, two special ones included: {whole:.1%} of "
        f"{facts['documents']:,} documents are read whole, and of a document {share:.1%} on average"
    )
