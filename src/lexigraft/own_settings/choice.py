"""One choice that a run made for itself: settings, and what speaks for them."""

from dataclasses import dataclass, field
from typing import Any

MODELS = "models"  # among the evidence of how long they are trained


@dataclass(frozen=True)
class Choice:
    """`settings` by their full names; empty where nothing could be chosen and the defaults stand. `why` is a line for a
    person, `evidence` the numbers behind it."""

    about: str
    settings: dict[str, Any]
    why: str
    evidence: dict[str, Any] = field(default_factory=dict)

    def without(self, by_hand: frozenset[str]) -> "Choice":
        """The same without what the user set, which wins."""
        left = {name: value for name, value in self.settings.items() if name not in by_hand}
        if left == self.settings:
            return self
        kept = ", ".join(name for name in self.settings if name in by_hand)
        return Choice(self.about, left, f"{self.why}; set by hand and kept: {kept}", self.evidence)

    def as_json(self) -> dict[str, Any]:
        return {"about": self.about, "settings": self.settings, "why": self.why, "evidence": self.evidence}


def settings_of(choices: list[Choice]) -> dict[str, Any]:
    """All that was chosen, the later over the earlier."""
    return {name: value for choice in choices for name, value in choice.settings.items()}


def models_in(choices: list[Choice]) -> int:
    """How many models the time was found to be enough for, in one call."""
    return next(int(choice.evidence[MODELS]) for choice in choices if MODELS in choice.evidence)
