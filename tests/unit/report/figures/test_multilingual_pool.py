import re
from dataclasses import replace

import pyarrow as pa
import pytest
from msgspec import structs

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


def test_a_language_that_hardly_occurs_does_not_stretch_the_scale_of_ratios(pool):
    ratios = {
        "ar->ar": 7.2, "ar->de": 0.0001, "ar->en": 1.0, "de->ar": 0.0, "de->de": 3.0, "de->en": 0.14,
    }  # fmt: skip
    group = maps.ratios(
        pool.views_of(
            pool.each_with(pool.results(encoders=("chargram",)), language_share_ratio_top100=ratios)
        )
    )
    assert group.ends == ("≤ 1/7", "1", "≥ 7")
    steps = [cell.step for _, cells in group.maps[0].lines for cell in cells]
    assert steps == [20, 0, 10, 0, 16, 0]


def test_ratios_within_the_number_of_languages_are_not_cut(pool):
    ratios = {"ar->ar": 2.0, "ar->de": 0.5, "de->ar": 0.5, "de->de": 2.0}
    one = pool.results(encoders=("chargram",))
    group = maps.ratios(pool.views_of(pool.each_with(one, language_share_ratio_top100=ratios)))
    assert group.ends == ("1/2", "1", "2")
    higher = ratios | {"de->de": 3.46}
    group = maps.ratios(pool.views_of(pool.each_with(one, language_share_ratio_top100=higher)))
    assert group.ends == ("1/3.5", "1", "3.5")


@pytest.mark.parametrize("anchors", [colours.LIGHT_BOTH_WAYS, colours.DARK_BOTH_WAYS])
def test_both_ends_of_the_two_hues_stand_out_from_the_middle_and_text_is_read_on_all(anchors):
    steps = [colours.colour(anchors, i / 20) for i in range(21)]
    assert all(colours.contrast(step, colours.ink(step)) >= 4.2 for step in steps)
    assert min(colours.contrast(steps[10], steps[end]) for end in (0, 20)) > 4
    assert steps[0][2] > steps[0][0] + 60 and steps[20][0] > steps[20][2] + 60  # blue, orange


def test_language_identification_reads_names_with_hyphens(pool):
    results = pool.results(encoders=("chargram",), languages=("en", "zh"))
    views = {
        "languages": ["en", "zh-Hans"],
        "language_id_accuracy": {"all": 0.9, "en-zh-Hans": 0.8},
        "language_id_chance": {"all": 0.5, "en-zh-Hans": 0.5},
    }
    group = maps.identification(pool.views_of(pool.changed(results, "chargram", **views)))
    cells = [[cell and cell.text for cell in cells] for _, cells in group.maps[0].lines]
    assert cells == [[None, "0.800"], ["0.800", None]] and group.ends == ("0.500", "1.000")


def test_language_identification_reads_each_runs_own_keys(pool):
    accuracy = {"all": 0.9, "aa:aa-bb": 0.6, "aa:cc": 0.7, "aa-bb:cc": 0.8}
    new = {
        "languages": ["aa", "aa-bb", "cc"],
        "language_id_accuracy": accuracy,
        "language_id_chance": dict.fromkeys(accuracy, 0.5),
        "ci": {"language_id_accuracy": {}},
    }
    other = {
        "languages": ["cc", "aa"],
        "language_id_accuracy": {"all": 0.9, "cc-aa": 0.75},
        "language_id_chance": {"all": 0.5, "cc-aa": 0.5},
        "ci": {"language_id_accuracy": {"cc-aa": pool.ci(0.75, 0.04)}},
    }
    found = [
        *pool.views_of(pool.changed(pool.results(encoders=("chargram",)), "chargram", **new)),
        *pool.views_of(pool.changed(pool.results(encoders=("chargram",)), "chargram", **other)),
    ]
    first, second = (
        [[c and c.text for c in line] for _, line in m.lines] for m in maps.identification(found).maps
    )
    assert first == [[None, "0.600", "0.700"], ["0.600", None, "0.800"], ["0.700", "0.800", None]]
    assert [text for line in second for text in line if text] == ["0.750", "0.750"]


def test_encoders_are_rows_by_question_language(pool):
    group = maps.by_question(pool.views_of(pool.results()), TASKS["multilingual-pool"])
    _, cells = group.maps[0].lines[2]
    assert [cell.title.partition(":")[0] for cell in cells][:2] == ["mean", "Arabic (ar)"]


def shapes(drawing, name):
    """Return the shapes of a drawing by their element, those in groups too."""
    inner = [part for shape in drawing.shapes for part in (shape, *shape.inside)]
    return [shape for shape in inner if shape.name == name]


def names_in(drawing):
    return [shape.text for shape in shapes(drawing, "text") if shape.style == "name"]


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


def test_encoders_without_both_numbers_are_named_below_the_trade_off(pool):
    views = {"one_target_summary": {"own": 0.4}}
    figure = figures.trade_off(pool.views_of(pool.changed(pool.results(), "chargram", **views)))
    assert figure.drawing.notes == ("not drawn, a number is missing: \u2068chargram\u2069",)
    assert len(shapes(figure.drawing, "g")) == 2


@pytest.mark.parametrize(("own", "other"), [(0.7, 0.02), (0.7, 0.1), (0.3, 0.3)])
def test_every_point_of_the_trade_off_has_its_name(pool, own, other):
    results = pool.results(encoders=("chargram",))
    views = {"one_target_summary": {"own": own, "other": other, "gap": own - other}, "ci": {}}
    figure = figures.trade_off(pool.views_of(pool.changed(results, "chargram", **views)))
    for drawing in (figure.drawing, figure.narrow):
        assert names_in(drawing) == ["chargram"] and drawing.unnamed == ()


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


@pytest.mark.parametrize("name", ["a-very-long-name-of-an-encoder_" * 4, "多语言编码器" * 12])
def test_a_name_that_is_wider_than_the_losses_is_cut_and_whole_on_hover(pool, name):
    (one,) = pool.views_of(pool.results(encoders=("chargram",)))
    figure = figures.losses([replace(one, row=structs.replace(one.row, label=name))])
    for drawing in (figure.drawing, figure.narrow):
        (head,) = [shape for shape in shapes(drawing, "text") if shape.style == "stack-head"]
        assert head.text.endswith("…") and head.title == name and name.startswith(head.text[:-1])
        assert 0.9 * drawing.width < figures.LETTER * figures.labels.width_of(head.text) <= drawing.width


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


def test_points_on_one_spot_can_be_drawn(pool):
    rows = [
        {"encoder": "chargram", "language": lang, "role": "question", "x": 0.0, "y": 0.0, "text_id": "a"}
        for lang in ("en", "zh")
    ]
    results = replace(pool.results(), tables={"points": pa.Table.from_pylist(rows)})
    _, about, drawn, _ = figures.space([results], pool.views_of(results))
    (figure,) = drawn.blocks
    assert figure.drawing.name == "chargram" and "even part" not in about.text
    assert figure.drawing.shapes[0].attributes["d"].startswith("M489 400h22")
