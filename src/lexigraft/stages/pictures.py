"""Pictures as files: drawn without a screen, in one look, and the same numbers give the same bytes."""

from pathlib import Path
from typing import Any

PER_FORMAT = {"png": {"Software": None}, "svg": {"Date": None}}  # what would differ from day to day is left out


def new_figure(n_rows: int, n_columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    """A figure and its grid of axes [n_rows, n_columns]; `size` in inches, `options` as of pyplot's subplots.

    matplotlib is loaded here and not before: it takes half a second.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "lexigraft"  # else the names inside an SVG are drawn anew each time
    return pyplot.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **options)


def finish(axes: Any, legend: int | None = None, **options: Any) -> None:
    """The look that all pictures share; `legend` is the size of its letters, `options` are its others, where there is
    one."""
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if legend is not None:
        axes.legend(frameon=False, fontsize=legend, **options)


def save_figure(figure: Any, *paths: Path, dpi: int = 150) -> None:
    """Write the figure in the formats that the names of `paths` end with, each whole or not at all, and close it."""
    from matplotlib import pyplot

    for path in paths:
        aside, kind = path.with_name(f".{path.name}"), path.suffix[1:]
        figure.savefig(aside, format=kind, dpi=dpi, metadata=PER_FORMAT[kind])
        aside.replace(path)
    pyplot.close(figure)
