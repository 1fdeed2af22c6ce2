"""Which of several settings no other beats in both cost and quality, and which is best within a budget."""

from collections.abc import Sequence
from typing import NamedTuple


class Point(NamedTuple):
    """What a setting costs (less is better) and what it is worth (more is better)."""

    cost: float
    quality: float


def pareto_front(points: Sequence[Point]) -> list[int]:
    """The places of the points that no other beats, cheapest first: none has less cost and no less quality, or more
    quality and no more cost. Of equal points the first stands for all."""
    order = sorted(range(len(points)), key=lambda at: (points[at].cost, -points[at].quality, at))
    front: list[int] = []
    for at in order:
        if not front or points[at].quality > points[front[-1]].quality:
            front.append(at)
    return front


def best_within(points: Sequence[Point], budget: float, inclusive: bool = False) -> int | None:
    """The place of the best point that costs less than `budget` or, with `inclusive`, no more; equally good ones by
    cost, then by place. None where no point is so cheap."""
    cheap = [at for at, point in enumerate(points) if point.cost < budget or (inclusive and point.cost == budget)]
    return min(cheap, key=lambda at: (-points[at].quality, points[at].cost, at), default=None)
