"""Image–sentence ranking on the screen and on the page: from made-up results of every kind."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

from xlingual.report import as_html, page_of
from xlingual.report.render import terminal
from xlingual.report.table import Cell, Table
from xlingual.results import Behind, Entry, Interval, Results, Summary
from xlingual.results.views import Against, ImageSentenceViews
from xlingual.signature import Signature

TASK = "image-sentence"
MEASURES = ("Success@1", "Success@5", "Success@10", "MedR/floor")


def ci(value: float, half: float) -> Interval:
    return Interval(value - half, value + half, 0.95, "made up")


def view(baseline: str | None, value: float, half: float) -> ImageSentenceViews | None:
    if baseline is None:
        return None
    return ImageSentenceViews(Against(baseline, value, Interval(value - half, value + half, 0.95, "made up")))


def results(
    systems: dict[str, float],
    *,
    languages: tuple[str, ...] = ("en",),
    baseline: str | None = None,
    own: dict[str, tuple[str, ...]] | None = None,
    half: float = 0.02,
    measures: tuple[str, ...] = MEASURES,
    images: int = 1000,
) -> Results:
    """Return results in which a system's level is `systems[name]`, higher being better everywhere."""
    entries, summary = [], []
    best = max(systems, key=lambda name: systems[name])
    for name, level in systems.items():
        held = None if baseline in (None, name) else baseline
        apart = level - systems[baseline] if baseline else 0.0
        gap = 600 * (systems[best] - level)
        led = None if name == best else Behind(best, gap, ci(gap, 600 * half))
        for language in own.get(name, languages) if own else languages:
            for source, target in ((language, "image"), ("image", language)):
                for measure in measures:
                    lower = measure.startswith("MedR")
                    value = round(1 + 10 * (1 - level)) if lower else level
                    views = view(held, round(-10 * apart) if lower else apart, half)
                    size = images * (5 if target == "image" else 1)
                    entries.append(entry(name, source, target, measure, value, ci(value, half), size, views))
            if set(MEASURES) <= set(measures):
                views = view(held, 600 * apart, 600 * half)
                summary.append(
                    row(name, language, "rsum", 600 * level, ci(600 * level, 600 * half), led, views)
                )
            first = view(held, apart, half)
            summary.append(row(name, language, measures[0], level, ci(level, half), None, first))
    return Results(entries, summary, pa.table({}))


def entry(
    name: str, source: str, target: str, measure: str, value: float, around: Interval, size: int, views: Any
) -> Entry:
    nothing = dict.fromkeys(("oracle", "ceiling", "normalized"))
    signature = str(Signature({"task": TASK}, {"encoder": name}))
    return Entry(
        task=TASK, source=source, target=target, encoder=name, image_encoder="eyes", measure=measure,
        value=value, ci=around, chance=0.001, n_source=size, n_target=1000, n_tied=3, seed=0,
        signature=signature, views=views, **nothing,
    )  # fmt: skip


def row(
    name: str, language: str, measure: str, value: float, around: Interval, led: Behind | None, views: Any
) -> Summary:
    nothing = dict.fromkeys(("oracle", "ceiling", "normalized", "sd_seeds"))
    chance = 9.6 if measure == "rsum" else 0.001
    return Summary(
        task=TASK, source=language, target="image", encoder=name, image_encoder="eyes", measure=measure,
        value=value, ci=around, chance=chance, n_pairs=2, n_seeds=1, behind=led, views=views, **nothing,
    )  # fmt: skip


def shown(found: Results, width: int = 100) -> str:
    console = Console(file=StringIO(), width=width, highlight=False)
    terminal.show_section(console, page_of(found).sections[0])
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_the_table_has_the_layout_of_table_1() -> None:
    text = shown(results({"vse": 0.4, "mlmme": 0.45, "close": 0.41}, baseline="vse"), 72)
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    assert lines[0] == "English (en) · 1,000 images, 5,000 sentences"
    assert [line.split()[0] for line in lines[3:]][:11] == [
        "Sentence", "R@1", "R@5", "R@10", "MedR", "Image", "R@1", "R@5", "R@10", "MedR", "Both",
    ]  # fmt: skip
    assert lines[4].split() == ["R@1", "40.0", "45.0", "(+5.0)*", "41.0", "(+1.0)"]


@pytest.mark.parametrize("width", [72, 80, 100, 160])
@pytest.mark.cases(2)
def test_no_line_is_wider_than_the_screen_and_no_number_is_lost(width: int) -> None:
    names = {f"mlmme-beta-{i}": 0.4 + i / 100 for i in range(9)}
    text = shown(results(names, baseline="mlmme-beta-0"), width)
    assert max(map(len, text.splitlines())) <= width
    for level in names.values():
        assert f"{100 * level:.1f}" in text
    assert "…" not in text


def test_the_page_marks_what_is_real_and_best_and_escapes_names() -> None:
    page = as_html(
        [results({"vse": 0.4, "<i>new</i>": 0.45, "worse": 0.3}, baseline="vse", languages=("en", "de"))]
    )
    assert page.count('<span class="gap gain">(+5.0)*</span>') == 2 * 2 * 3
    assert '<span class="gap loss">(−10.0)*</span>' in page
    assert '<span class="first best"><b>45.0</b>' in page
    assert "<i>new</i>" not in page and "&lt;i&gt;new" in page
    assert "All numbers for German (de)" in page and "[43.0, 47.0]" in page
    assert "<dt>images</dt><dd>1,000</dd>" in page and "Sum of recalls" in page


def tables_of(found: Results) -> dict[str, Table]:
    """Return the table of each language."""
    blocks = page_of(found).sections[0].blocks
    return {block.title.split(" (")[0]: block for block in blocks if isinstance(block, Table)}


def cells_of(table: Table, name: str) -> list[Cell]:
    """Return the cells of the first row of a name."""
    (cells, *_) = [row.cells for row in table.rows if row.cells and row.cells[0].text == name]
    return list(cells[1:])


def test_what_a_language_table_holds() -> None:
    found = results({"vse": 0.4, "b": 0.5}, languages=("en", "de"), own={"vse": ("de",)}, baseline="vse")
    english, german = (tables_of(found)[name] for name in ("English", "German"))
    heads = [[column.key for column in table.columns[1:]] for table in (english, german)]
    assert heads == [["b"], ["vse (baseline)", "b"]]
    baseline, other = cells_of(german, "R@1")
    assert baseline.gap is not None and baseline.gap.text == "" and other.gap is not None
    assert cells_of(german, "sum of recalls")[1].tone == "best"


@pytest.mark.parametrize(
    ("value", "half", "told"),
    [
        (0.00004, 0.000005, "0.0040 [0.0035, 0.0045]"),
        (0.0002, 0.0001, "0.020 [0.010, 0.030]"),
        (0.25, 0.0001, "25.00 [24.99, 25.01]"),
        (0.25, 0.02, "25.0 [23.0, 27.0]"),
        (0.0, 0.0, "0.0 [0.0, 0.0]"),
    ],
)
def test_no_interval_is_rounded_to_zero_width(value: float, half: float, told: str) -> None:
    found = results({"a": value}, measures=("Success@1",), half=half)
    (cell,) = cells_of(tables_of(found)["English"], "R@1")
    assert cell.plain == told
    assert told in shown(found)
