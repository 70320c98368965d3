import re

import pytest

from xlingual.report import colours, page_of
from xlingual.report.figures import multilingual_pool as figures
from xlingual.report.figures import pool_maps as maps
from xlingual.report.render import html
from xlingual.tasks import TASKS


def test_all_encoders_share_one_colour_scale(pool):
    group = maps.one_target(pool.views_of(pool.results()))
    steps = [cell.step for drawn in group.maps for _, cells in drawn.lines for cell in cells]
    assert (min(steps), max(steps)) == (0, 20)
    values = [v for one in pool.views_of(pool.results()) for v in one.pairs("one_target").values()]
    assert group.ends == (f"{min(values):.3f}", f"{max(values):.3f}")
    group.maps[0].lines[0][1][1]


def test_ratios_have_one_in_the_middle_of_two_hues(pool):
    results = pool.results(encoders=("chargram",), languages=("en", "zh"))
    ratios = {"en->en": 4.0, "en->zh": 0.25, "zh->en": 1.0, "zh->zh": 0.0}
    group = maps.ratios(pool.views_of(pool.changed(results, "chargram", language_share_ratio_top100=ratios)))
    assert [cell.step for _, cells in group.maps[0].lines for cell in cells] == [20, 0, 10, 0]
    assert group.ends == ("≤ 1/2", "1", "≥ 2") and group.hue == "d"
    shown = html.render(page_of([results]))
    assert ".d0 {" in shown and ".d20 {" in shown
    assert ".d0 {" not in colours.css(21)


@pytest.mark.parametrize("anchors", [colours.LIGHT_BOTH_WAYS, colours.DARK_BOTH_WAYS])
def test_both_ends_of_the_two_hues_stand_out_from_the_middle_and_text_is_read_on_all(anchors):
    steps = [colours.colour(anchors, i / 20) for i in range(21)]
    assert all(colours.contrast(step, colours.ink(step)) >= 4.2 for step in steps)
    assert min(colours.contrast(steps[10], steps[end]) for end in (0, 20)) > 4
    assert steps[0][2] > steps[0][0] + 60 and steps[20][0] > steps[20][2] + 60  # blue, orange


def test_encoders_are_rows_by_question_language(pool):
    group = maps.by_question(pool.views_of(pool.results()), TASKS["multilingual-pool"])
    _, cells = group.maps[0].lines[2]
    assert [cell.title.partition(":")[0] for cell in cells][:2] == ["mean", "Arabic (ar)"]


def shapes(drawing, name):
    """Return the shapes of a drawing by their element, those in groups too."""
    inner = [part for shape in drawing.shapes for part in (shape, *shape.inside)]
    return [shape for shape in inner if shape.name == name]


def test_the_trade_off_has_a_diagonal_and_points_below_it(pool):
    found = pool.views_of(pool.results())
    drawing = figures.trade_off(found).drawing
    (diagonal,) = [shape for shape in shapes(drawing, "line") if shape.style == "diagonal"]
    _, _, left, top, right, bottom = figures.ROOMY
    assert dict(diagonal.attributes) == {"x1": left, "x2": right, "y1": bottom, "y2": top}
    marks = shapes(drawing, "g")
    assert [mark.style for mark in marks] == ["mark leader", "mark other", "mark other"]
    summary = [[one.number("one_target_summary", name) for name in ("own", "other")] for one in found]
    spots = [[mark.inside[0].attributes[name] for name in ("cx", "cy")] for mark in marks]
    across = {(x - left) / own for (x, _), (own, _) in zip(spots, summary, strict=True)}
    up = {(bottom - y) / other for (_, y), (_, other) in zip(spots, summary, strict=True)}
    # both axes begin at zero and end at the same value
    assert max(across) - min(across) < 1 and max(up) - min(up) < 2
    assert (right - left) / max(across) == pytest.approx((bottom - top) / max(up), rel=0.02)
    assert len([shape for shape in shapes(drawing, "line") if shape.style.startswith("spread")]) == 6
    assert figures.trade_off(pool.views_of(pool.without(pool.results(), "one_target_summary"))) is None


def test_losses_are_stacked_and_add_up(pool):
    results = pool.results(encoders=("chargram",), languages=("en", "zh"))
    views = {
        "en->en": {"question": 4.0, "answer": 0.0, "third": 2.0},
        "zh->zh": {"question": 6.0, "answer": 0.0, "third": 0.0},
        "en->zh": {"question": 10.0, "answer": 5.0, "third": 5.0},
        "zh->en": {"question": 30.0, "answer": 5.0, "third": 25.0},
    }
    figure = figures.losses(pool.views_of(pool.changed(results, "chargram", loss=views)))
    texts = [(shape.style, shape.text) for shape in shapes(figure.drawing, "text")]
    assert texts[0] == ("tick", "0") and [text for style, text in texts if style == "tick"][-1] == "40"
    assert [text for style, text in texts if style == "stack-head"] == ["chargram"]
    assert [text for style, text in texts if style == "stack-total"] == ["6.00", "40.0"]
    bars = shapes(figure.drawing, "rect")
    whole = figure.drawing.width - figures.BEFORE - figures.BEHIND
    parts = [
        (bar.style, (bar.attributes["x"] - figures.BEFORE) / whole, bar.attributes["width"] / whole)
        for bar in bars
    ]
    assert [style for style, _, _ in parts] == [
        f"part {kind}" for kind in ("question", "third", "question", "answer", "third")
    ]
    starts, widths = [start for _, start, _ in parts], [width for _, _, width in parts]
    assert starts == pytest.approx([0.0, 0.125, 0.0, 0.5, 0.625], abs=1e-4)
    assert widths == pytest.approx([0.125, 0.025, 0.5, 0.125, 0.375], abs=1e-4)


def test_drawings_of_the_space_keep_to_their_budget(pool):
    results = pool.results()
    _, about, drawn, legend = figures.space([results], pool.views_of(results))
    assert [key.text for key in legend.keys] == [
        "ar, questions", "ar, candidates", "zh, questions", "zh, candidates",
    ]  # fmt: skip
    assert about.text.endswith("An even part of the points is shown.") and len(drawn.blocks) == 3
    for drawing in (figure.drawing for figure in drawn.blocks):
        styles = [shape.style for shape in drawing.shapes]
        assert styles == ["s0 candidate", "s1 candidate", "s0 question", "s1 question"]
        paths = [shape.attributes["d"] for shape in drawing.shapes]
        dots = [path.count("M") // (2 if "v" in path else 1) for path in paths]
        assert sum(dots) == figures.MOST_POINTS
        numbers = [int(n) for path in paths for n in re.findall(r"M(\d+) ", path)]
        assert min(numbers) >= 0 and max(numbers) <= figures.WIDTH
