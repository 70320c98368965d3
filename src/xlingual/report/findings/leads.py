"""Sentences about the leader and its lead that the verdicts of all tasks share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import NormalDist

from xlingual.report import numbers, words
from xlingual.report.leaders import BoardRow, contains
from xlingual.results import Results, Summary, by_key
from xlingual.results.cautions import unanswered
from xlingual.results.entries import Behind

MOST_NAMED = 3  # more encoders than this are named without their differences


def lead(leader: BoardRow, found: Sequence[BoardRow], name: str, where: str) -> str:
    """Return who leads, with what, and whether that is more than noise."""
    value = numbers.finely(leader.value, leader.ci, leader.measure)
    if len(found) == 1:
        return f"{leader.encoder} reaches {name} {value}{where}."
    level = [row for row in found if row.standing == "level"]
    behind = [row for row in found if row.standing == "behind"]
    head = f"{leader.encoder} leads: {name} {value}{where}"
    if level:
        return f"{head}, but is not distinguishable from {_level(level)}{_next(behind)}"
    if behind:
        real = (
            f"but with {len(found)} encoders that may be luck"
            if may_be_luck(row.behind for row in found)
            else "so the lead is real on this data"
        )
        return (
            f"{head}, {behind[0].behind_text} ahead of {behind[0].encoder}: "
            f"the interval excludes zero, {real}."
        )
    return f"{head}; no paired difference was computed, so whether the lead is real is not known."


def may_be_luck(behind: Iterable[Behind | None]) -> bool:
    """Tell whether an encoder is behind by itself, but not when it is one of several that might have led.

    Intervals of differences are for one rival each. Here they are as wide as all rivals together need
    (Bonferroni, by the ratio of normal quantiles), as comparisons correct for the number of encoders.
    """
    rivals = [rival for rival in behind if rival is not None]
    return any(_widened(rival, len(rivals)) for rival in rivals if not contains(rival.ci, 0.0))


def _widened(behind: Behind, n: int) -> bool:
    """Tell whether an interval contains zero when it is one of n."""
    tail = (1.0 - behind.ci.level) / 2.0
    ratio = NormalDist().inv_cdf(1.0 - tail / n) / NormalDist().inv_cdf(1.0 - tail)
    nearest = behind.ci.low if behind.value > 0 else behind.ci.high
    return (behind.value - (behind.value - nearest) * ratio) * behind.value <= 0


def _level(level: list[BoardRow]) -> str:
    if len(level) > MOST_NAMED:
        named = numbers.in_words([row.encoder for row in level], MOST_NAMED)
        return f"{named}: the interval of each difference contains zero."
    named = numbers.in_words([f"{row.encoder} (difference {row.behind_text})" for row in level])
    several = "both" if len(level) == 2 else "all"
    contain = "the interval contains" if len(level) == 1 else f"{several} intervals contain"
    return f"{named}: {contain} zero."


def _next(behind: list[BoardRow]) -> str:
    if not behind:
        return ""
    return f" The first that is clearly behind is {behind[0].encoder}, by {behind[0].behind_text}."


def position(leader: BoardRow) -> list[str]:
    """Return where the leader is between chance and the oracle, retrieval by images alone."""
    if leader.chance is None:
        return []
    chance = numbers.mark(leader.chance, leader.measure)
    oracle = numbers.number(leader.oracle, leader.measure)
    share = leader.normalized_text
    if leader.at_chance:  # others are above: its own sentence follows
        return [f"The oracle (images alone) reaches {oracle}."] if leader.oracle is not None else []
    if leader.oracle is None:
        meaning = ": no relation between texts and images" if leader.measure == "CORR" else ""
        return [f"Chance on this data is {chance}{meaning}."]
    if leader.normalized is None:
        reason = f"; {leader.note}" if leader.note else ""
        return [words.stop(f"Chance is {chance} and the oracle (images alone) reaches {oracle}{reason}")]
    if leader.normalized > 1:
        return [
            f"That is above the oracle (images alone): {share} of the way from chance ({chance}) to the "
            f"oracle ({oracle})."
        ]
    if leader.normalized < 0:
        return [f"That is not above chance ({chance}); the oracle (images alone) reaches {oracle}."]
    closes = f"It closes {share} of the way from chance ({chance}) to the oracle, images alone ({oracle})"
    if leader.ceiling is None or leader.measure == "SIM":
        return [f"{closes}."]
    ceiling = numbers.mark(leader.ceiling, leader.measure)
    return [
        f"{closes}; a perfect encoder need not reach the ceiling ({ceiling}): it retrieves the text "
        "nearest in meaning, of another item, whose image need not be the most similar one."
    ]


def alike(one: Summary, other: Summary) -> bool:
    """Tell whether the interval of either contains the value of the other."""
    both = ((one, other), (other, one))
    return any(a.ci and b.value is not None and contains(a.ci, b.value) for a, b in both)


def misses(run: Results, rows: Sequence[BoardRow]) -> list[str]:
    """Return which search systems of a run have queries without results."""
    first, shown = rows[0], {row.encoder for row in rows}
    own = by_key(run.entries, task=first.task, measure=first.measure)
    return unanswered(entry for entry in own if entry.encoder in shown)


def without_value(rows: Sequence[BoardRow], name: str) -> list[str]:
    """Return which encoders have no value, and why."""
    sentences = []
    notes = dict.fromkeys(row.note for row in rows if row.value is None)
    for note in notes:
        without = [row.encoder for row in rows if row.value is None and row.note == note]
        reason = f": {note}" if note else ""
        sentences.append(words.stop(f"No value of {name} for {numbers.in_words(without)}{reason}"))
    return sentences
