"""The verdict of a comparison in plain English."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from xlingual.report import numbers, words
from xlingual.report.table import Cell
from xlingual.results import comparison as record
from xlingual.results.comparison import Board, Compared, Comparison
from xlingual.tasks import task_of

CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg"}
_MOST_NAMED = 3  # with their differences
_MOST = 8  # without


def findings(comparison: Comparison) -> list[str]:
    """Return the findings: for each measure which encoder is ahead of which, then where parts differ."""
    sentences = []
    for board in comparison.boards:
        if board.overall:
            if comparison.baseline_given:
                sentences.append(_against_baseline(board, comparison))
            else:
                sentences += [_leaderboard(board, comparison), *_equivalent(board, comparison)]
            sentences += _over_all_parts(board, comparison)
    return sentences


def heading(board: Board) -> str:
    """Return what a board is about: "BkR R@10 · category = chair"."""
    name = task_of(board.task).measure_name(board.measure)
    if board.source is not None and board.target is not None:
        return f"{name} · {words.pair(board.source, board.target)}"
    return name if board.column is None else f"{name} · {board.column} = {board.label}"


def size(board: Board) -> str:
    """Return how much data a board is based on."""
    pairs = f", {board.n_pairs} language pairs" if board.n_pairs > 1 else ""
    seeds = f", {board.n_seeds} seeds" if board.n_seeds > 1 else ""
    queries = numbers.counted(board.n_queries, "query", "queries")
    return f"{queries} from {numbers.counted(board.n_clusters, 'cluster')}{pairs}{seeds}"


def parts_of(whole: Board, comparison: Comparison) -> list[Board]:
    """Return the boards of the parts of a task and measure."""
    wanted = (whole.task, whole.measure)
    return [one for one in comparison.boards if (one.task, one.measure) == wanted and not one.overall]


def difference(row: Compared, measure: str, margin: float | None = None) -> Cell:
    """Return "+0.021 [−0.002, 0.044]"; ends are seen to be in or out of ± margin."""
    return Cell.difference(row.difference, row.ci, measure, marks=_marks(margin), signed=True)


def _marks(margin: float | None) -> tuple[float, ...]:
    return (0.0,) if margin is None else (0.0, -margin, margin)


def _leaderboard(board: Board, comparison: Comparison) -> str:
    name = task_of(board.task).measure_name(board.measure)
    leader = next(row for row in board.rows if row.encoder == board.baseline)
    others = [row for row in board.rows if row is not leader]
    value = numbers.number(leader.value, board.measure)
    ceiling = words.ceiling(
        board.measure, [row.encoder for row in board.rows], (row.value for row in board.rows)
    )
    if ceiling is not None:
        return ceiling
    if all(row.outcome in (record.CANNOT_TELL, record.BASELINE) for row in board.rows):
        reason = next((row.note for row in board.rows if row.note), "")
        return words.stop(f"Whether {leader.encoder} leads in {name} ({value}) is not known: {reason}")
    correction = CORRECTIONS.get(comparison.correction)
    tests = f"{correction}-corrected tests" if correction else "uncorrected tests"
    tests += " of one pair" if board.n_rank_tests == 1 else f" of all {board.n_rank_tests} pairs"
    top = [row for row in others if row.top]
    if top:
        who = f"the nearest, {top[0].encoder}," if len(top) > 1 else top[0].encoder
        closest = f" ({who} is {_gap(top[0], board.measure, comparison.margin)} behind)"
        if len(top) == len(others):
            every = "both" if len(top) == 1 else f"all {len(board.rows)}"
            return (
                f"No encoder is shown to be best in {name} ({size(board)}): {leader.encoder} has the "
                f"highest value, {value}, but {tests} leave {every} encoders at the top{closest}."
            )
        named = numbers.in_words([row.encoder for row in top], _MOST)
        return (
            f"{leader.encoder} has the highest {name}, {value} ({size(board)}), but shares the top with "
            f"{named}: {tests} do not show any of them to be behind another{closest}."
        )
    gaps = [f", {_gap(row, board.measure, comparison.margin)} ahead of {row.encoder}" for row in others[:1]]
    alone = "alone at the top" if len(board.rows) > 2 else "ahead"
    return (
        f"{leader.encoder} is best in {name}, {value} ({size(board)}){''.join(gaps)}: {tests} put it {alone}."
    )


def _equivalent(board: Board, comparison: Comparison) -> list[str]:
    """Return who is shown to be within the margin of the leader."""
    names = [row.encoder for row in board.rows if row.outcome == record.EQUIVALENT]
    if not names:
        return []
    shown = f"{'is' if len(names) == 1 else 'are'} shown to be equivalent to {board.baseline}"
    return [words.stop(f"{numbers.in_words(names, _MOST)} {shown} within {_margin(comparison)}")]


def _gap(row: Compared, measure: str, margin: float | None) -> str:
    """Return how far a row is behind the baseline, with the interval turned round."""
    ci = None if row.ci is None else msgspec.structs.replace(row.ci, low=-row.ci.high, high=-row.ci.low)
    behind = None if row.difference is None else -row.difference
    return Cell.difference(behind, ci, measure, marks=_marks(margin)).plain


def _margin(comparison: Comparison) -> str:
    return f"±{numbers.MISSING if comparison.margin is None else format(comparison.margin, 'g')}"


def _against_baseline(board: Board, comparison: Comparison) -> str:
    name = task_of(board.task).measure_name(board.measure)
    baseline = next(row for row in board.rows if row.encoder == board.baseline)
    others = [row for row in board.rows if row is not baseline]
    value = numbers.number(baseline.value, board.measure)
    ceiling = words.ceiling(
        board.measure, [row.encoder for row in board.rows], (row.value for row in board.rows)
    )
    if ceiling is not None:
        return ceiling
    head = f"Against {board.baseline} ({name} {value}, {size(board)})"
    if len(others) == 1:
        return words.stop(f"{head}, {_one(others[0], board, comparison)}")
    parts = []
    for outcome in (record.BETTER, record.EQUIVALENT, record.NO_DIFFERENCE, record.WORSE, record.CANNOT_TELL):
        named = {
            row.encoder: difference(row, board.measure, comparison.margin).plain
            for row in others
            if row.outcome == outcome
        }
        if named:
            shown = [f"{name} ({gap})" for name, gap in named.items()] if len(named) <= _MOST_NAMED else named
            who = numbers.in_words(list(shown), _MOST)
            parts.append(f"{_counted(outcome, len(named), comparison)}: {who}")
    sentence = words.stop(f"{head}, {'; '.join(parts)}")
    return f"{sentence} {_why_none(others, board, comparison)}".rstrip()


def _why_none(others: Sequence[Compared], board: Board, comparison: Comparison) -> str:
    """Return why no difference is found where intervals exclude zero: they are not corrected, tests are."""
    apart = [
        row.encoder
        for row in others
        if row.outcome == record.NO_DIFFERENCE and row.ci is not None and row.ci.low * row.ci.high > 0
    ]
    correction = CORRECTIONS.get(comparison.correction)
    if not apart or correction is None:
        return ""
    interval, verb = ("interval", "excludes") if len(apart) == 1 else ("intervals", "exclude")
    return (
        f"The {interval} of {numbers.in_words(apart, _MOST)} {verb} zero, but with {board.n_tests} tests "
        f"that may be luck: outcomes are corrected for the number of tests ({correction})."
    )


def _counted(outcome: str, count: int, comparison: Comparison) -> str:
    if outcome == record.NO_DIFFERENCE:
        return f"no difference is found for {count}"
    if outcome == record.CANNOT_TELL:
        return f"no test is possible for {count}"
    within = f" within {_margin(comparison)}" if outcome == record.EQUIVALENT else ""
    return f"{count} {'is' if count == 1 else 'are'} {outcome}{within}"


def _one(row: Compared, board: Board, comparison: Comparison) -> str:
    gap, within = difference(row, board.measure, comparison.margin).plain, f"within {_margin(comparison)}"
    if row.outcome in (record.BETTER, record.WORSE):
        return f"{row.encoder} is {row.outcome} by {gap}: the difference is real on this data"
    if row.outcome == record.EQUIVALENT:
        return f"{row.encoder} is equivalent: the difference, {gap}, is {within}"
    if row.outcome == record.CANNOT_TELL:
        return f"no test is possible for {row.encoder}: {row.note}"
    same = "" if comparison.margin is None else f", and equivalence {within} is not shown either"
    return f"no difference is found for {row.encoder} ({gap}){same}"


def _over_all_parts(board: Board, comparison: Comparison) -> list[str]:
    """Return, for language pairs and each column, which encoders fare differently on the parts."""
    every = parts_of(board, comparison)
    sentences = []
    for column in dict.fromkeys(part.column for part in every):
        parts = [part for part in every if part.column == column]
        what = f"{len(parts)} {task_of(board.task).parts if column is None else f'parts by {column}'}"
        found = [text for row in board.rows if (text := _over_parts(row.encoder, parts))]
        if found:
            differ = f"Outcomes differ between the {what}: {numbers.in_words(found, _MOST_NAMED)}"
            sentences.append(words.stop(differ))
        else:
            untested = any(row.outcome == record.CANNOT_TELL for part in parts for row in part.rows)
            where = ", where a test is possible" if untested else ""
            sentences.append(f"Every encoder has the same outcome on all {what}{where}.")
    return sentences


def _over_parts(encoder: str, parts: Sequence[Board]) -> str | None:
    """Return "x (worse on a and b; no difference found on c)"; None where all known outcomes are equal."""
    where: dict[str, list[str]] = {}
    for part in parts:
        outcome = next(row.outcome for row in part.rows if row.encoder == encoder)
        where.setdefault(outcome, []).append(heading(part).rpartition(" · ")[2])
    for without in (record.BASELINE, record.CANNOT_TELL):
        where.pop(without, None)
    if len(where) < 2:
        return None
    outcomes = [f"{outcome} on {numbers.in_words(names, _MOST_NAMED)}" for outcome, names in where.items()]
    return f"{encoder} ({'; '.join(outcomes)})"
