"""The frame of figures with two axes: places, whiskers, names and lines."""

from xlingual.report.axis import axis_for
from xlingual.report.figures import labels
from xlingual.report.figures.frame import Frame, fitted, scatter

SIZE = (560, 480, 52, 14, 546, 434)
NARROW = (350, 390, 44, 14, 342, 346)


def framed(size=SIZE):
    return Frame(*size, axis_for([0.0, 1.0]), axis_for([0.0, 1.0]))


def drawn(size=SIZE, **more):
    frame = framed(size)
    points = [frame.point(0.1 * i, 0.1 * i, f"tip {i}", across=(0.1 * i, 0.1 * i + 0.05)) for i in range(6)]
    names = [f"encoder {i}" for i in range(6)]
    return scatter(frame, points, names, across="XLR", up="BkR", spoken="six points", **more)


def test_ends_of_the_axes_are_the_edges_of_the_plot():
    frame = framed()
    assert (frame.x(0.0), frame.x(1.0)) == (52, 546)
    assert (frame.y(0.0), frame.y(1.0)) == (434, 14)
    point = frame.point(0.5, 0.5, "tip", across=(0.4, 0.6), up=(0.2, 0.8))
    assert point.across == (frame.x(0.4), frame.x(0.6)) and point.down == (frame.y(0.8), frame.y(0.2))
    assert len(point.whiskers()) == 2


def test_a_scatter_draws_each_point_its_whisker_and_its_name():
    found = drawn()
    marks = [shape for shape in found.shapes if shape.style.startswith("mark")]
    assert [mark.title for mark in marks] == [f"tip {i}" for i in range(6)]
    assert sum(shape.style == "spread" for shape in found.shapes) == 6
    named = {shape.text for shape in found.shapes if shape.style == "name"}
    assert named | set(found.unnamed) == {f"encoder {i}" for i in range(6)} and named
    assert {"XLR", "BkR"} <= {shape.text for shape in found.shapes if shape.style == "axis-name"}


def test_a_line_beyond_the_axis_is_not_drawn_and_words_give_way_to_names():
    frame = framed()
    assert frame.level(2.0, "chance") is None and frame.level(None, "chance") is None
    level = frame.level(0.5, "chance 0.5")
    assert level is not None and level.label is not None
    found = drawn(level=level)
    assert [shape.text for shape in found.shapes if shape.style == "chance-name"] == ["chance 0.5"]
    boxes = [labels.box_of(level.label)]
    assert not any(
        box[0] < float(shape.attributes["x"]) < box[2] and box[1] < float(shape.attributes["y"]) < box[3]
        for shape in found.shapes
        if shape.style == "name"
        for box in boxes
    )


def test_names_cover_what_is_avoided_rather_than_being_left_out():
    whole = (0.0, 0.0, 560.0, 480.0)
    assert len(drawn(taken=[whole]).unnamed) == 6
    assert drawn(avoided=[whole]) == drawn()


def test_a_telephone_has_a_drawing_of_its_own():
    block = fitted(drawn, SIZE, NARROW)
    assert (block.drawing.style, block.drawing.width) == ("plot roomy", 560)
    assert block.narrow is not None and (block.narrow.style, block.narrow.width) == ("plot narrow", 350)
