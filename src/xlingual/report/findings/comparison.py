"""The verdict of a comparison in plain English."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from xlingual.report import numbers, words
from xlingual.report.table import Cell
from xlingual.results import comparison as record
from xlingual.results.comparison import Board, Compared, Comparison
from xlingual.tasks import task_of

_MOST_NAMED = 3  # with their differences
_MOST = 8  # without
_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg"}


def findings(comparison: Comparison) -> list[str]:
    """Return what the comparison says: for each measure who is ahead of whom, then where parts differ."""
    sentences = []
    for board in comparison.boards:
        if board.overall:
            tell = _against_baseline if comparison.baseline_given else _leaderboard
            sentences.append(tell(board, comparison))
            sentences += [] if comparison.baseline_given else _equivalent(board, comparison)
            sentences += _parts(board, comparison)
    return sentences


def title(board: Board) -> str:
    """Return what a board is about: "BkR R@10 · category = chair"."""
    name = task_of(board.task).measure_name(board.measure)
    if board.source is not None and board.target is not None:
        return f"{name} · {words.pair(board.source, board.target)}"
    return name if board.column is None else f"{name} · {board.column} = {board.label}"


def size(board: Board) -> str:
    """Return how much data a board stands on."""
    pairs = f", {board.n_pairs} language pairs" if board.n_pairs > 1 else ""
    seeds = f", {board.n_seeds} seeds" if board.n_seeds > 1 else ""
    queries = numbers.counted(board.n_queries, "query", "queries")
    return f"{queries} from {numbers.counted(board.n_clusters, 'cluster')}{pairs}{seeds}"


def difference(row: Compared, measure: str, margin: float | None = None) -> Cell:
    """Return "+0.021 [−0.002, 0.044]"; ends are seen to be in or out of ± margin."""
    marks = (0.0,) if margin is None else (0.0, -margin, margin)
    return Cell.difference(row.difference, row.ci, measure, marks=marks, signed=True)


def _leaderboard(board: Board, comparison: Comparison) -> str:
    name = task_of(board.task).measure_name(board.measure)
    leader = next(row for row in board.rows if row.encoder == board.baseline)
    value = numbers.number(leader.value, board.measure)
    top = [row for row in board.rows if row.top and row.encoder != leader.encoder]
    data = f"({size(board)})"
    if all(row.outcome in (record.CANNOT_TELL, record.BASELINE) for row in board.rows):
        reason = next((row.note for row in board.rows if row.note), "")
        return words.stop(f"Whether {leader.encoder} leads in {name} ({value}) cannot be told: {reason}")
    tests = f"{_corrected(comparison)} of {_pairs(board.n_rank_tests)}"
    if len(top) + 1 == len(board.rows):
        both = "both" if not top[1:] else f"all {len(board.rows)}"
        return (
            f"No encoder is shown to be best in {name} {data}: {leader.encoder} has the highest value, "
            f"{value}, but {tests} leave {both} encoders at the top{_closest(board, top, comparison.margin)}."
        )
    if top:
        named = numbers.in_words([row.encoder for row in top], _MOST)
        return (
            f"{leader.encoder} has the highest {name}, {value} {data}, but shares the top with {named}: "
            f"{tests} do not show any of them to be behind another{_closest(board, top, comparison.margin)}."
        )
    second = next((row for row in board.rows if row.encoder != leader.encoder), None)
    ahead = f", {_gap(second, board.measure, comparison.margin)} ahead of {second.encoder}" if second else ""
    alone = "alone at the top" if len(board.rows) > 2 else "ahead"
    return f"{leader.encoder} is best in {name}, {value} {data}{ahead}: {tests} put it {alone}."


def _equivalent(board: Board, comparison: Comparison) -> list[str]:
    """Return who is shown to be within the margin of the leader."""
    names = [row.encoder for row in board.rows if row.outcome == record.EQUIVALENT]
    if not names:
        return []
    verb = "is" if len(names) == 1 else "are"
    said = f"{verb} shown to be equivalent to {board.baseline} within ±{_margin(comparison)}"
    return [words.stop(f"{numbers.in_words(names, _MOST)} {said}")]


def _closest(board: Board, top: Sequence[Compared], margin: float | None) -> str:
    """Return " (the nearest, x, is 0.002 [−0.020, 0.024] behind)" for the first of the top."""
    nearest = top[0]
    who = f"the nearest, {nearest.encoder}," if len(top) > 1 else nearest.encoder
    return f" ({who} is {_gap(nearest, board.measure, margin)} behind)"


def _gap(row: Compared, measure: str, margin: float | None) -> str:
    """Return how far a row is behind the baseline, with the interval turned round."""
    marks = (0.0,) if margin is None else (0.0, -margin, margin)
    ci = None if row.ci is None else msgspec.structs.replace(row.ci, low=-row.ci.high, high=-row.ci.low)
    return Cell.difference(
        None if row.difference is None else -row.difference, ci, measure, marks=marks
    ).plain


def _pairs(count: int) -> str:
    return "one pair" if count == 1 else f"all {count} pairs"


def _corrected(comparison: Comparison) -> str:
    name = _CORRECTIONS.get(comparison.correction)
    return f"{name}-corrected tests" if name else "uncorrected tests"


def _against_baseline(board: Board, comparison: Comparison) -> str:
    name = task_of(board.task).measure_name(board.measure)
    held = next(row for row in board.rows if row.encoder == board.baseline)
    value = numbers.number(held.value, board.measure)
    others = [row for row in board.rows if row.encoder != board.baseline]
    head = f"Against {board.baseline} ({name} {value}, {size(board)})"
    if len(others) == 1:
        return words.stop(f"{head}, {_one(others[0], board, comparison)}")
    parts = []
    for outcome in (record.BETTER, record.EQUIVALENT, record.NO_DIFFERENCE, record.WORSE, record.CANNOT_TELL):
        rows = [row for row in others if row.outcome == outcome]
        if rows:
            parts.append(
                f"{_counted(outcome, len(rows), comparison)}: {_named(rows, board, comparison.margin)}"
            )
    return words.stop(f"{head}, {'; '.join(parts)}")


def _counted(outcome: str, count: int, comparison: Comparison) -> str:
    verb = "is" if count == 1 else "are"
    said = {
        record.NO_DIFFERENCE: f"no difference is found for {count}",
        record.CANNOT_TELL: f"nothing can be told of {count}",
        record.EQUIVALENT: f"{count} {verb} equivalent within ±{_margin(comparison)}",
    }
    return said.get(outcome, f"{count} {verb} {outcome}")


def _named(rows: Sequence[Compared], board: Board, margin: float | None) -> str:
    if len(rows) > _MOST_NAMED:
        return numbers.in_words([row.encoder for row in rows], _MOST)
    return numbers.in_words(
        [f"{row.encoder} ({difference(row, board.measure, margin).plain})" for row in rows]
    )


def _one(row: Compared, board: Board, comparison: Comparison) -> str:
    gap = difference(row, board.measure, comparison.margin).plain
    if row.outcome in (record.BETTER, record.WORSE):
        return f"{row.encoder} is {row.outcome} by {gap}: the difference is real on this data"
    if row.outcome == record.EQUIVALENT:
        return f"{row.encoder} is equivalent: the difference, {gap}, is within ±{_margin(comparison)}"
    if row.outcome == record.CANNOT_TELL:
        return f"nothing can be told of {row.encoder}: {row.note}"
    same = (
        ""
        if comparison.margin is None
        else f", and equality within ±{_margin(comparison)} is not shown either"
    )
    return f"no difference is found for {row.encoder} ({gap}){same}"


def _margin(comparison: Comparison) -> str:
    return f"{comparison.margin:g}" if comparison.margin is not None else numbers.MISSING


def _parts(board: Board, comparison: Comparison) -> list[str]:
    """Return, for language pairs and each column, which encoders fare differently on the parts."""
    own = [
        b for b in comparison.boards if (b.task, b.measure) == (board.task, board.measure) and not b.overall
    ]
    sentences = []
    for column in dict.fromkeys(part.column for part in own):
        parts = [part for part in own if part.column == column]
        what = task_of(board.task).parts if column is None else f"parts by {column}"
        found = [text for row in board.rows if (text := _over_parts(row.encoder, parts))]
        if not found:
            untold = any(row.outcome == record.CANNOT_TELL for part in parts for row in part.rows)
            told = ", where it can be told" if untold else ""
            sentences.append(f"Every encoder has the same outcome on all {len(parts)} {what}{told}.")
        else:
            sentences.append(
                words.stop(
                    f"Outcomes differ between the {len(parts)} {what}: {numbers.in_words(found, _MOST_NAMED)}"
                )
            )
    return sentences


def _over_parts(encoder: str, parts: Sequence[Board]) -> str | None:
    """Return "x (worse on a and b; no difference found on c)"; None where all that is told is equal."""
    where: dict[str, list[str]] = {}
    for part in parts:
        outcome = next(row.outcome for row in part.rows if row.encoder == encoder)
        where.setdefault(outcome, []).append(title(part).rpartition(" · ")[2])
    for silent in (record.BASELINE, record.CANNOT_TELL):
        where.pop(silent, None)
    if len(where) < 2:
        return None
    said = [f"{outcome} on {numbers.in_words(names, _MOST_NAMED)}" for outcome, names in where.items()]
    return f"{encoder} ({'; '.join(said)})"
