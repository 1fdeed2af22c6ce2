"""How a training went, drawn from its history: one panel a kind of value, and only those that were recorded."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lexigraft.stages.pictures import finish, plain_grid, save_figure

# Panels in the order people read them: title, and the values drawn in it with their names.
PANELS: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "loss",
        {"loss": "training", "mlm": "without pressure", "first_loss": "first subwords", "later_loss": "later subwords"},
    ),
    ("accuracy", {"accuracy": "training", "first_accuracy": "first subwords", "later_accuracy": "later subwords"}),
    ("accuracy among the drawn", {"sampled_accuracy": "training"}),
    ("ranking loss", {"rank": "ranking loss"}),
    ("pressure of the regularisers", {"pressure": "pressure"}),
    ("terms of a vector", {"L0_q": "L0_q", "L0_d": "L0_d"}),
    ("validation R@10", {"R@10": "R@10"}),
    ("validation MRR@10", {"MRR@10": "MRR@10"}),
    ("mean norm of the head's rows", {"head_norm": "head norm"}),
)
COLUMNS = 3
SPARSE = 100  # values up to so many are marked, each by a point


def draw(history: Sequence[Mapping[str, float]], path: Path) -> None:
    """Write the curves of a training's `history`, one entry a step, as a PNG at `path`; nothing where it has none.

    The same history gives the same bytes.
    """
    panels = [(title, _series(history, names)) for title, names in PANELS]
    panels = [(title, series) for title, series in panels if series]
    if not panels:
        return
    figure, grid = plain_grid(len(panels), COLUMNS)
    for axes, (title, series) in zip(grid, panels, strict=True):
        _draw_panel(axes, title, series)
    save_figure(figure, path, dpi=110)


Series = dict[str, tuple[list[int], list[float]]]


def _series(history: Sequence[Mapping[str, float]], names: Mapping[str, str]) -> Series:
    """By name, the steps that have a value and the values."""
    found: Series = {}
    for key, name in names.items():
        steps = [place + 1 for place, values in enumerate(history) if key in values]
        if steps:
            found[name] = steps, [history[step - 1][key] for step in steps]
    return found


def _draw_panel(axes: Any, title: str, series: Series) -> None:
    for name, (steps, values) in series.items():
        axes.plot(steps, values, label=name, linewidth=1.2, marker="." if len(steps) <= SPARSE else None)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("step")
    finish(axes, legend=8 if len(series) > 1 else None)
