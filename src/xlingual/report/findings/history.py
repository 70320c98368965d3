"""The verdict of a history: which changes are real, the last first."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers, words
from xlingual.results.comparison import BETTER, CANNOT_TELL
from xlingual.results.history import UNCHANGED, Change, Line, Point, Recorded, Series, Trend
from xlingual.tasks import task_of

_MOST = 4  # changes of one kind that the verdict names; the table has all


def called(record: Recorded) -> str:
    """Return what a record is called: its label, else its day, else its number."""
    return record.label or numbers.day(record.date) or f"record {record.id}"


def change_of(change: Change | None, measure: str) -> str:
    """Return what a mark says of its change on hover, after its value."""
    if change is None:
        return ""
    if change.difference is None:
        return f"; {change.note}"
    return f"; {change.outcome}: {difference(change, measure)}"


def difference(change: Change, measure: str) -> str:
    """Return "−0.119 [−0.165, −0.074]"."""
    value = change.difference or 0.0
    if change.ci is None:
        return numbers.signed(value) if value else numbers.number(value, measure)
    text = numbers.difference(value, change.ci, measure)
    return f"+{text}" if value > 0 else text


def findings(series: Series, trend: Trend) -> list[str]:
    """Return the findings of one series."""
    lines = series.overall or series.parts
    if all(len(line.points) < 2 for line in lines):
        return [
            f"There is one record so far ({_names(series)[0]}). Changes are shown from the second record on."
        ]
    last = series.records[-1]
    news = [
        (line, line.points[-1])
        for line in lines
        if line.points[-1].record == last.id and len(line.points) > 1
    ]
    return [
        *_last(series, last, news),
        *_earlier(series, lines, last),
        *_whole(series, lines),
        *_apart(series, lines),
    ]


def corrected(trend: Trend) -> str:
    """Return what the correction means."""
    kinds = {"of means": trend.n_tests, "of language pairs": trend.n_pair_tests}
    made = {kind: numbers.counted(n, "test") for kind, n in kinds.items() if n}
    if not made:
        return ""
    if list(made) == ["of means"]:  # the usual case
        family, each = made["of means"], ""
    else:
        family = ", and ".join(f"{n} {kind}" for kind, n in made.items())
        each = " for each kind" if len(made) > 1 else ""
    return (
        f"Changes are called real after Holm's correction over {family}. If nothing changed, the chance of "
        f"any such call is at most {numbers.percent(trend.alpha)}{each}."
    )


def _names(series: Series) -> list[str]:
    return [called(record) for record in series.records]


def _last(series: Series, last: Recorded, news: Sequence[tuple[Line, Point]]) -> list[str]:
    """Return what the last record changed."""
    name, measure = task_of(series.task).measure_name(series.measure), series.measure
    real = [(line, one) for line, one in news if one.change is not None and one.change.real]
    out = []
    real.sort(key=lambda each: (each[1].change and each[1].change.difference) or 0.0)
    for line, one in real[:_MOST]:
        change, before = one.change, line.points[-2]
        if change is None:
            continue
        out.append(
            f"{_whose(line)} got {change.outcome} with {called(last)}: {name} "
            f"{numbers.number(before.value, measure)} → {numbers.number(one.value, measure)}, "
            f"{difference(change, measure)} {_on(change)} ({numbers.p_sentence(change.p_adjusted)} after "
            "correction)."
        )
    if len(real) > _MOST:
        out.append(f"{len(real) - _MOST} more changed with {called(last)}; the table shows them.")
    same = [_whose(line) for line, one in news if one.change is not None and one.change.outcome == UNCHANGED]
    open_ = [(line, one.change) for line, one in news if one.change is not None and not one.change.real]
    unclear = [
        f"{_whose(line)} ({difference(change, measure)})"
        for line, change in open_
        if change.outcome not in (UNCHANGED, CANNOT_TELL)
    ]
    if unclear:
        out.append(f"No change with {called(last)} is shown for {numbers.in_words(unclear)}.")
    if same:
        verb = "is" if len(same) == 1 else "are"
        out.append(f"{numbers.in_words(same)} {verb} unchanged with {called(last)}, on every query.")
    return out


def _earlier(series: Series, lines: Sequence[Line], last: Recorded) -> list[str]:
    """Return the real changes before the last record, the latest first."""
    place = {record.id: number for number, record in enumerate(series.records)}
    found = [
        (
            place[point.record],
            f"{_whose(line)} {change.outcome} with {called(series.records[place[point.record]])}",
            change,
        )
        for line in lines
        for point, change in line.changes
        if point.record != last.id
    ]
    found.sort(key=lambda one: -one[0])
    if not found:
        return []
    named = [f"{what} ({difference(change, series.measure)})" for _, what, change in found[:_MOST]]
    more = f"; {len(found) - _MOST} more are in the table" if len(found) > _MOST else ""
    return [f"Earlier: {numbers.in_words(named)}{more}."]


def _whole(series: Series, lines: Sequence[Line]) -> list[str]:
    """Return how the last records differ from the first ones."""
    names = {record.id: called(record) for record in series.records}
    out = []
    for line in lines:
        whole = line.whole
        if whole is None or not whole.real:
            continue
        span = f"From {names[whole.since]} to {names[line.points[-1].record]}"
        slow = "" if line.changes else ", though no single change is shown: a slow drift"
        better = "better" if whole.outcome == BETTER else "worse"
        out.append(f"{span}, {_whose(line)} got {better} by {difference(whole, series.measure)}{slow}.")
    return out[:_MOST]


def _apart(series: Series, lines: Sequence[Line]) -> list[str]:
    """Return which records cannot be compared with those before them, and why."""
    names = {record.id: called(record) for record in series.records}
    found: dict[str, dict[str, None]] = {}
    for line in lines:
        for point in line.points:
            change = point.change
            if change is not None and change.difference is None:
                what = f"{names[point.record]} is not compared with {names[change.since]}: {change.note}"
                found.setdefault(what, {})[_whose(line)] = None
    return [words.stop(what) for what in list(found)[:_MOST]]


def _whose(line: Line) -> str:
    if line.source is None or line.target is None:
        return line.encoder
    return f"{line.encoder}, {words.pair(line.source, line.target)},"


def _on(change: Change) -> str:
    return f"on the same {numbers.counted(change.n_queries or 0, 'query', 'queries')}"
