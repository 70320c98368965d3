"""Answers from a multilingual pool in the terminal: encoders side by side, and the leader's languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xlingual.report import numbers, tables, words
from xlingual.report.leaders import Row
from xlingual.report.multilingual_pool import wording
from xlingual.report.multilingual_pool.reading import PREFER_OWN, TASK, VIEWED, Pair, Seen, seen, sides_of
from xlingual.report.multilingual_pool.sentences import monolingual_ranks
from xlingual.report.numbers import MISSING, number
from xlingual.report.terminal import fitting, plain_table
from xlingual.results import Results
from xlingual.results.views import PoolViews

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NAME_WIDTHS = (28, 14)  # longer names are folded
MOST_LANGUAGES = 8  # of the matrix
RANKS = "monolingual → here"
FIRSTS = {  # what stands first where answers in the question's language are wanted, by column
    "right": "right",
    "in another": "right_meaning_wrong_language",
    "wrong own": "own_wrong",
    "wrong other": "other_wrong",
    "wrong untold": "wrong_untold",
}
MEANINGS = (  # of columns that are shown
    (("own", "other"), "mAP with a single answer in the pool, in the question's language or another"),
    (("Δ",), "what removing the own-language answer costs more than removing another"),
    (("monolingual",), "mAP with candidates of the question's language only"),
    ((RANKS,), "rank with candidates of the question's language only, and over the pool"),
    (("right",), "share of the questions whose first candidate is an answer in the question's language"),
    (("in another",), "first is a right answer, but in another language"),
    (("wrong own", "wrong other"), "first is no answer, in the question's language or another"),
    (("wrong untold",), "first is no answer, its language not told"),
)
DROPPED = ("monolingual", RANKS, "behind", "remark")  # one after the other, for want of room

Column = Callable[[int, Seen], str]


def has_views(results: Results | Sequence[Results]) -> bool:
    """Tell whether the results hold what `show` prints: looks at languages besides the plain number."""
    runs = tables.as_runs(results)
    looks = ("one_target", "remove_one", "monolingual_pool", "first")
    return any(
        entry.measure == VIEWED and any(getattr(entry.views, name) is not None for name in looks)
        for run in runs
        for entry in run.entries
        if isinstance(entry.views, PoolViews)
    )


def show(console: Console, results: Results | Sequence[Results], measure: str = VIEWED) -> None:
    """Print the encoders with own and other languages side by side, and the leader's matrix where it fits.

    Nothing is cut from 80 columns on; columns without room are named with the remedy.
    """
    runs = tables.as_runs(results)
    rows = tables.leaderboard(runs, TASK, measure)
    found, strict = seen(runs, rows), seen(runs, rows, PREFER_OWN)
    merged = [own if one.entry is None else one for one, own in zip(found, strict, strict=True)]
    twice = [own for one, own in zip(found, strict, strict=True) if one.entry and own.entry]
    _print_board(console, merged, f"{TASK} · {words.measure_name(TASK, measure)}")
    best = next((one for one in found if one.pairs("one_target")), None)
    if best is not None:
        console.print()
        _print_matrix(console, best)
    if any(one.number("first", "right") is not None for one in twice):
        shown = [replace(one, row=_measured(one)) for one in twice]
        _print_board(console, shown, f"own language wanted · {words.measure_name(TASK, measure)}")


def _measured(one: Seen) -> Row:
    """Return the row with what was measured under the policy of the entry, held against nobody."""
    if one.entry is None:
        return one.row
    return replace(
        one.row, value=one.entry.value, ci=one.entry.ci, rank=None, behind=None, standing="unknown",
        chance=None,
    )  # fmt: skip


def _print_board(console: Console, found: Sequence[Seen], title: str) -> None:
    """Print a table of the encoders, and what its columns mean."""
    table = fitting(console, _forms(found, title))
    console.print()
    console.print(table)
    heads = {str(column.header) for column in table.columns}
    meanings = [f"{', '.join(names)}: {text}." for names, text in MEANINGS if heads & set(names)]
    if meanings:
        _say(console, " ".join(meanings))


def _say(console: Console, text: str, style: str = "dim") -> None:
    from rich.padding import Padding
    from rich.text import Text

    console.print(Padding(Text(text, style=style), (0, 0, 0, 1)))


def _print_matrix(console: Console, best: Seen) -> None:
    """Print the leader's mAP by question and answer language, or where it can be seen."""
    n = len(best.languages)
    matrix = _matrix(best)
    if n <= MOST_LANGUAGES and _fits(console, matrix):
        title = (
            f"{best.row.label}: questions in the language of the row, a single answer in that of the column"
        )
        _say(console, title, "bold")
        console.print(matrix)
    else:
        _say(console, f"{best.row.label} by language: {n} × {n} have no room here, --report shows them")


