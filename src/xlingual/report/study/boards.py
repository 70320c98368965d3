"""What the page draws beside its numbers: systems on an axis, pairs on a logarithmic one, scores in bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlingual.report.axis import Axis, axis_for
from xlingual.report.numbers import count, percent
from xlingual.report.study import cautions, sentences, with_bkr
from xlingual.report.study.log_axis import LogAxis, log_axis_for
from xlingual.report.study.wording import amount, ordered_pairs, p_text, ranked, ratio, signed, win_rate
from xlingual.results import Interval
from xlingual.results.study import PairDifference, StudyAnalysis, SystemScores

LEAST_NAMED = 0.08  # share of a bar that has room for its number


@dataclass(frozen=True)
class SystemLine:
    """A system with its interval, in percent of the axis."""

    system: str
    kind: str  # class of the row
    value: str
    interval: str
    share: str
    score: str
    bkr: str
    at: float
    low: float | None
    width: float | None


@dataclass(frozen=True)
class Systems:
    """All systems, the best first."""

    axis: Axis
    lines: list[SystemLine]
    with_bkr: bool


@dataclass(frozen=True)
class PairLine:
    """Two systems; without a ratio there is a note instead of a bar."""

    first: str
    second: str
    kind: str
    value: str
    interval: str
    score: str
    won: str
    win_rate: str
    p: str
    outcome: str
    note: str
    added: bool  # whether the note is about a ratio that there is
    at: float | None
    low: float | None
    width: float | None
    beyond_low: bool  # whether the interval goes on beyond the axis
    beyond_high: bool


@dataclass(frozen=True)
class Pairs:
    """All pairs of systems on one axis of ratios."""

    axis: LogAxis
    one: float  # where as many lie
    lines: list[PairLine]
    corrected: bool
    beyond: bool


@dataclass(frozen=True)
class Part:
    """A score's part of a system's bar, in percent of the width."""

    score: int
    at: float
    width: float
    text: str
    title: str


@dataclass(frozen=True)
class Bar:
    """How often a system's suggestions got each score."""

    system: str
    total: str
    spoken: str
    parts: list[Part]


def systems(analysis: StudyAnalysis) -> Systems:
    """Return the board of systems."""
    rows = ranked(analysis)
    held = [row.very_relevant for row in rows]
    held += [end for row in rows if (ci := row.very_relevant_ci) for end in (ci.low, ci.high)]
    axis = axis_for([0.0, *held] if any(held) else [0.0, 1.0], floor=0.0)
    behind = _behind(analysis, rows[0].system) if rows else set()
    lines = [_system(row, axis, _kind(row.system, rows[0].system, behind)) for row in rows]
    return Systems(axis, lines, any(row.bkr is not None for row in rows))


def _behind(analysis: StudyAnalysis, best: str) -> set[str]:
    """Return the systems that are told apart from the best."""
    return {
        name
        for pair in analysis.pairs
        for name in (pair.first, pair.second)
        if best in (pair.first, pair.second) and not cautions.open_(pair) and name != best
    }


def _kind(system: str, best: str, behind: set[str]) -> str:
    return "leader" if system == best else "behind" if system in behind else "level"


def _system(row: SystemScores, axis: Axis, kind: str) -> SystemLine:
    low, width = _bar(axis, row.very_relevant_ci)
    return SystemLine(
        system=row.system,
        kind=kind,
        value=amount(row.very_relevant),
        interval=amount(row.very_relevant, row.very_relevant_ci).partition(" ")[2],
        share=percent(row.share),
        score=amount(row.mean_score, row.mean_score_ci),
        bkr=with_bkr.value(row.bkr),
        at=axis.at(row.very_relevant),
        low=low,
        width=width,
    )


def pairs(analysis: StudyAnalysis) -> Pairs:
    """Return the pairs of systems, told of the better one."""
    found = ordered_pairs(analysis)
    held = [pair.ratio for pair in found if pair.ratio is not None]
    held += [end for pair in found if (ci := pair.ratio_ci) for end in (ci.low, ci.high)]
    axis = log_axis_for(held)
    lines = [_pair(analysis, pair, axis, several=len(found) > 1) for pair in found]
    beyond = any(line.beyond_low or line.beyond_high for line in lines)
    return Pairs(axis, axis.at(1.0), lines, len(found) > 1, beyond)


def _pair(analysis: StudyAnalysis, pair: PairDifference, axis: LogAxis, *, several: bool) -> PairLine:
    low, width = _bar(axis, pair.ratio_ci)
    value, _, interval = ratio(pair).partition(" ")
    ci = pair.ratio_ci
    return PairLine(
        first=pair.first,
        second=pair.second,
        kind="level" if cautions.open_(pair) else "leader",
        value=value,
        interval=interval,
        score=signed(pair.score_difference, pair.score_ci),
        won=f"{pair.wins}–{pair.ties}–{pair.losses}",
        win_rate=win_rate(pair),
        p=p_text(pair.p_adjusted if several else pair.p_permutation),
        outcome=cautions.outcome(analysis, pair),
        note=sentences.sentence(pair.ratio_note or "No ratio can be given"),
        added=pair.ratio is not None and bool(pair.ratio_note),
        at=None if pair.ratio is None else axis.at(pair.ratio),
        low=low,
        width=width,
        beyond_low=ci is not None and not axis.holds(ci.low),
        beyond_high=ci is not None and not axis.holds(ci.high),
    )


def scores(analysis: StudyAnalysis) -> list[Bar]:
    """Return each system's scores as a bar; none where it has no ratings."""
    return [_stacked(row, analysis.labels) for row in ranked(analysis) if sum(row.counts)]


def _stacked(row: SystemScores, labels: Sequence[str]) -> Bar:
    total, place, parts = sum(row.counts), 0, []
    for number, times in enumerate(row.counts, 1):
        name = labels[number - 1] if number <= len(labels) else str(number)
        told = f"{name}: {count(times)} ({percent(times / total)})"
        text = percent(times / total) if times / total >= LEAST_NAMED else ""
        if times:
            parts.append(
                Part(number, round(100 * place / total, 2), round(100 * times / total, 2), text, told)
            )
        place += times
    spoken = f"{row.system}: " + ", ".join(part.title for part in parts)
    return Bar(row.system, count(total), spoken, parts)


def _bar(axis: Axis | LogAxis, ci: Interval | None) -> tuple[float | None, float | None]:
    """Return where the bar of an interval begins and how wide it is."""
    if ci is None:
        return None, None
    low = axis.at(ci.low)
    return low, round(axis.at(ci.high) - low, 2)
