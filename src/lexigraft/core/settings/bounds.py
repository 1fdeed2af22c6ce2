"""The range of a number, as a check and in words."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """What a number may be: at most one lower and one upper end, each of which belongs to the range or does not."""

    at_least: float | None = None
    more_than: float | None = None
    at_most: float | None = None
    less_than: float | None = None

    def hold(self, number: float) -> bool:
        """Whether `number` lies between the ends; what is not finite never does."""
        return (
            _is_finite(number)
            and (self.at_least is None or number >= self.at_least)
            and (self.more_than is None or number > self.more_than)
            and (self.at_most is None or number <= self.at_most)
            and (self.less_than is None or number < self.less_than)
        )

    @property
    def words(self) -> str:
        """The range in words, such as "0 or more and less than 1"; empty where there is no end."""
        if self.at_least is not None and self.at_most is not None:
            return f"{self.at_least:,} to {self.at_most:,}"
        ends = [
            "" if self.at_least is None else f"{self.at_least:,} or more",
            "" if self.more_than is None else f"more than {self.more_than:,}",
            "" if self.at_most is None else f"at most {self.at_most:,}",
            "" if self.less_than is None else f"less than {self.less_than:,}",
        ]
        return " and ".join(end for end in ends if end)


def _is_finite(number: float) -> bool:
    """Also a whole number of hundreds of digits is more than a computer's numbers hold."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False
