"""What a study is: arms that are trained, contrasts between them, and the claims that contrasts decide.

An arm is trained once for each weight of its regulariser, each collection and each seed. What a training leaves is
measured at *points*: whole vectors, vectors cut to (qk, dk), and the best cut within a share of BM25's cost, chosen on
queries that were held out.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lexigraft.study.evidence import Evidence
    from lexigraft.study.verdict import Decision

WHOLE = "whole"
COSTS = (0.25, 0.5, 1.0, 2.0)  # shares of BM25's FLOPS
BM25 = "bm25"  # an arm that every training brings along
ABOVE, LEVEL, BELOW, NOT_BELOW = "above", "level", "below", "not below"
MRR, W_AUC = "MRR@10", "W-AUC"


def at_cost(share: float) -> str:
    """The name of the point within a share of BM25's cost."""
    return f"cost {share:g}"


def is_cost(point: str) -> bool:
    return point in map(at_cost, COSTS)


def cut_to(qk: int, dk: int) -> str:
    """The name of the point of vectors cut to so many terms."""
    return f"({qk},{dk})"


class Arm(NamedTuple):
    """`settings` are those of a run, on top of what all arms share. In one, `{general}` is the general texts, which
    must be given, `{backbone}` the encoder that is given, `{tokenizer}` a tokenizer of BERT's, `{pretrain:2.5}` two and
    a half times the steps of pre-training of the scale, `{finetune:0.5}` half of those of fine-tuning, and
    `{records:0.5}` half of the texts that pre-training reads.
    `weights` are those of the study's swept setting (empty: as the settings say). `looks` are further measurements of a
    trained model (`study.looks`)."""

    name: str
    about: str
    settings: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    looks: tuple[str, ...] = ()

    @property
    def needs_general(self) -> bool:
        return any("{general}" in setting for setting in self.settings)


class Side(NamedTuple):
    """What is compared: an arm at a point, with some of its weights (empty: the best of all, on held-out queries)."""

    arm: str
    at: str = WHOLE
    weights: tuple[float, ...] = ()

    @property
    def described(self) -> str:
        if self.arm == BM25:
            return BM25
        weights = f" at {'/'.join(f'{weight:g}' for weight in self.weights)}" if self.weights else ""
        return f"{self.arm}{weights}, {self.at}"


class Contrast(NamedTuple):
    """What a claim expects of two sides: that `a` is above, level with, below or not below `b` by a measure. MRR@10 is
    compared query by query, any other value training by training."""

    a: Side
    expect: str
    b: Side
    measure: str = MRR


class Claim(NamedTuple):
    """`published` is what the paper reports. Where contrasts do not say it, `decide` looks at the evidence itself."""

    id: str
    text: str
    published: str
    contrasts: tuple[Contrast, ...] = ()
    decide: "Callable[[Evidence], Decision] | None" = None
    arms: tuple[str, ...] = ()  # that `decide` looks at

    @property
    def needs(self) -> tuple[str, ...]:
        """The arms that must be trained before it can be decided."""
        named = [side.arm for contrast in self.contrasts for side in (contrast.a, contrast.b)]
        return tuple(dict.fromkeys(name for name in (*named, *self.arms) if name != BM25))


class Study(NamedTuple):
    """`swept` is the setting that an arm's weights are of; `settings` are of all arms; `cuts` are the (qk, dk) at which
    the paper's tables have rows, `shown` the looks ("LOOK: VALUE") that its other tables are about."""

    name: str
    title: str
    paper: str
    swept: str
    settings: tuple[str, ...]
    arms: tuple[Arm, ...]
    claims: tuple[Claim, ...]
    cuts: tuple[tuple[int, int], ...]
    shown: tuple[str, ...] = ()
    fewest_documents: int = 0
    most_documents: int = 0  # 0: any number

    def suits(self, n_documents: int) -> bool:
        """Whether a collection of so many documents is one to study this on, where nobody says which."""
        return self.fewest_documents <= n_documents and (not self.most_documents or n_documents <= self.most_documents)

    def arm(self, name: str) -> Arm:
        return next(arm for arm in self.arms if arm.name == name)

    @property
    def deciding(self) -> tuple[str, ...]:
        """The arms that some claim waits for."""
        needed = {name for claim in self.claims for name in claim.needs}
        return tuple(arm.name for arm in self.arms if arm.name in needed)

    @property
    def points(self) -> tuple[str, ...]:
        return (WHOLE, *(cut_to(*cut) for cut in self.cuts), *map(at_cost, COSTS))
