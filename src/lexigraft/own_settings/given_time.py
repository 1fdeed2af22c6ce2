"""The time that a user gives to a run, and which settings are the user's own."""

import time
from dataclasses import dataclass, field

from lexigraft.core.errors import SettingError

LONGEST = 60 * 24 * 60  # minutes: two months, and surely a slip of the hand


@dataclass(frozen=True)
class GivenTime:
    """`by_hand`: the full names of the settings that the user said something of, which nothing changes. The clock
    begins when this is made."""

    minutes: float
    by_hand: frozenset[str] = frozenset()
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if not 0 < self.minutes <= LONGEST:  # which nothing that is not a number is
            raise SettingError(f"minutes = {self.minutes:g} is not allowed: more than 0 and at most {LONGEST:,}")

    @property
    def seconds(self) -> float:
        return 60 * self.minutes

    @property
    def steps_by_hand(self) -> bool:
        """Whether the user said how long to fine-tune: whatever the clock says, it is done."""
        return not {"finetune.steps", "finetune.epochs"}.isdisjoint(self.by_hand)

    @property
    def left(self) -> float:
        """Seconds until it is over; less than 0 after that."""
        return self.seconds - self.spent()

    def spent(self) -> float:
        """Seconds since the clock began."""
        return time.monotonic() - self.began
