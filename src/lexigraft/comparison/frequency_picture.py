"""How counts fall with rank, drawn: one curve a vocabulary."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.stages.pictures import finish, new_figure, save_figure
from lexigraft.stages.vocabularies import short_names


def draw(counts: Mapping[str, NDArray[np.int64]], path: Path) -> None:
    """Counts against ranks, both on logarithmic axes; terms that never occur have no place there."""
    figure, ((axes,),) = new_figure(1, 1, (7, 4.5))
    names = short_names(list(counts))
    for place, (name, of_terms) in enumerate(zip(names, counts.values(), strict=True)):
        falling = -np.sort(-of_terms[of_terms > 0])
        label = f"{name} ({len(of_terms):,} terms)"
        axes.plot(np.arange(1, len(falling) + 1), falling, linestyle="-" if place == 0 else "--", label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("rank of the term, the most frequent first (log scale)")
    axes.set_ylabel("occurrences (log scale)")
    axes.set_title("How often terms occur")
    finish(axes, legend=10)
    save_figure(figure, path)
