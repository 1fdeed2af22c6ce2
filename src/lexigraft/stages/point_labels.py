"""Names beside the points of a picture, none over another: each takes the first free place around its point, off the
lines where there is one, and one that finds none is left out."""

from collections.abc import Sequence
from typing import Any, NamedTuple

NEAR, FAR = 7, 16  # points of distance between a point and its name
AROUND = (("left", 1, 1), ("right", -1, 1), ("left", 1, -1), ("right", -1, -1), ("center", 0, 1), ("center", 0, -1))
MARKER = 5  # half the width of a marker, in pixels


class Named(NamedTuple):
    """A point of the picture, its name, and the colour of that."""

    x: float
    y: float
    name: str
    color: str = "black"


def label_points(axes: Any, named: Sequence[Named], others: Sequence[tuple[float, float]] = (), size: int = 8) -> None:
    """Write the names of points, the first first; `others` are further points that no name may cover. Call it when
    nothing else will change the axes."""
    from matplotlib.transforms import Bbox

    figure = axes.figure
    figure.get_layout_engine().execute(figure)  # settles where the axes lie, once: measuring is most of the work
    figure.set_layout_engine("none")
    renderer, inside = figure.canvas.get_renderer(), axes.get_window_extent()
    taken = [
        Bbox.from_bounds(x - MARKER, y - MARKER, 2 * MARKER, 2 * MARKER)
        for x, y in axes.transData.transform([*((one.x, one.y) for one in named), *others])
    ]
    drawn = [line.get_path().transformed(line.get_transform()) for line in axes.lines if _is_line(line)]
    spots = [(distance, lines) for lines in (drawn, []) for distance in (NEAR, FAR)]
    for one in named:
        for distance, lines in spots:
            if _placed(axes, one, distance, size, renderer, inside, taken, lines):
                break


def _is_line(line: Any) -> bool:
    """Whether points are joined, and not only marked."""
    return bool(line.get_linestyle() not in ("None", "", " "))


def _placed(
    axes: Any, one: Named, distance: int, size: int, renderer: Any, inside: Any, taken: list[Any], lines: Sequence[Any]
) -> bool:
    """Whether the name found a place at that distance that nothing has taken and no line crosses; it stays there."""
    for side, across, up in AROUND:
        text = axes.annotate(
            one.name, (one.x, one.y), textcoords="offset points", xytext=(across * distance, up * distance),
            ha=side, va="center", fontsize=size, color=one.color,
        )  # fmt: skip
        box = text.get_window_extent(renderer)
        is_inside = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        is_free = not any(box.overlaps(other) for other in taken)
        if is_inside and is_free and not any(line.intersects_bbox(box, filled=False) for line in lines):
            taken.append(box)
            return True
        text.remove()
    return False
