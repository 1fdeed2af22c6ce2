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
            raise SettingError(f"--minutes {self.minutes:g} is not allowed: more than 0 and at most {LONGEST:,}")

    @property
    def seconds(self) -> float:
        return 60 * self.minutes

    def spent(self) -> float:
        """Seconds since the clock began."""
        return time.monotonic() - self.began
