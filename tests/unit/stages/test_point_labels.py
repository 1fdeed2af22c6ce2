"""Names beside points: none over another, none over a point, all inside the axes."""

import itertools

import numpy as np
from matplotlib.transforms import Bbox

from lexigraft.stages.pictures import log_axis, new_figure
from lexigraft.stages.point_labels import MARKER, Named, label_points


def drawn(points, scale="linear"):
    figure, ((axes,),) = new_figure(1, 1, (6, 4))
    axes.plot([one.x for one in points], [one.y for one in points], "o")
    axes.set_xscale(scale)
    if scale == "log":
        log_axis(axes.xaxis, [one.x for one in points])
    label_points(axes, points)
    figure.canvas.draw()
    return figure, axes


def boxes(axes):
    return [text.get_window_extent() for text in axes.texts]


def test_names_keep_apart_however_close_their_points_are():
    generator = np.random.default_rng(1)
    points = [Named(x, y, f"({i},{10 * i})") for i, (x, y) in enumerate(generator.normal(size=(40, 2)) / 3)]
    _, axes = drawn(points)
    found = boxes(axes)
    assert 10 < len(found) <= 40
    assert not any(a.overlaps(b) for a, b in itertools.combinations(found, 2))
    inside = axes.get_window_extent()
    assert all(inside.x0 - 1 <= box.x0 and box.x1 <= inside.x1 + 1 for box in found)
    for x, y in axes.transData.transform([(one.x, one.y) for one in points]):
        marker = Bbox.from_bounds(x - MARKER + 1, y - MARKER + 1, 2 * MARKER - 2, 2 * MARKER - 2)
        assert not any(box.overlaps(marker) for box in found)


def test_names_stand_off_the_line_that_joins_their_points():
    points = [Named(x, y, f"({x},{y})") for x, y in ((0, 0), (1, 4), (2, 5), (3, 5.5), (4, 5.7))]
    figure, ((axes,),) = new_figure(1, 1, (6, 4))
    (line,) = axes.plot([one.x for one in points], [one.y for one in points], "o-")
    label_points(axes, points)
    figure.canvas.draw()
    joined = line.get_path().transformed(line.get_transform())
    assert len(axes.texts) == len(points)
    assert not any(joined.intersects_bbox(box, filled=False) for box in boxes(axes))


def test_a_lone_name_is_there():
    _, axes = drawn([Named(1.0, 1.0, "(10,40)")])
    assert [text.get_text() for text in axes.texts] == ["(10,40)"]


def test_numbers_of_a_logarithmic_axis_have_room():
    for low, high in ((0.5, 3.0), (0.01, 0.9), (0.002, 300.0)):
        _, axes = drawn([Named(low, 0.0, ""), Named(high, 1.0, "")], "log")
        labels = [one for one in axes.get_xticklabels(which="both") if one.get_text() and one.get_visible()]
        inside = axes.get_window_extent()
        shown = [box for one in labels if inside.x0 <= (box := one.get_window_extent()).x0 and box.x1 <= inside.x1]
        assert len(shown) >= 2
        assert not any(a.overlaps(b) for a, b in itertools.combinations(shown, 2))
