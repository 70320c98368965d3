"""What a page shows about hubs, of any task that ranks: numbers, a figure, and the largest ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from xlingual.report import numbers
from xlingual.report.blocks import Block, Card, Cards, Figure, Fold, Group, Heading, Legend, Text
from xlingual.report.examples import data_uri
from xlingual.report.figures.hubs import BAR, BY_CHANCE, distribution
from xlingual.report.figures.labels import shortened
from xlingual.report.hub_views import EncoderHubs, hubs_of, largest_of
from xlingual.report.leaders import BoardRow
from xlingual.report.pool_views import amount, share
from xlingual.report.table import Cell, Column, Key, Table
from xlingual.results import Results
from xlingual.tasks import task_of

Shown: TypeAlias = tuple[Column, Callable[[EncoderHubs], Cell]]  # a column, and its cell for an encoder

MOST_ENCODERS = 3  # whose hubs are drawn and have texts
MOST_HUBS = 5
MOST_LETTERS = 400  # of a text
TERM = (
    "Hub",
    "A candidate that is among the first of unusually many queries: more than two standard deviations above "
    "the mean. There is an alarm if the skewness exceeds that of chance and the largest hubs (1 % of the "
    "candidates) make many of the errors.",
)


def blocks(runs: Sequence[Results], rows: Iterable[BoardRow], *, folded: bool = True) -> list[Block]:
    """Return the blocks about hubs, `folded` where there is no alarm; nothing where no ranking has any."""
    found = hubs_of(runs, rows)
    if not found:
        return []
    shown = chosen(found)
    drawings = [drawing for one in shown if (drawing := distribution(one)) is not None]
    opened = not folded or any(one.hubs.alarm for one in found)
    made: list[Block] = [_table(found, titled=opened)]
    if drawings:
        keys = Key("candidates, on a logarithmic scale", BAR), Key("by chance", BY_CHANCE)
        made += [
            Heading("How often candidates are found"),
            Group("scatters", list(map(Figure, drawings))),
        ]
        made.append(Legend(keys))
    cards = [
        (_title(one), [Card(None, list(map(partial(_text, one), largest)))])
        for one in shown
        if (largest := largest_of(runs, one)[:MOST_HUBS])
    ]
    if cards:
        made.append(Fold("The largest hubs", [Cards(cards, "three", data=True)]))
    return made if opened else [Fold("Hubs", made, "no alarm")]


def chosen(found: Sequence[EncoderHubs]) -> list[EncoderHubs]:
    """Return the encoders to be looked at: those with an alarm first, else the first ones."""
    return sorted(found, key=lambda one: not one.hubs.alarm)[:MOST_ENCODERS]


def image_bytes(runs: Sequence[Results], rows: Iterable[BoardRow]) -> int:
    """Return the bytes of the images that the blocks hold."""
    shown = chosen(hubs_of(runs, rows))
    return sum(len(row.get("picture") or b"") for one in shown for row in largest_of(runs, one)[:MOST_HUBS])


def _title(one: EncoderHubs) -> str:
    return f"{one.row.label} · {one.where}" if one.where else one.row.label


def _table(found: Sequence[EncoderHubs], *, titled: bool) -> Table:
    tags = list(dict.fromkeys(tag for one in found for tag in one.hubs.by_language))
    tags = [tag for tag in tags if any(one.hubs.by_language.get(tag) for one in found)]
    shown = [*_COLUMNS, *map(_of_language, tags), _ALARM]
    if all(one.n_subjects == 1 for one in found):
        shown = [column for column in shown if column not in (_WHERE, _ALARMS)]
    heads, cells = zip(*shown, strict=True)
    rows = [[cell(one) for cell in cells] for one in found]
    k = numbers.span([one.hubs.k or 0 for one in found])
    least = next((one.hubs.errors_bound for one in found if one.hubs.errors_bound), None)
    note = (
        f"How often a candidate is {'the first' if k == '1' else f'among the first {k}'} of a query. An "
        f"alarm needs a skewness beyond the bound, and {numbers.percent(least)} of the errors."
    )
    table = Table.of_texts("Hubs", heads, rows, notes=(note,), where="written", titled=titled)
    return table.without_empty()


def _whole(value: float) -> str:
    return share(value, digits=0).text


def _beside(write: Callable[[float], str], value: float | None, other: float | None) -> Cell:
    """Return the cell of a number with another one in brackets."""
    if other is None:
        return Cell.by(write, value)
    return Cell.by(lambda one: f"{write(one)} ({write(other)})", value)


def _of_language(tag: str) -> Shown:
    """Return the column of the hubs in a language."""
    column = Column(tag, meaning="share of all places that hubs in this language hold")
    return column, lambda one: Cell.by(lambda value: share(value).text, one.hubs.by_language.get(tag))


_decimal = partial(numbers.fixed, digits=1)
_WHERE: Shown = (Column("strongest in", "words"), lambda one: Cell(one.where))
_ALARMS: Shown = (
    Column("alarms"),
    lambda one: Cell(f"{one.n_alarms} of {one.n_subjects}" if one.n_alarms else ""),
)
_ALARM: Shown = (Column("alarm"), lambda one: Cell("strong" if one.hubs.alarm else ""))
_COLUMNS: tuple[Shown, ...] = (
    (Column("encoder", "name", data=True), lambda one: Cell(one.row.label)),
    _WHERE,
    _ALARMS,
    (Column("skewness"), lambda one: Cell.by(_decimal, one.hubs.skewness, one.hubs.skewness_ci)),
    (
        Column("bound", meaning="the skewness that an alarm exceeds"),
        lambda one: Cell.by(_decimal, one.hubs.skewness_bound),
    ),
    (
        Column("largest hub", meaning="how often it is found (mean of all candidates)"),
        lambda one: _beside(amount, one.hubs.largest, one.hubs.expected),
    ),
    (
        Column("never found", meaning="share of the candidates (by chance)"),
        lambda one: _beside(_whole, one.hubs.never, one.hubs.never_by_chance),
    ),
    (
        Column(
            "errors",
            meaning="share of the wrong first places that the largest hubs, 1 % of the candidates, make (by "
            "chance)",
        ),
        lambda one: _beside(_whole, one.hubs.errors, one.hubs.errors_by_chance),
    ),
    (
        Column("other languages", meaning="share of hubs' places that are of queries in another (by chance)"),
        lambda one: _beside(_whole, one.hubs.other_language, one.hubs.other_language_by_chance),
    ),
)


def _text(one: EncoderHubs, row: Mapping[str, Any]) -> Text:
    answers = row.get("relevant_to")
    often = f"found by {numbers.count(round(row['count']))} queries ({amount(row['expected'])} expected)"
    right = "" if answers is None else f", relevant to {numbers.count(answers) if answers else 'none'}"
    errors = row.get("errors")
    kind = "misses the way back for" if task_of(one.row.task).way_back else "first and wrong for"
    wrong = "" if errors is None else f", {kind} {numbers.count(round(errors))}"
    by = _found_by(row)
    picture = row.get("picture")
    return Text(
        row["language"],
        shortened(row["text"] or "", MOST_LETTERS),
        remark=f"{often}{right}{wrong}{by}",
        image=data_uri(picture),
        with_image=picture is not None,
    )


def _found_by(row: Mapping[str, Any]) -> str:
    """Return the languages of the queries that find a hub, where there are several."""
    try:
        found = json.loads(row.get("found_by") or "{}")
        parts = [f"{tag} {numbers.count(round(count))}" for tag, count in found.items() if round(count)]
    except (ValueError, AttributeError, TypeError):
        return ""
    return f"; {', '.join(parts)}" if len(parts) > 1 else ""
