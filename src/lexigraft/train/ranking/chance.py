"""The collapse of a ranking: every document of a batch scores the same, and training continues in vain (F4).

Its loss is then that of chance, and stays there: no term tells two texts apart, so no gradient does either. The number
of terms does not show it (docs/explanation/training.md, "When a ranking dies").
"""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.core.settings import FinetuneSettings
from lexigraft.train.loop import TrainingError

TOLERANCE = 1e-3  # one that learns slowly is further below, one that is unstable further above
FEWEST_STEPS = 50
SHARE_OF_STEPS = 20  # a long run may take longer to begin


def chance_loss(relevant: NDArray[np.bool_], temperature: float, symmetric: bool, margin: float) -> float:
    """The value of `in_batch_loss` where all scores are equal; the arguments are those that it takes."""
    n = len(relevant)
    loss = _of_lists(relevant.shape[1] - relevant.sum(1), relevant.diagonal(), temperature, margin)
    if not symmetric:
        return loss
    return (loss + _of_lists(n - relevant[:, :n].sum(0), relevant.diagonal(), temperature, margin)) / 2


def _of_lists(
    n_irrelevant: NDArray[np.int64], own_is_marked: NDArray[np.bool_], temperature: float, margin: float
) -> float:
    """Mean over lists of log(1 + negatives * exp(margin / temperature)), which the own document's place in a softmax of
    equal scores comes to; by logaddexp, because the exponential alone may be too large."""
    n_negatives = n_irrelevant - ~own_is_marked
    with np.errstate(divide="ignore"):  # no negatives: log 0, and a loss of 0
        return float(np.logaddexp(0.0, np.log(n_negatives) + margin / temperature).mean())


class ChanceWatch:
    """Counts the steps in a row, after warm-up, whose ranking losses are those of chance, and stops at too many."""

    def __init__(self, settings: FinetuneSettings, checkpoint: Path) -> None:
        self._settings = settings
        self._checkpoint = checkpoint
        self._most = max(FEWEST_STEPS, settings.steps // SHARE_OF_STEPS)
        self._tolerance = TOLERANCE / max(1.0, settings.temperature)  # which shrinks all that scores say
        self._count = torch.zeros((), dtype=torch.int64)

    def state(self) -> dict[str, Tensor]:
        """The count: saved with checkpoints and filled in again in place, so that a continued run stops where one that
        was not interrupted does."""
        return {"steps_at_chance": self._count}

    def see(self, step: int, values: dict[str, float], chance: float) -> None:
        """`values` of a step, of which those named "rank..." are looked at, and what they would be by chance. A batch
        in which nothing is to be ranked says nothing."""
        ranks = [value for name, value in values.items() if name.startswith("rank")]
        if step < self._settings.warmup or not ranks or chance <= self._tolerance:
            return
        is_chance = all(abs(value - chance) <= self._tolerance for value in ranks)
        self._count.copy_(self._count + 1 if is_chance else torch.zeros_like(self._count))
        if int(self._count) >= self._most:
            raise TrainingError(
                f"finetune: the ranking died: at step {step + 1} its loss is {ranks[0]:.4f}, and for {self._most} "
                f"steps it has been that of equal scores (now {chance:.4f}): nothing tells texts apart any more. What "
                f"{self._checkpoint} holds may be dead already. Lower finetune.learning_rate (now "
                f"{self._settings.learning_rate:g}) or warm up longer; if that does not help, lower the regularisers "
                "(finetune.joint_flops, flops_q, flops_d, l1_q, l1_d, df_flops), ramp them longer, or set a larger "
                "model.alpha (--alpha auto)"
            )
