"""When a head is too large, and by what to divide it (H3; rescaling study, 3.2 and Tables 1 and 2).

Published heads with a mean row norm of up to 1.66 trained well as they are; those from 2.55 on did not: their losses
began very high. Here a head is too large from a mean norm of 2 on, or where the first loss is more than twice that of
chance, log(batch): equal scores have the loss of chance, and only scores that are far apart one of twice that.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from lexigraft.model.head import HeadDiagnostics
from lexigraft.train.activations import Activations

ALPHAS = (1.0, 2.0, 4.0, 8.0, 16.0)
LARGE_NORM = 2.0
HIGH_LOSS = 2.0  # times that of chance
GOOD_NORM = 1.0  # every published head that was too large did far better once its mean norm was less
FEWEST_TERMS = 1.0
DENSE_SHARE = 0.2
LEARNED_LOSS = 0.98  # of chance's: probes that learn nothing end within a thousandth of it
LEARNED_SCORE, TIMES_CHANCE = 0.05, 4.0  # scores below, and below so many times chance's, tell nothing from noise


@dataclass(frozen=True)
class ProbeResult:
    """A short fine-tuning: what validation made of it (0 without one), and the ranking loss at both ends; a run that
    collapsed has an infinite last loss."""

    score: float
    first_loss: float
    last_loss: float


@dataclass(frozen=True)
class Chance:
    """What a probe comes to that tells no two texts apart: its ranking loss (infinite where the loss has no such
    value), and its validation score."""

    loss: float
    score: float = 0.0

    def is_beaten_by(self, probe: ProbeResult) -> bool:
        """Whether the probe has learned to rank. A head whose scores are far apart may rank well at a high loss."""
        ranks = probe.score >= max(LEARNED_SCORE, TIMES_CHANCE * self.score)
        return ranks or probe.last_loss < LEARNED_LOSS * self.loss


def is_high(first_loss: float, chance_loss: float) -> bool:
    """Whether a first loss is far above that of chance."""
    return first_loss > HIGH_LOSS * chance_loss


def is_too_large(mean_norm: float, activations: Activations | None) -> bool:
    """Whether a head should be divided before it is trained to rank."""
    high = activations is not None and is_high(activations.first_loss, activations.chance_loss)
    return mean_norm >= LARGE_NORM or high


def suggest_alpha(mean_norm: float) -> float:
    """The least alpha that brings the mean norm to 1 or less, or the largest; 1 where it is not too large."""
    if mean_norm < LARGE_NORM:
        return 1.0
    return next((alpha for alpha in ALPHAS if mean_norm / alpha <= GOOD_NORM), ALPHAS[-1])


def best_alpha(probes: Mapping[float, ProbeResult]) -> float:
    """The alpha with the highest score; of equal ones that with the lowest last loss, then the least."""
    return min(probes, key=lambda alpha: (-probes[alpha].score, probes[alpha].last_loss, alpha))


def alpha_without_ranking(mean_norm: float, probes: Mapping[float, ProbeResult], chance_loss: float) -> float:
    """Where no probe has learned to rank, what to divide by: for long rows, what brings their norm to 1; else the least
    alpha whose first loss is not high, or the largest probed."""
    if mean_norm >= LARGE_NORM:
        return suggest_alpha(mean_norm)
    calm = (alpha for alpha in sorted(probes) if math.isfinite(probes[alpha].first_loss))
    return next((alpha for alpha in calm if not is_high(probes[alpha].first_loss, chance_loss)), max(probes))


def predict(head: HeadDiagnostics, activations: Activations | None, alpha: float) -> list[str]:
    """What the numbers say of training, a sentence each; `alpha` is what to divide by where it is too large."""
    said = []
    remedy = f"divide the head (--alpha {alpha:g}), or let probe runs choose (--alpha auto)"
    if head.mean_norm >= LARGE_NORM:
        said.append(
            f"The rows are long: published heads with a mean norm of 1.66 or less trained well, those from 2.55 on "
            f"failed. Scores will be inflated and training unstable: {remedy}."
        )
    if activations is not None:
        said += _predict_from(activations, remedy)
    return said or ["Nothing speaks for dividing the head: train it as it is (--alpha 1)."]


def _predict_from(found: Activations, remedy: str) -> list[str]:
    said = []
    if is_high(found.first_loss, found.chance_loss):
        said.append(
            f"The first loss, {found.first_loss:.1f}, is far above that of chance, log({found.n_pairs}) = "
            f"{found.chance_loss:.1f}: scores are too far apart for the temperature: {remedy}."
        )
    if min(found.l0_q, found.l0_d) < FEWEST_TERMS:
        said.append(
            "The head is dead on these texts: they get hardly any term, and training would stop as collapsed. Divide "
            "it by less, pre-train it shorter (the published failures of long pre-training begin so), or graft it anew."
        )
    elif found.positive_share > DENSE_SHARE:
        said.append(
            f"{found.positive_share:.0%} of all terms are active: sparse vectors are the work of the regulariser "
            "(finetune.joint_flops, flops_q, flops_d), and of top-k masks until it has done it."
        )
    return said
