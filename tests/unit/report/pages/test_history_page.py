"""The page of a history: sentences, table and figures say what the record says."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from xlingual.report import as_html, page_of
from xlingual.report.blocks import Figure, walk
from xlingual.report.render.text import as_text
from xlingual.results import Interval
from xlingual.results.history import Change, Gated, Line, Point, Recorded, Series, Trend

CI = Interval(0.2, 0.4, 0.95, "made")


@dataclass
class Value:
    """A value and the change that leads to it."""

    value: float
    outcome: str = ""
    difference: float | None = None
    note: str | None = None

    def point(self, record: int) -> Point:
        change = None
        if self.outcome:
            tested = self.difference not in (None, 0.0)
            ends = Interval(self.difference - 0.05, self.difference + 0.05, 0.95, "made") if tested else None
            p = 0.002 if self.outcome in ("better", "worse") else 1.0 if tested else None
            change = Change(record - 1, self.difference, ends, p, p, self.outcome, 365, self.note)
        return Point(record, self.value, CI, change)


def trend(*lines: tuple[str, list[Value]], whole: Change | None = None, gate="") -> Trend:
    n = len(lines[0][1])
    records = [
        Recorded(
            i,
            "0" * 64,
            f"2026-01-{i:02d}T00:00:00+00:00",
            f"v{i}",
            gates=[Gated("mine", "backretrieval", "R@10", gate)] if gate and i == n else [],
        )
        for i in range(1, n + 1)
    ]
    made = [
        Line(name, None, None, [one.point(i) for i, one in enumerate(values, 1)], whole)
        for name, values in lines
    ]
    series = Series("backretrieval", "R@10", "shop.parquet", records, made, {"data": "abc"})
    return Trend("h", "time", 0.05, [series], n_tests=3, replicates=1999)


def sentences(found: Trend) -> str:
    return " ".join(sentence for finding in page_of(found).verdict for sentence in finding.sentences)


@pytest.mark.parametrize("form", ["markdown", "latex", "csv"])
def test_every_record_is_in_every_form(form):
    found = trend(("mine", [Value(0.4), *[Value(0.4, "unchanged", 0.0)] * 29]), gate="pass")
    text = as_text(page_of(found), form)
    assert all(f"v{number}" in text for number in range(1, 31))
    if form == "markdown":
        assert "| v30 | 2026-01-30 | 0.400" in text and "| unchanged | pass |" in text


def test_figures_mark_changes_and_break_at_other_conditions():
    values = [
        Value(0.4),
        Value(0.5, "better", 0.1),
        Value(0.3, "cannot tell", None, "other"),
        Value(0.2, "worse", -0.1),
    ]
    (figure,) = [
        block
        for section in page_of(trend(("mine", values))).sections
        for block in walk(section.blocks)
        if isinstance(block, Figure)
    ]
    styles = [shape.style for shape in figure.drawing.shapes]
    assert [style for style in styles if style.startswith("mark")] == [
        "mark",
        "mark noise",
        "mark",
        "mark shuffle",
    ]
    assert styles.count("series") == 2 and styles.count("chance") == 1


def test_hostile_names_do_no_harm():
    page = as_html(trend(("<b>ألف</b>", [Value(0.4), Value(0.3, "worse", -0.1)])))
    assert "<b>ألف" not in page and "2026-01-02" in page
