"""What an encoder from scratch is like: its tokenizer and its size."""

from dataclasses import dataclass

from lexigraft.core.errors import require
from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class BackboneSettings(Section, name="backbone"):
    """The encoder from scratch that `model.backbone` = scratch and `lexigraft model fresh` make. Its layers are as many
    as `model.layers` says (0: three)."""

    tokenizer: str = setting(
        "",
        "a tokenizer folder to take as it is, such as `lexigraft vocab wordpiece` makes",
        empty="one is learned from the documents and training queries",
    )
    punctuation: bool = setting(
        True,
        "whether a tokenizer that is given reads punctuation; without it, a mark is read as a space, as in tokenizers "
        "that are learned here",
    )
    pieces: int = setting(
        8000,
        "how many pieces a tokenizer learns, special tokens included; with a plain head they are the output vocabulary",
        at_least=1,
    )
    min_count: int = setting(2, "how often a pair must occur to become a piece; letters are pieces anyway", at_least=1)
    width: int = setting(
        256,
        "width of the hidden states, a multiple of `backbone.heads`; the inner layers are four times as wide",
        at_least=1,
    )
    heads: int = setting(4, "heads of attention, each with an equal share of the width", at_least=1)
    family: str = setting(
        "bert",
        "whose kind of encoder it is",
        one_of={
            "bert": "learned positions, layers that normalise what they give",
            "roberta": "the same without kinds of segments, its positions counted from the padding's number",
            "modernbert": "rotary positions, gated layers that normalise what they get, no biases",
        },
    )
    spread: float = setting(
        0.02,
        "standard deviation of the word embeddings that are drawn, and so of the rows of the head, which is tied to "
        "them: their norm is about this times the root of the width",
        more_than=0,
    )
    positions: int = setting(512, "subwords that a text may have, the two special ones included", at_least=3)

    def check_together(self) -> None:
        shared = f"a multiple of backbone.heads, which is {self.heads}"
        require(self.width % self.heads == 0, "backbone.width", self.width, shared)
