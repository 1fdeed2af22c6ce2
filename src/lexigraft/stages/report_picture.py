"""The picture of a report: MRR@10 against FLOPS, one line a system."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexigraft.core.cut import Keep
from lexigraft.core.types import counted_rows
from lexigraft.stages.pictures import BM25_LOOK, finish, legend_below, log_axis, new_figure, save_figure
from lexigraft.stages.point_labels import Named, label_points

BM25 = "bm25"


def searched_rows(report: Mapping[str, Any]) -> str:
    """What was searched, counted: "40 documents", or "120 passages" where documents were cut into them."""
    collection = report["collection"]
    return counted_rows(collection["documents"], collection.get("passages", False))


def kept_terms(row: Mapping[str, Any]) -> Keep:
    """(qk, dk) of a row as they are: where nothing more was asked for, those that the model itself cuts its vectors to;
    0 only where nothing was cut."""
    qk, dk = row.get("kept", (row["qk"], row["dk"]))
    return qk, dk


def _label(row: Mapping[str, Any]) -> str:
    """What a point of the picture is called: its (qk, dk), or nothing where nothing was cut."""
    qk, dk = kept_terms(row)
    return "" if (qk, dk) == (0, 0) else f"({qk},{dk})"


def draw(report: Mapping[str, Any], path: Path) -> None:
    """MRR@10 against FLOPS on a logarithmic axis, one line a system."""
    figure, ((axes,),) = new_figure(1, 1, (7, 4.8))
    named: list[Named] = []
    systems = list(dict.fromkeys(row["system"] for row in report["rows"]))
    looks = {name: {"color": f"C{at % 10}", "marker": "os^Dv"[at % 5]}
             for at, name in enumerate(one for one in systems if one != BM25)}  # fmt: skip
    for system in systems:
        look = looks.get(system, BM25_LOOK)
        level = next(
            (row["MRR@10"] for row in report["rows"] if row["system"] == system and row["FLOPS"] is None), None
        )
        if level is not None:
            axes.axhline(level, label=f"{system} (no postings)", color=look["color"], linestyle="--")
            continue
        points = sorted(Named(row["FLOPS"], row["MRR@10"], _label(row), str(look["color"])) for row in report["rows"]
                        if row["system"] == system)  # fmt: skip
        axes.plot([p.x for p in points], [p.y for p in points], label=system, **look)
        named += points
    if all(point.x > 0 for point in named):
        axes.set_xscale("log")
        log_axis(axes.xaxis, [point.x for point in named])
    axes.margins(x=0.12, y=0.15)
    one = "passage" if report["collection"].get("passages") else "document"
    axes.set_xlabel(f"FLOPS: postings a query touches, per {one} (log scale; left is cheaper)")
    axes.set_ylabel("MRR@10 (up is better)")
    collection = report["collection"]
    queries = f"{collection['queries']:,} {collection['split']} queries"
    axes.set_title(f"{collection['name']}: {queries} over {searched_rows(report)}")
    finish(axes)
    legend_below(figure)
    label_points(axes, [point for point in named if point.name], [(point.x, point.y) for point in named])
    save_figure(figure, path)
