"""Steers the regularisers so that a search costs what was asked for (F2).

The cost of a search is what FLOPS counts: how many terms a query and a document have in common, on average over pairs
that do not belong together. Every step measures it on the batch's own vectors, and the weight of all regularisers is
multiplied by a factor that rises while the cost is above the aim and falls while it is below: dual ascent on the
logarithm of the weight, whose constraint is "this cost, and no more".

The aim comes down from what the model costs at first, by the same share at every step, and arrives half-way through the
training. The factor is bounded, closely: what pressure alone cannot buy, pruning buys for less. Where common terms are
what queries ask for, a factor of 32 was reached before the aim was, and the model had learned little under it.
"""

import math

import torch
from torch import Tensor

RATE = 0.03  # of the logarithm, for a cost that is e times the aim or more
SMOOTHING = 0.9  # of the logarithm of the cost, from step to step: one batch says little
LARGEST = math.log(2.0)  # the factor lies between one by this and this
ARRIVES = 0.5  # the share of the training after which the aim is what was asked for


def batch_cost(queries: Tensor, documents: Tensor) -> Tensor:
    """Terms that a query has in common with a document of another query of the batch, on average. `queries` [n,
    vocabulary]; `documents` [n or more, vocabulary], of which the first n belong to the queries, one each."""
    n_queries, n_documents = len(queries), len(documents)
    asked, held = queries > 0, documents > 0
    own = (asked & held[:n_queries]).sum()
    return (asked.sum(0).float() @ held.sum(0).float() - own) / max(1, n_queries * n_documents - n_queries)


class CostControl:
    """The factor of the regularisers' weight, as a function of the costs seen so far in a training of `steps` steps."""

    def __init__(self, aim: float, steps: int, device: torch.device) -> None:
        self._log_aim, self._arrives = math.log(aim), max(1.0, ARRIVES * steps)
        self._log_factor = torch.zeros((), device=device)
        self._log_cost = torch.full((), math.nan, device=device)  # smoothed; not a number before the first step
        self._log_first = torch.full((), math.nan, device=device)

    def state(self) -> dict[str, Tensor]:
        """All it knows; the tensors may be filled in again in place."""
        return {
            "cost_log_factor": self._log_factor,
            "cost_log_cost": self._log_cost,
            "cost_log_first": self._log_first,
        }

    @property
    def factor(self) -> Tensor:
        return self._log_factor.exp()

    @torch.no_grad()
    def see(self, cost: Tensor, step: int) -> None:
        """The cost of a step's batch: the factor of the next step follows from it."""
        seen = cost.clamp_min(1e-9).log()
        smoothed = SMOOTHING * self._log_cost + (1 - SMOOTHING) * seen
        self._log_cost.copy_(torch.where(self._log_cost.isnan(), seen, smoothed))
        self._log_first.copy_(torch.where(self._log_first.isnan(), seen, self._log_first))
        way = min(1.0, step / self._arrives)
        aim = self._log_aim + (1 - way) * (self._log_first - self._log_aim).clamp_min(0)
        change = (self._log_cost - aim).clamp(-1, 1)
        self._log_factor.add_(RATE * change).clamp_(-LARGEST, LARGEST)
