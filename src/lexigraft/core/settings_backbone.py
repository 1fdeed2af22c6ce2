"""What an encoder from scratch is like: its tokenizer and its size. How many layers it has, `model.layers` says."""

from dataclasses import dataclass

from lexigraft.core.errors import require


@dataclass(frozen=True)
class BackboneSettings:
    """The fresh encoder that `model.backbone` = scratch and `lexigraft model fresh` make."""

    tokenizer: str = ""  # a tokenizer folder to take as it is; empty: one is learned from the collection
    pieces: int = 8000  # of a learned one; with a plain head they are the output vocabulary
    min_count: int = 2  # how often a pair must occur to become a piece
    width: int = 256  # of hidden states; the inner layers are four times as wide
    heads: int = 4  # of attention, each with an equal share of the width
    positions: int = 512  # subwords that a text may have, the two special ones included

    def __post_init__(self) -> None:
        for name in ("pieces", "min_count", "width", "heads"):
            require(getattr(self, name) >= 1, f"backbone.{name}", getattr(self, name), "1 or more")
        require(self.positions >= 3, "backbone.positions", self.positions, "3 or more")
        shared = f"a multiple of backbone.heads, which is {self.heads}"
        require(self.width % self.heads == 0, "backbone.width", self.width, shared)