def _forms(found: Sequence[Seen], title: str) -> Iterator[Table]:
    """Give the table in ever narrower forms."""
    wide, narrow = NAME_WIDTHS
    for n_dropped in range(len(DROPPED) + 1):
        for width in (wide, narrow) if n_dropped else (wide,):
            yield _board(found, title, width, DROPPED[:n_dropped])


def _board(found: Sequence[Seen], title: str, name_width: int, dropped: Sequence[str]) -> Table:
    from rich.text import Text

    ranks = monolingual_ranks(found)
    value = words.measure_name(TASK, found[0].row.measure)
    columns: dict[str, Column] = {
        value: lambda _, one: numbers.with_interval(one.row.value, one.row.ci, one.row.measure),
        "behind": lambda _, one: number(one.row.behind.value, one.row.measure) if one.row.behind else MISSING,
        "own": lambda _, one: number(one.number("one_target_summary", "own")),
        "other": lambda _, one: number(one.number("one_target_summary", "other")),
        "Δ": lambda _, one: wording.share(one.number("remove_one", "relative_delta")),
        "monolingual": lambda _, one: number(one.number("monolingual_pool_average")),
        RANKS: lambda i, _: " → ".join(map(str, ranks[i])) if i in ranks else MISSING,
    }
    columns |= {name: _share_of_first(kind) for name, kind in FIRSTS.items()}
    cells = {
        name: [cell(i, one) for i, one in enumerate(found)]
        for name, cell in columns.items()
        if name not in dropped
    }
    cells = {name: texts for name, texts in cells.items() if name == value or set(texts) != {MISSING}}
    remarks = ["" if "remark" in dropped else _remark(one) for one in found]
    table = plain_table(title)
    ranked = any(one.row.rank is not None for one in found)
    if ranked:
        table.add_column("", justify="right", no_wrap=True)
    table.add_column("encoder", overflow="fold", min_width=8, max_width=name_width)
    for name in cells:
        table.add_column(name, justify="right", no_wrap=True)
    if any(remarks):
        table.add_column("", no_wrap=True)
    for i, one in enumerate(found):
        style = "bold" if one.row.standing == "leader" else "dim" if one.row.at_chance else ""
        texts = [one.row.rank_text] if ranked else []
        texts += [one.row.label, *(own[i] for own in cells.values())]
        texts += [remarks[i]] if any(remarks) else []
        table.add_row(*(Text(text, style=style) for text in texts))
    return table


def _share_of_first(kind: str) -> Column:
    return lambda _, one: wording.share(one.number("first", kind))


def _remark(one: Seen) -> str:
    if one.row.value is None:
        return "no value"
    return "at chance" if one.row.at_chance else "level" if one.row.standing == "level" else ""


def _matrix(best: Seen) -> Table:
    from rich.text import Text

    values: dict[Pair, float] = best.pairs("one_target")
    asked_in, answered_in = sides_of(best.languages, values)
    table = plain_table()
    table.add_column("", no_wrap=True)
    for answer in answered_in:
        table.add_column(Text(answer), justify="right", no_wrap=True)
    for asked in asked_in:
        cells = [
            Text(number(values.get((asked, answer)), digits=2), style="bold" if asked == answer else "")
            for answer in answered_in
        ]
        table.add_row(Text(asked, style="dim"), *cells)
    return table


def _fits(console: Console, table: Table) -> bool:
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(width=10_000), table).maximum <= console.width
