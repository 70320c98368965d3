"""What a page says and shows about hubs, of any task that ranks: an alarm, numbers, a figure, the largest."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from xlingual.report import numbers, shapes, words
from xlingual.report.blocks import Block, Card, Cards, Figure, Fold, Group, Heading, Legend, Text
from xlingual.report.columns import Col, of_records
from xlingual.report.examples import data_uri
from xlingual.report.figures.labels import shortened
from xlingual.report.findings.leads import MOST_NAMED
from xlingual.report.leaders import BoardRow
from xlingual.report.pool_views import amount, share
from xlingual.report.shapes import Drawing, Shape, line, rect
from xlingual.report.table import Cell, Key
from xlingual.results import Entry, Results, by_key
from xlingual.results.views import HubCounts
from xlingual.tasks import task_of

MOST_ENCODERS = 3  # whose hubs are drawn and have texts
MOST_HUBS = 5
MOST_LETTERS = 400  # of a text
TERM = (
    "Hub",
    "A candidate that is among the first of unusually many queries: more than two standard deviations above "
    "the mean. There is an alarm if the skewness exceeds that of chance and the largest hubs (1 % of the "
    "candidates) make many of the errors.",
)
LEFT, TOP, RIGHT, BOTTOM = 52.0, 12.0, 332.0, 172.0  # of the plot
LEAST = 0.5  # candidates at the foot of the axis: one is a short bar
GAP = 3.0
LETTER = 7.0  # room of a character of the names of bins; where there is none, not every bin is named
BAR = Drawing((rect(1, 2, 14, 10, "tally"),), 14, 16, "")
BY_CHANCE = Drawing((line(0, 6, 26, 6, "chance"),), 12, 26, "")


@dataclass(frozen=True)
class EncoderHubs:
    """The hubs of one encoder in the subject where they are strongest; `n_alarms` of all are an alarm."""

    row: BoardRow
    entry: Entry
    hubs: HubCounts
    n_alarms: int
    n_subjects: int

    @property
    def where(self) -> str:
        """The language pair; "" for a pool."""
        pair = self.entry.source, self.entry.target
        return "" if pair == ("all", "pool") else words.pair(*pair)


def hubs_of(runs: Sequence[Results], rows: Iterable[BoardRow]) -> list[EncoderHubs]:
    """Return the hubs of each encoder that has some, an alarm first, then the largest share of the errors."""
    found = []
    for row in rows:
        of_row = [
            (entry, hubs)
            for entry in by_key(runs[row.run - 1].entries, task=row.task, encoder=row.encoder)
            if isinstance(hubs := getattr(entry.views, "hubs", None), HubCounts) and hubs.k
        ]
        if of_row:
            entry, hubs = max(of_row, key=lambda each: (bool(each[1].alarm), each[1].errors or 0.0))
            n_alarms = sum(bool(hubs.alarm) for _, hubs in of_row)
            found.append(EncoderHubs(row, entry, hubs, n_alarms, len(of_row)))
    return found


def alarm(runs: Sequence[Results], rows: Sequence[BoardRow]) -> list[str]:
    """Return an alarm about the first of the rows whose hubs are one, and the names of the others."""
    strong = [each for each in hubs_of(runs, rows) if each.hubs.alarm]
    if not strong:
        return []
    first, *others = strong
    hubs, where, count = first.hubs, "", first.hubs.n_largest or 1
    if first.n_subjects > 1:
        several = f" and in {numbers.count(first.n_alarms - 1)} more" if first.n_alarms > 1 else ""
        where = f" ({first.where}{several})"
    place = "first" if hubs.k == 1 else f"among the first {hubs.k}"
    queries = f"{numbers.count(round(hubs.largest or 0))} queries ({amount(hubs.expected)} expected)"
    whose = ", which makes" if count == 1 else f"; the {numbers.count(count)} most frequent make"
    by_chance = numbers.percent(hubs.errors_by_chance)
    also = numbers.in_words([each.row.encoder for each in others], MOST_NAMED - 1)
    return [
        f"Hub alarm: {first.row.encoder}{where} has one candidate {place} for {queries}{whose} "
        f"{numbers.percent(hubs.errors)} of its errors ({by_chance} by chance)."
        f"{f' Also {also}.' if also else ''}"
    ]


def blocks(runs: Sequence[Results], rows: Iterable[BoardRow], *, folded: bool = True) -> list[Block]:
    """Return the blocks about hubs, `folded` where there is no alarm; nothing where no ranking has any."""
    every = hubs_of(runs, rows)
    if not every:
        return []
    opened = not folded or any(each.hubs.alarm for each in every)
    k = numbers.span([each.hubs.k or 0 for each in every])
    least = next((each.hubs.errors_bound for each in every if each.hubs.errors_bound), None)
    note = (
        f"How often a candidate is {'the first' if k == '1' else f'among the first {k}'} of a query. An "
        f"alarm needs a skewness beyond the bound, and {numbers.percent(least)} of the errors."
    )
    table = of_records("Hubs", every, *_COLUMNS, notes=(note,), where="written", titled=opened)
    shown: list[Block] = [table.without_empty()]
    chosen = _chosen(every)
    if drawings := [Figure(drawing) for each in chosen if (drawing := distribution(each)) is not None]:
        keys = Key("candidates, on a logarithmic scale", BAR), Key("by chance", BY_CHANCE)
        shown += [Heading("How often candidates are found"), Group("scatters", drawings), Legend(keys)]
    cards = [
        (
            f"{each.row.label} · {each.where}" if each.where else each.row.label,
            [Card(None, [_text(each, row) for row in largest])],
        )
        for each in chosen
        if (largest := _largest(runs, each))
    ]
    if cards:
        shown.append(Fold("The largest hubs", [Cards(cards, "three", data=True)]))
    return shown if opened else [Fold("Hubs", shown, "no alarm")]


def image_bytes(runs: Sequence[Results], rows: Iterable[BoardRow]) -> int:
    """Return the bytes of the images that the blocks hold."""
    chosen = _chosen(hubs_of(runs, rows))
    return sum(len(row.get("picture") or b"") for each in chosen for row in _largest(runs, each))


def _chosen(every: Sequence[EncoderHubs]) -> list[EncoderHubs]:
    """Return the encoders to be looked at: those with an alarm first."""
    return sorted(every, key=lambda each: not each.hubs.alarm)[:MOST_ENCODERS]


def _largest(runs: Sequence[Results], each: EncoderHubs) -> list[dict[str, Any]]:
    """Return the largest hubs with their texts, the most frequent first; none where texts are not kept."""
    table = runs[each.row.run - 1].tables.get("hubs")
    which: dict[str, str | int] = {"task": each.row.task, "encoder": each.row.encoder}
    which |= {"source": each.entry.source, "target": each.entry.target, "seed": each.entry.seed}
    rows = [] if table is None else table.to_pylist()
    own = [row for row in rows if all(row.get(name, value) == value for name, value in which.items())]
    return sorted(own, key=lambda row: -row["count"])[:MOST_HUBS]


def _beside(name: str, other: str, each: EncoderHubs) -> Cell:
    """Return the cell of a share with another one in brackets."""
    value, by_chance = getattr(each.hubs, name), getattr(each.hubs, other)
    text = share(value, digits=0).text
    return Cell(text if by_chance is None else f"{text} ({share(by_chance, digits=0).text})", value=value)


_decimal = partial(numbers.fixed, digits=1)
_COLUMNS = (
    Col("encoder", "row.label", kind="name"),
    Col("strongest in", lambda each: each.where if each.n_subjects > 1 else "", kind="words"),
    Col("skewness", lambda each: Cell.by(_decimal, each.hubs.skewness, each.hubs.skewness_ci)),
    Col(
        "bound",
        lambda each: Cell.by(_decimal, each.hubs.skewness_bound),
        meaning="the skewness that an alarm exceeds",
    ),
    Col(
        "largest hub",
        lambda each: Cell(
            f"{amount(each.hubs.largest)} ({amount(each.hubs.expected)})", value=each.hubs.largest
        ),
        meaning="how often it is found (mean of all candidates)",
    ),
    Col(
        "never found",
        partial(_beside, "never", "never_by_chance"),
        meaning="share of the candidates (by chance)",
    ),
    Col(
        "errors",
        partial(_beside, "errors", "errors_by_chance"),
        meaning="share of the wrong first places that the largest 1 % of the candidates make (by chance)",
    ),
    Col(
        "other languages",
        partial(_beside, "other_language", "other_language_by_chance"),
        meaning="share of hubs' places that are of queries in another (by chance)",
    ),
    Col("alarm", lambda each: "strong" if each.hubs.alarm else ""),
)


def _text(each: EncoderHubs, row: Mapping[str, Any]) -> Text:
    """Return a hub as a text, with how often it is found, and by queries of which languages."""
    remark = f"found by {numbers.count(round(row['count']))} queries ({amount(row['expected'])} expected)"
    if (answers := row.get("relevant_to")) is not None:
        remark += f", relevant to {numbers.count(answers) if answers else 'none'}"
    if (errors := row.get("errors")) is not None:
        kind = "misses the way back for" if task_of(each.row.task).way_back else "first and wrong for"
        remark += f", {kind} {numbers.count(round(errors))}"
    try:
        languages = json.loads(row.get("found_by") or "{}")
        parts = [f"{tag} {numbers.count(round(count))}" for tag, count in languages.items() if round(count)]
    except (ValueError, AttributeError, TypeError):  # of a stranger's file
        parts = []
    picture = row.get("picture")
    return Text(
        row["language"],
        shortened(row["text"] or "", MOST_LETTERS),
        remark=f"{remark}; {', '.join(parts)}" if len(parts) > 1 else remark,
        image=data_uri(picture),
        with_image=picture is not None,
    )


def distribution(each: EncoderHubs) -> Drawing | None:
    """Return how many candidates are found how often, on a logarithmic scale; None where it is not kept."""
    bins = each.hubs.distribution
    if not bins:
        return None
    decades = max(1, math.ceil(math.log10(max(max(part.n, part.by_chance or 0.0) for part in bins))))
    names = [f"{part.least}+" if part.least > 1 else str(part.least) for part in bins[-1:]]
    for part, after in zip(bins[-2::-1], bins[:0:-1], strict=True):
        most = after.least - 1
        names.insert(0, str(part.least) if most == part.least else f"{part.least}–{most}")
    width = (RIGHT - LEFT) / len(bins)
    step = math.ceil(LETTER * max(map(len, names)) / width)
    drawn: list[Shape] = [line(LEFT, BOTTOM, RIGHT, BOTTOM, "grid")]
    for power in range(decades + 1):
        y = _y(10.0**power, decades)
        drawn.append(line(LEFT, y, RIGHT, y, "grid"))
        drawn.append(shapes.text(LEFT - 7, y + 3.5, numbers.count(10**power), "tick", anchor="end"))
    for place, (part, name) in enumerate(zip(bins, names, strict=True)):
        left, by_chance = LEFT + place * width, part.by_chance or 0.0
        if part.n:
            top, rough = _y(part.n, decades), numbers.number(by_chance, digits=1)
            title = f"found by {name}: {numbers.counted(part.n, 'candidate')}, {rough} by chance"
            drawn.append(rect(left + GAP, top, width - 2 * GAP, BOTTOM - top, "tally", title=title))
        if by_chance > LEAST:
            drawn.append(line(left, _y(by_chance, decades), left + width, _y(by_chance, decades), "chance"))
        if place % step == 0:
            drawn.append(shapes.text(left + width / 2, BOTTOM + 16, name, "tick", anchor="middle"))
    centre = (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2
    k = each.hubs.k
    noun = "queries nearest to it" if k == 1 else f"queries that have it among the first {k}"
    drawn.append(shapes.text(centre[0], BOTTOM + 36, noun, "axis-name", anchor="middle"))
    drawn.append(shapes.text(12, centre[1], "candidates", "axis-name", anchor="middle", turned=True))
    largest = numbers.count(round(each.hubs.largest or 0))
    spoken = f"How often candidates are retrieved by {each.row.label}: the most frequent by {largest} queries"
    return Drawing(tuple(drawn), 220.0, 340.0, spoken=spoken, name=each.row.label, hint=each.where)


def _y(value: float, decades: int) -> float:
    height = math.log10(value / LEAST) / (decades - math.log10(LEAST))
    return round(BOTTOM - (BOTTOM - TOP) * min(max(height, 0.0), 1.0), 1)
