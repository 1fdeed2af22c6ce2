"""Cost against effectiveness, drawn: the prunings of a system, those that no other beats, BM25, the budget."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from lexigraft.core.cut import Keep
from lexigraft.stages.pictures import BM25_LOOK, finish, legend_below, log_axis, new_figure, save_figure
from lexigraft.stages.point_labels import Named, label_points
from lexigraft.stages.report_picture import kept_terms

Row = Mapping[str, Any]


def draw(
    rows: Sequence[Row],
    front: Collection[Keep],
    baseline: Row | None,
    limit: float | None,
    chosen: Keep | None,
    title: str,
    path: Path,
    measure: str = "MRR@10",
) -> None:
    """A point a row, against FLOPS on a logarithmic axis; `front` is joined by a line and named, `limit`, BM25's
    FLOPS or the budget that something was chosen within, stands upright, `chosen` is ringed."""
    figure, ((axes,),) = new_figure(1, 1, (7.5, 5))
    best = sorted((row for row in rows if (row["qk"], row["dk"]) in front), key=lambda row: row["FLOPS"])
    beaten = [row for row in rows if (row["qk"], row["dk"]) not in front]
    axes.plot(*_places(beaten, measure), "o", color="0.7", label="another is cheaper and no worse")
    axes.plot(*_places(best, measure), "o-", color="C0", label="no other beats it (qk,dk)")
    if baseline is not None:
        axes.plot(*_places([baseline], measure), linestyle="none", label=baseline["system"], **BM25_LOOK)
    if limit is not None:
        label = f"{'bm25' if chosen is None else 'budget'}: {limit:.3g} FLOPS"
        axes.axvline(limit, color=BM25_LOOK["color"], linestyle="--", linewidth=1, label=label)
    if chosen is not None:
        places = _places([row for row in rows if (row["qk"], row["dk"]) == chosen], measure)
        axes.plot(*places, "o", markersize=15, fillstyle="none", color="C3", label=f"chosen: ({chosen[0]},{chosen[1]})")
    if all(row["FLOPS"] > 0 for row in rows):
        axes.set_xscale("log")
        log_axis(axes.xaxis, [row["FLOPS"] for row in rows])
    axes.margins(x=0.12, y=0.15)
    axes.set_xlabel("FLOPS: postings a query touches, per document (left is cheaper)")
    axes.set_ylabel(f"{measure} (up is better)")
    axes.set_title(title)
    finish(axes)
    legend_below(figure)
    shown = [*rows, *([baseline] if baseline is not None else [])]
    label_points(axes, [Named(row["FLOPS"], row[measure], "({},{})".format(*kept_terms(row))) for row in best],
                 list(zip(*_places(shown, measure), strict=True)))  # fmt: skip
    save_figure(figure, path)


def _places(rows: Sequence[Row], measure: str) -> tuple[list[float], list[float]]:
    return [row["FLOPS"] for row in rows], [row[measure] for row in rows]
