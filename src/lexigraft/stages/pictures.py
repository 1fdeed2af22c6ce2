"""Pictures as files: drawn without a screen, in one look, and the same numbers give the same bytes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexigraft.core.plain_files import written_aside

BM25_LOOK = {"color": "black", "marker": "*", "markersize": 11}  # in every picture that has it
PER_FORMAT = {"png": {"Software": None}, "svg": {"Date": None}}  # what would differ from day to day is left out


PANEL = (4.2, 3.2)  # inches of a panel of a plain grid, with the room around it
ROOM = {"left": 0.72, "right": 0.12, "bottom": 0.5, "top": 0.32}  # inches of it for numbers, the label and the title


def new_figure(n_rows: int, n_columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    """A figure and its grid of axes [n_rows, n_columns]; `size` in inches, `options` as of pyplot's subplots. What is
    written at its edges finds its room by itself."""
    found = _pyplot().subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **options)
    return found[0], found[1]


def plain_grid(n_panels: int, columns: int) -> tuple[Any, list[Any]]:
    """A figure of panels side by side, each with the same room for short numbers, a title and a label below.

    To measure that room costs four times what drawing costs; a training's curves are drawn for every model.
    """
    n_columns = min(columns, n_panels)
    n_rows = -(-n_panels // n_columns)
    figure, grid = _pyplot().subplots(
        n_rows, n_columns, figsize=(PANEL[0] * n_columns, PANEL[1] * n_rows), squeeze=False
    )
    inner = PANEL[0] - ROOM["left"] - ROOM["right"], PANEL[1] - ROOM["bottom"] - ROOM["top"]
    figure.subplots_adjust(
        left=ROOM["left"] / (PANEL[0] * n_columns),
        right=1 - ROOM["right"] / (PANEL[0] * n_columns),
        bottom=ROOM["bottom"] / (PANEL[1] * n_rows),
        top=1 - ROOM["top"] / (PANEL[1] * n_rows),
        wspace=(PANEL[0] - inner[0]) / inner[0],
        hspace=(PANEL[1] - inner[1]) / inner[1],
    )
    panels = list(grid.flat)
    for unused in panels[n_panels:]:
        unused.remove()
    return figure, panels[:n_panels]


def _pyplot() -> Any:
    """matplotlib is loaded here and not before: it takes half a second."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "lexigraft"  # else the names inside an SVG are drawn anew each time
    return pyplot


def finish(axes: Any, legend: int | None = None, **options: Any) -> None:
    """The look that all pictures share; `legend` is the size of its letters, `options` are its others, where there is
    one."""
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if legend is not None:
        axes.legend(frameon=False, fontsize=legend, **options)


def log_axis(axis: Any, values: Sequence[float]) -> None:
    """A logarithmic axis whose numbers have room: of a few decades 1, 2 and 5 are named, of many the powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    named = (1.0, 2.0, 5.0) if max(values) < 300 * min(values) else (1.0,)
    axis.set_major_locator(LogLocator(subs=named, numticks=30))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def legend_below(figure: Any, size: int = 9) -> None:
    """One legend of all axes, below them, where it covers nothing."""
    found = {
        label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    labels, handles = list(found), list(found.values())
    figure.legend(handles, labels, loc="outside lower center", ncols=min(3, max(1, len(labels))), frameon=False,
                  fontsize=size)  # fmt: skip


def save_figure(figure: Any, *paths: Path, dpi: int = 150) -> None:
    """Write the figure in the formats that the names of `paths` end with, each whole or not at all, and close it."""
    from matplotlib import pyplot

    for path in paths:
        kind = path.suffix[1:]
        with written_aside(path) as aside:
            figure.savefig(aside, format=kind, dpi=dpi, metadata=PER_FORMAT[kind])
    pyplot.close(figure)
