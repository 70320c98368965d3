"""The verdict of a leaderboard in plain English: what to use, who shares the top where, what is not known."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers, words
from xlingual.report.leaders import side_of_chance
from xlingual.results.leaderboard import Leaderboard, ResultCell, ResultColumn

_MOST = 8  # columns that have a sentence each
_NAMED = 6  # names in a sentence


def findings(board: Leaderboard) -> list[str]:
    """Return the findings: what to use, then who is best in each column, then what is missing."""
    found = [_lead(board), *(_column(column) for column in board.columns[:_MOST])]
    if more := len(board.columns) - _MOST:
        found += [f"… and {numbers.counted(more, 'more column')}, in the table below."] if more > 0 else []
    return [*found, *_missing(board)]


def above_chance(column: ResultColumn, cell: ResultCell) -> bool:
    """Return whether a cell is not known to be at chance or below."""
    return side_of_chance(cell.ci, column.chance, column.measure) in (None, "above")


def _lead(board: Leaderboard) -> str:
    tested = [column for column in board.columns if column.tested]
    if not tested:
        return "The best encoder is not known: no column has a test of two encoders on the same queries."
    where = (
        "in the column that was tested" if len(tested) == 1 else f"in all {len(tested)} columns with tests"
    )
    if not any(above_chance(column, cell) for column in tested for cell in column.top):
        return f"Use none of them: no encoder is shown to be above chance {where}."
    tops = [{cell.encoder for cell in column.top} for column in tested]
    always = [name for name in board.encoders if all(name in top for top in tops)]
    if len(always) == 1:
        return f"Use {always[0]}: no other encoder is shown to be better than it {where}."
    if always:
        named = numbers.in_words(always, _NAMED)
        which = "either" if len(always) == 2 else "any"
        return f"Use {which} of {named}: no other encoder is shown to be better than these {where}."
    choose = f"Choose by the column of the data that resemble yours most: no encoder is at the top {where}."
    if any({cell.encoder for cell in column.known} != set(board.encoders) for column in tested):
        return f"{choose} Some encoders lack columns, so their numbers of top places cannot be compared."
    most = max(sum(name in top for top in tops) for name in board.encoders)
    often = [name for name in board.encoders if sum(name in top for top in tops) == most]
    verb, each = ("is", "") if len(often) == 1 else ("are", " each")
    return (
        f"{choose} {numbers.in_words(often, _NAMED)} {verb} at the top most often, in {most} of "
        f"{numbers.counted(len(tested), 'column')}{each}."
    )


def _column(column: ResultColumn) -> str:
    """Return who is best in a column, or why that is not known."""
    known = column.known
    if not known:
        return f"{column.name}: no encoder has a value."
    first = known[0]
    value = numbers.with_interval(first.value, first.ci, column.measure)
    if not column.tested:
        reason = column.untested or ""
        if len(known) == 1:
            return f"{column.name}: only {first.encoder} was evaluated, {value}."
        return words.stop(
            f"{column.name}: {first.encoder} has the best value, {value}; whether it is better than the next "
            f"one is not known: {reason}"
        )
    top = column.top
    if not any(above_chance(column, cell) for cell in top):
        return f"{column.name}: no encoder at the top is shown to be above chance."
    if len(top) == 1:
        return f"{column.name}: {first.encoder} is best, {value}."
    if len(top) == len(known):
        return (
            f"{column.name}: the data cannot tell the {len(top)} encoders apart; the best value is {value}."
        )
    others = [cell.encoder for cell in top if cell is not first]
    shared = f"shares the top with {numbers.in_words(others, _NAMED - 1)}"
    if first not in top:
        shared = f"has the best value; at the top are {numbers.in_words([c.encoder for c in top], _NAMED)}"
    return f"{column.name}: {first.encoder}, {value}, {shared}."


def _missing(board: Leaderboard) -> list[str]:
    """Return how many cells are missing, and which means there are."""
    found = []
    cells = len(board.columns) * len(board.encoders)
    empty = cells - sum(len(column.known) for column in board.columns)
    if empty:
        verb = "is missing, and stays" if empty == 1 else "are missing, and stay"
        found.append(f"{empty} of {cells} cells {verb} empty.")
    if board.means:
        measures = numbers.in_words(list(dict.fromkeys(mean.measure for mean in board.means)))
        which = f"the encoders that have every column of a measure ({measures})"
        found.append(f"Means are over the columns of one measure, for {which}; they have no test.")
    elif len(board.columns) > 1:
        found.append(words.stop(f"There is no mean over the columns: {board.no_mean}"))
    return found


def ranks(cell: ResultCell) -> str:
    """Return "1–3", "2" or "" where nothing was tested."""
    ends = [end for end in (cell.rank_low, cell.rank_high) if end is not None]
    return numbers.span(ends) if ends else ""


TERMS = {
    "Column": "One data set, task and measure under equal conditions: the same data, samples, images and "
    "options. Numbers under other conditions are in separate columns.",
    "Rank": "The possible ranks after tests of all pairs of encoders in a column (paired by query, "
    "corrected for their number). The best possible rank is 1 plus the number of encoders shown "
    "to be better. The worst is the number of encoders minus those shown to be worse.",
    "Top": "No other encoder in the column is shown to be better. Several encoders can share the top; "
    "their order is not known.",
    "Missing": "A dash means that the encoder was not evaluated there. No number replaces it.",
    "Mean": "It is over the columns of one task and measure, each with equal weight. Only encoders with a "
    "value in each of them have a mean, since means over different columns mislead.",
}


def caption(column: ResultColumn) -> str:
    """Return how much data a column is based on, and which tests ranks come from."""
    parts = []
    if column.n_queries is not None:
        parts.append(numbers.counted(column.n_queries, "query", "queries"))
    if column.n_parts > 1:
        parts.append(f"{column.n_parts} language pairs")
    if column.n_seeds > 1:
        parts.append(f"{column.n_seeds} seeds")
    if column.n_tests:
        parts.append(f"{numbers.counted(column.n_tests, 'test')} of two encoders")
    return ", ".join(parts) or (column.untested or "")


def missing_reasons(columns: Sequence[ResultColumn]) -> list[str]:
    """Return which cells are missing, a sentence for each column and reason."""
    found = []
    for column in columns:
        why: dict[str, list[str]] = {}
        for cell in column.cells:
            if cell.value is None:
                why.setdefault(cell.note or "no value", []).append(cell.encoder)
        found += [
            f"{column.name}: {numbers.in_words(names, _MOST)}: {reason}." for reason, names in why.items()
        ]
    return found
