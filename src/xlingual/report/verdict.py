"""The verdict: what the numbers say, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlingual.report import chance, conditions, numbers, tables, words
from xlingual.report.rows import Row, contains
from xlingual.results import Results, Summary

MOST_NAMED = 3  # more encoders than this are named without their differences
MANY_PAIRS = 12  # all directions of four languages
FEW_QUERIES = 50  # per pair


@dataclass(frozen=True)
class Findings:
    """Sentences about one run, or (run None) about the only run or all of them."""

    run: int | None
    sentences: list[str]


def verdict(results: Results | Sequence[Results]) -> list[str]:
    """Return the findings of all tasks as plain sentences, the most important first.

    Where a task has several runs, the first sentence about each begins with its number.
    """
    runs = tables.as_runs(results)
    return [
        f"Run {found.run}: {sentence}" if found.run is not None and place == 0 else sentence
        for task in tables.tasks(runs)
        for found in task_verdict(runs, task)
        for place, sentence in enumerate(found.sentences)
    ]


def task_verdict(runs: Sequence[Results], task: str) -> list[Findings]:
    """Return the findings of one task, from its first measure, run by run."""
    measure = tables.measures(runs, task)[0]
    rows = tables.leaderboard(runs, task, measure)
    places = sorted({row.run for row in rows})
    if len(places) == 1:
        return [Findings(None, _run_verdict(runs, task, rows))]
    found = [
        Findings(place, _run_verdict(runs, task, [row for row in rows if row.run == place]))
        for place in places
    ]
    return [*found, Findings(None, [_not_paired(runs, task, places)])]


def _run_verdict(runs: Sequence[Results], task: str, rows: list[Row]) -> list[str]:
    name = words.measure_name(task, rows[0].measure)
    found = [row for row in rows if row.value is not None]
    leader = next((row for row in found if row.standing == "leader"), None)
    sentences = []
    if leader is not None:
        pairs = tables.pair_rows(runs, task, leader.measure).get(leader.system, {})
        where = _where(leader, list(pairs))
        if chance.none_above(found):
            sentences += chance.nothing_found(found[0], found, name, where)
        else:
            sentences += [_lead(leader, found, name, where), *_position(leader), *_hardest(leader, pairs)]
    if not (chance.none_above(found) and all(row.at_chance for row in found)):
        sentences += chance.at_or_below(found)
    sentences += _without_value(rows, name)
    return sentences + (_few_queries(runs[rows[0].run - 1], task) if found else [])


def _without_value(rows: list[Row], name: str) -> list[str]:
    sentences = []
    notes = dict.fromkeys(row.note for row in rows if row.value is None)
    for note in notes:
        without = [row.encoder for row in rows if row.value is None and row.note == note]
        reason = f": {note}" if note else ""
        sentences.append(words.stop(f"No value of {name} for {numbers.in_words(without)}{reason}"))
    return sentences


def _few_queries(run: Results, task: str) -> list[str]:
    """Return a remark where the samples are small: wide intervals then say little about the encoders."""
    own = [entry for entry in run.entries if entry.task == task]
    sizes = [entry.n_source for entry in own]
    if not sizes or min(sizes) >= FEW_QUERIES:
        return []
    if max(sizes) >= FEW_QUERIES:
        least = f"{min(sizes)} {'query' if min(sizes) == 1 else 'queries'}"
        return [f"Some pairs have only {least}: their intervals are wide."]
    each = " per pair" if len({(entry.source, entry.target) for entry in own}) > 1 else ""
    noun = "query" if max(sizes) == 1 else "queries"
    return [f"Only {numbers.span(sizes)} {noun}{each}: the intervals are wide."]


def _where(leader: Row, pairs: list[tuple[str, str]]) -> str:
    if leader.n_pairs == 1 and len(pairs) == 1:
        return f" for {words.pair(*pairs[0])}"
    return f" on average over {leader.n_pairs} language pairs" if leader.n_pairs > 1 else ""


def _lead(leader: Row, found: list[Row], name: str, where: str) -> str:
    value = numbers.with_interval(leader.value, leader.ci, leader.measure)
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
    if leader.chance is None:
        return []
    luck = numbers.mark(leader.chance, leader.measure)
    oracle = numbers.number(leader.oracle, leader.measure)
    share = numbers.percent(leader.normalized)
    if leader.at_chance:  # others are above: its own sentence follows
        return [f"Pictures alone reach {oracle}."] if leader.oracle is not None else []
    if leader.oracle is None:
        meaning = ": no relation between texts and pictures" if leader.measure == "CORR" else ""
        return [f"Chance on this data is {luck}{meaning}."]
    if leader.normalized is None:
        reason = f"; {leader.note}" if leader.note else ""
        return [words.stop(f"Chance is {luck} and pictures alone reach {oracle}{reason}")]
    if leader.normalized > 1:
        return [f"That is beyond what pictures alone can tell: {share} of the way from {luck} to {oracle}."]
    if leader.normalized < 0:
        return [f"That is not above chance ({luck}); pictures alone reach {oracle}."]
    return [f"It closes {share} of the way from chance ({luck}) to what pictures alone can tell ({oracle})."]


def _hardest(leader: Row, pairs: dict[tuple[str, str], Summary]) -> list[str]:
    valued = {key: row for key, row in pairs.items() if row.value is not None}
    if len(valued) < 2:
        return []
    ordered = sorted(
        valued, key=lambda key: (valued[key].value, key), reverse=words.lower_is_better(leader.measure)
    )
    low, high = valued[ordered[0]], valued[ordered[-1]]
    alike = _alike(low, high)
    if low.value == high.value or (alike and len(valued) < MANY_PAIRS):
        return []
    hard = numbers.with_interval(low.value, low.ci, leader.measure)
    easy = numbers.number(high.value, leader.measure)
    caution = ", a difference that may be noise" if alike else ""
    return [
        f"Its hardest pair is {words.pair(*ordered[0])} with {hard}; "
        f"its easiest is {words.pair(*ordered[-1])} with {easy}{caution}."
    ]


def _alike(one: Summary, other: Summary) -> bool:
    """Tell whether the interval of either contains the value of the other."""
    both = ((one, other), (other, one))
    return any(a.ci and b.value is not None and contains(a.ci, b.value) for a, b in both)


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
