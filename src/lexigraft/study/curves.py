"""The curves of a study: MRR@10 over FLOPS, a picture a collection and a line an arm."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from lexigraft.stages.pictures import BM25_LOOK, finish, legend_below, log_axis, new_figure, save_figure
from lexigraft.study.design import BM25, Side, Study
from lexigraft.study.evidence import Evidence

Place = tuple[float, float]


def draw_curves(study: Study, evidence: Evidence, out: Path) -> None:
    """Write curves.png and curves.svg into `out`. Every point of an arm is marked, and those are joined that none of
    the same arm beats at a lower cost."""
    collections = evidence.collections
    figure, axes = new_figure(1, len(collections), (6.6 * len(collections), 5.2))
    colors = {arm.name: f"C{number % 10}" for number, arm in enumerate(study.arms)}
    for axis, collection in zip(axes[0], collections, strict=True):
        costs = []
        for arm, color in colors.items():
            places = _places(study, evidence, collection, arm)
            if places:
                axis.plot(*zip(*places, strict=True), "o", markersize=3, alpha=0.4, color=color)
                axis.plot(*zip(*unbeaten(places), strict=True), "o-", markersize=3, color=color, label=arm)
                costs += [cost for cost, _ in places]
        reference = evidence.bm25(collection)
        if reference is not None and reference.flops > 0:
            axis.plot([reference.flops], [reference.mrr], linestyle="none", label=BM25, zorder=5, **BM25_LOOK)
            costs.append(reference.flops)
        axis.set(xscale="log", xlabel="FLOPS (left is cheaper)", ylabel="MRR@10 (up is better)", title=collection)
        if costs:
            log_axis(axis.xaxis, costs)
        finish(axis)
    legend_below(figure, 8)
    save_figure(figure, out / "curves.png", out / "curves.svg", dpi=110)


def _places(study: Study, evidence: Evidence, collection: str, arm: str) -> list[Place]:
    """(FLOPS, MRR@10) of an arm at each of the study's points, means over seeds; those that cost nothing are left
    out: they found nothing."""
    found = []
    for at in study.points:
        points = evidence.points(collection, Side(arm, at)).values()
        if points and all(point.flops > 0 for point in points):
            found.append((mean(point.flops for point in points), mean(point.mrr for point in points)))
    return found


def unbeaten(places: Sequence[Place]) -> list[Place]:
    """Those of which none that costs as much or less is as good, the cheapest first."""
    found: list[Place] = []
    for cost, worth in sorted(places, key=lambda place: (place[0], -place[1])):
        if not found or worth > found[-1][1]:
            found.append((cost, worth))
    return found
