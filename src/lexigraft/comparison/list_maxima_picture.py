"""How many lists have a largest score above a value, drawn: one line a system (corpus vocabulary study, Figure 3)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexigraft.stages.pictures import finish, new_figure, save_figure

NAME = "list_maxima"


def draw(maxima: Mapping[str, Any], folder: Path) -> None:
    """list_maxima.png and .svg: one panel over lists that hold something, one over all of the vocabulary."""
    figure, (grid,) = new_figure(1, 2, (11, 4.2), sharey=True)
    for axes, (key, title) in zip(grid, (("non_empty", "lists that are not empty"), ("all", "all |V|")), strict=True):
        for place, one in enumerate(maxima["systems"]):
            skew = "" if one[key]["gini"] is None else f", Gini {one[key]['gini']:.2f}"
            label = f"{one['name']} ({one[key]['lists']:,} lists{skew})"
            style = ("-", "--", ":")[place // 10 % 3]  # after ten systems, colours come again
            axes.plot(
                maxima["thresholds"], one[key]["share_above"], label=label, color=f"C{place % 10}", linestyle=style
            )
        axes.set_title(title)
        axes.set_xlabel("largest score of a list")
        finish(axes, legend=8)
    grid[0].set_ylabel("share of lists with a higher one")
    save_figure(figure, folder / f"{NAME}.png", folder / f"{NAME}.svg", dpi=130)
