"""The verdict: what the numbers say, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import conditions, numbers, tables, words
from xlingual.report.rows import Row
from xlingual.results import Results, Summary

MOST_NAMED = 3  # more encoders than this are named without their differences


def verdict(results: Results | Sequence[Results]) -> list[str]:
    """Return the findings of all tasks as plain sentences, the most important first."""
    runs = tables.as_runs(results)
    return [sentence for task in tables.tasks(runs) for sentence in task_verdict(runs, task)]


def task_verdict(runs: Sequence[Results], task: str) -> list[str]:
    """Return the findings of one task, from its first measure."""
    measure = tables.measures(runs, task)[0]
    rows = tables.leaderboard(runs, task, measure)
    places = sorted({row.run for row in rows})
    sentences = []
    for place in places:
        own = _run_verdict(runs, task, [row for row in rows if row.run == place])
        prefix = f"Run {place}: " if len(places) > 1 else ""
        sentences += [prefix + sentence for sentence in own]
    if len(places) > 1:
        sentences.append(_not_paired(runs, task, places))
    return sentences


def _run_verdict(runs: Sequence[Results], task: str, rows: list[Row]) -> list[str]:
    name = words.measure_name(task, rows[0].measure)
    found = [row for row in rows if row.value is not None]
    leader = next((row for row in found if row.standing == "leader"), None)
    sentences = []
    if leader is not None:
        pairs = tables.pair_rows(runs, task, leader.measure).get(leader.system, {})
        sentences += [_lead(leader, found, name, list(pairs)), *_position(leader), *_hardest(leader, pairs)]
    sentences += _at_chance(found)
    notes = dict.fromkeys(row.note for row in rows if row.value is None)
    for note in notes:
        without = [row.encoder for row in rows if row.value is None and row.note == note]
        reason = f": {note}" if note else ""
        sentences.append(_stop(f"No value of {name} for {numbers.in_words(without)}{reason}"))
    return sentences


def _lead(leader: Row, found: list[Row], name: str, pairs: list[tuple[str, str]]) -> str:
    value = numbers.with_interval(leader.value, leader.ci, leader.measure)
    where = f" on average over {leader.n_pairs} language pairs" if leader.n_pairs > 1 else ""
    if leader.n_pairs == 1 and len(pairs) == 1:
        where = f" for {words.pair(*pairs[0])}"
    if len(found) == 1:
        return f"{leader.encoder} reaches {name} {value}{where}."
    level = [row for row in found if row.standing == "level"]
    behind = [row for row in found if row.standing == "behind"]
    head = f"{leader.encoder} leads: {name} {value}{where}"
    if level:
        return f"{head}, and cannot be told apart from {_level(level)}{_next(behind)}"
    if behind:
        return (
            f"{head}, {behind[0].behind_text} ahead of {behind[0].encoder}: "
            "the interval excludes zero, so the lead is real on this data."
        )
    return f"{head}; no paired difference was computed, so whether the lead is real is not known."


def _level(level: list[Row]) -> str:
    if len(level) > MOST_NAMED:
        named = numbers.in_words([row.encoder for row in level], MOST_NAMED)
        return f"{named}: the interval of each difference contains zero."
    named = numbers.in_words([f"{row.encoder} (difference {row.behind_text})" for row in level])
    contain = "the interval contains" if len(level) == 1 else "both intervals contain"
    if len(level) > 2:
        contain = "all intervals contain"
    return f"{named}: {contain} zero."


def _next(behind: list[Row]) -> str:
    if not behind:
        return ""
    return f" The first that is clearly behind is {behind[0].encoder}, by {behind[0].behind_text}."


def _position(leader: Row) -> list[str]:
    chance = numbers.number(leader.chance, leader.measure)
    oracle = numbers.number(leader.oracle, leader.measure)
    share = numbers.percent(leader.normalized)
    if leader.chance is None:
        return []
    if leader.oracle is None:
        return [f"Chance on this data is {chance}."]
    if leader.normalized is None:
        reason = f"; {leader.note}" if leader.note else ""
        return [_stop(f"Chance is {chance} and pictures alone reach {oracle}{reason}")]
    if leader.normalized < 0:
        return [f"That is not above chance ({chance}); pictures alone reach {oracle}."]
    if leader.normalized > 1:
        return [f"That is beyond what pictures alone can tell: {share} of the way from {chance} to {oracle}."]
    return [
        f"It closes {share} of the way from chance ({chance}) to what pictures alone can tell ({oracle})."
    ]


def _hardest(leader: Row, pairs: dict[tuple[str, str], Summary]) -> list[str]:
    valued = {key: row for key, row in pairs.items() if row.value is not None}
    if len(valued) < 2:
        return []
    ordered = sorted(
        valued, key=lambda key: (valued[key].value, key), reverse=words.lower_is_better(leader.measure)
    )
    low, high = valued[ordered[0]], valued[ordered[-1]]
    if low.value == high.value:
        return []
    hard = numbers.with_interval(low.value, low.ci, leader.measure)
    easy = numbers.number(high.value, leader.measure)
    return [
        f"Its hardest pair is {words.pair(*ordered[0])} with {hard}; "
        f"its easiest is {words.pair(*ordered[-1])} with {easy}."
    ]


def _at_chance(found: list[Row]) -> list[str]:
    lost = [row for row in found if row.at_chance]
    if not lost:
        return []
    levels = list(dict.fromkeys(numbers.number(row.chance, row.measure) for row in lost))
    level = f" ({levels[0]})" if len(levels) == 1 else ""
    return [f"Not distinguishable from chance{level}: {numbers.in_words([row.encoder for row in lost])}."]


def _not_paired(runs: Sequence[Results], task: str, places: list[int]) -> str:
    text = (
        f"Runs {numbers.in_words([str(place) for place in places])} were evaluated apart, so their encoders "
        "cannot be compared query by query: no difference between runs has an interval. "
        "Evaluate them together to get one."
    )
    unequal = conditions.unequal([runs[place - 1] for place in places], task)
    if unequal:
        text += f" The conditions differ too ({numbers.in_words(unequal)}), so the values are not comparable."
    return text


def _stop(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
