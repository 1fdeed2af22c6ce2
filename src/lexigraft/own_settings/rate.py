"""The learning rate: short trials of the usual one, half of it and twice it, by validation R@10."""

import math
from collections.abc import Mapping

from lexigraft.core.settings import FinetuneSettings
from lexigraft.own_settings.choice import Choice
from lexigraft.own_settings.plan import Pace
from lexigraft.own_settings.trial import Trials

ABOUT = "learning rate"
RATES, RATE_STEPS = (0.5, 1.0, 2.0), 40  # the rates tried, times the one that is set, and for how long
FIRST_STEPS = 2  # times as long as later ones, which have fewer terms: the first are those that trials take


def seconds_of_trials(pace: Pace) -> float:
    """What the trials will take, about."""
    return len(RATES) * (RATE_STEPS * FIRST_STEPS * pace.finetune_step + pace.validation)


def choose_rate(trials: Trials, settings: FinetuneSettings, n_queries: int) -> Choice:
    """The rate with the best R@10 on so many validation queries."""
    found = trials.recall_after(settings, [settings.learning_rate * factor for factor in RATES], RATE_STEPS)
    listed = ", ".join(f"{rate:g}: {recall:.4f}" for rate, recall in found.items())
    why = (
        f"R@10 on {n_queries} validation queries after {RATE_STEPS} steps of each ({listed}); the usual one unless "
        "another is more than a standard error better"
    )
    evidence = {"R@10": {f"{rate:g}": round(recall, 4) for rate, recall in found.items()}, "steps": RATE_STEPS}
    rate = best_rate(found, settings.learning_rate, n_queries)
    return Choice(ABOUT, {"finetune.learning_rate": rate}, why, evidence)


def best_rate(found: Mapping[float, float], usual: float, n_queries: int) -> float:
    """The learning rate with the highest R@10; the usual one unless another is more than a standard error better."""
    best = max(found, key=lambda rate: (found[rate], -rate))
    error = math.sqrt(max(0.0, found[best] * (1 - found[best])) / n_queries)
    return best if found[best] - found[usual] > error else usual
