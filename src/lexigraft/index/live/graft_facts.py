"""How the documents of a grafted live index get words beside their own: what its state says of it."""

from dataclasses import dataclass

from lexigraft.core.stored_record import POSITIVE, Rule, fits, one_of, whole
from lexigraft.vectors.open_network import USUAL_BITS

GIVEN = "given"  # the encoder of vectors that the user makes


@dataclass(frozen=True)
class LiveGraft:
    """`borrowed`, `told`, `neighbours`, `cost` are as in the settings `grafted` and `prune.cost`; `cost` is None where
    nothing is cut. `encoder`: the backbone that writes vectors of `width` numbers from the first `length` subwords,
    with its `fingerprint` and matrices of `bits`; or `GIVEN`. `threshold`: what a word must weigh, times its IDF, to
    stay in a document; `lifted`: how much own words are (grafted/rows.py)."""

    borrowed: float
    told: float
    neighbours: int
    cost: float | None
    length: int
    encoder: str
    fingerprint: str = ""
    bits: int = USUAL_BITS
    width: int = 0
    threshold: float = 0.0
    lifted: float = 0.0

    @property
    def largest(self) -> float:
        """More than this no word weighs in a document: its own at most 1, what neighbours lend at most 1, and so what
        vectors tell is taken to be, which is an estimate of the same weights."""
        return 1 + self.borrowed + self.told


_SHARE = Rule(lambda value: fits(value, float) and 0 <= value <= 10, "a number from 0 to 10")
OF_GRAFT = {
    "borrowed": _SHARE,
    "told": _SHARE,
    "neighbours": whole(1, 1000),
    "cost": Rule(lambda value: value is None or POSITIVE.allows(value), "null or a number above 0"),
    "bits": one_of(8, 32),
    "length": whole(1, 2**31 - 1),
    "width": whole(1, 1 << 20),
    "lifted": _SHARE,
    "threshold": Rule(lambda value: fits(value, float) and value >= 0, "a number of 0 or more"),
}  # what live.json may say
