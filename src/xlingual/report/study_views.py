"""A study seen from its better systems, and how its numbers are written."""

from __future__ import annotations

import math

from msgspec.structs import replace

from xlingual.report import numbers
from xlingual.results import Interval
from xlingual.results.comparison import NO_DIFFERENCE
from xlingual.results.study import MoreNeeded, PairDifference, StudyAnalysis, SystemScores, WithBkr

DIGITS = 2  # of scores, and of suggestions per query
_DEFAULT = "Very relevant"


def ranked(analysis: StudyAnalysis) -> list[SystemScores]:
    """Return the systems, those with the most very relevant suggestions first."""
    return sorted(analysis.systems, key=lambda row: (-row.very_relevant, row.mean_score, row.system))


def ordered_pairs(analysis: StudyAnalysis) -> list[PairDifference]:
    """Return the pairs, each with its better system first, those of the best systems first."""
    place = {row.system: i for i, row in enumerate(ranked(analysis))}
    found = [better_first(pair) for pair in analysis.pairs]
    return sorted(found, key=lambda pair: (place.get(pair.first, 0), place.get(pair.second, 0)))


def with_bkr(analysis: StudyAnalysis) -> list[WithBkr]:
    """Return the comparisons with BkR in the order of the pairs, the system first that people prefer."""
    of = {frozenset((row.first, row.second)): row for row in analysis.bkr}
    found = [(of.get(frozenset((p.first, p.second))), p.first) for p in ordered_pairs(analysis)]
    return [row if row.first == first else _turned_bkr(row) for row, first in found if row is not None]


def needed_pairs(analysis: StudyAnalysis) -> list[tuple[MoreNeeded, PairDifference]]:
    """Return how much rating it takes, with the pair it is about."""
    of = {frozenset((row.first, row.second)): row for row in analysis.needed}
    found = [(of.get(frozenset((pair.first, pair.second))), pair) for pair in ordered_pairs(analysis)]
    return [(row, pair) for row, pair in found if row is not None]


def better_first(pair: PairDifference) -> PairDifference:
    """Return the same finding with the system first that has the better numbers."""
    if pair.outcome != NO_DIFFERENCE:
        turn = pair.outcome == "worse"
    elif pair.ratio is not None and pair.ratio != 1:
        turn = pair.ratio < 1
    else:
        turn = pair.score_difference > 0
    return turned(pair) if turn else pair


def turned(pair: PairDifference) -> PairDifference:
    """Return the same finding as the second system against the first."""
    over = pair.ratio_ci
    return replace(
        pair,
        first=pair.second,
        second=pair.first,
        ratio=None if pair.ratio is None else _over(pair.ratio),
        ratio_ci=None if over is None else replace(over, low=_over(over.high), high=_over(over.low)),
        score_difference=-pair.score_difference,
        score_ci=_less(pair.score_ci),
        wins=pair.losses,
        losses=pair.wins,
        win_rate=1 - pair.win_rate,
        win_ci=_less(pair.win_ci, 1),
        outcome={"better": "worse", "worse": "better"}.get(pair.outcome, pair.outcome),
    )


def _turned_bkr(row: WithBkr) -> WithBkr:
    ci = None if row.ci is None else _less(row.ci)
    return replace(row, first=row.second, second=row.first, difference=-row.difference, ci=ci)


def _less(ci: Interval, of: float = 0) -> Interval:
    """Return the interval of `of` less the value."""
    return replace(ci, low=of - ci.high, high=of - ci.low)


def _over(value: float) -> float:
    return 1 / value if value else math.inf


def times(value: float, digits: int = 0) -> str:
    """Return a ratio with two significant digits, with `digits` decimals where these are more.

    >>> times(2.13), times(0.43), times(12.6), times(1.02, 2), times(math.inf)
    ('2.1', '0.43', '13', '1.02', '∞')
    """
    if math.isinf(value):
        return "∞"
    own = 0 if value >= 9.95 else 1 if value >= 0.995 else 2 if value >= 0.005 or value == 0 else 4
    return numbers.number(value, digits=max(own, digits))


def ratio(pair: PairDifference) -> str:
    """Return "2.1 [1.3, 3.4]", with decimals enough to see on which side of 1 an end lies."""
    if pair.ratio is None:
        return numbers.MISSING
    ends = (pair.ratio_ci.low, pair.ratio_ci.high) if pair.ratio_ci else ()
    digits = numbers.digits_beside([pair.ratio, *ends], [1.0], 0)
    text, *around = (times(value, digits if digits > 1 else 0) for value in (pair.ratio, *ends))
    return f"{text} [{', '.join(around)}]" if around else text


def amount(value: float | None, ci: Interval | None = None) -> str:
    """Return "2.35 [1.90, 2.80]": a mean score, or suggestions per query."""
    ends = () if ci is None else (ci.low, ci.high)
    text, *around = (numbers.number(one, digits=DIGITS) for one in (value, *ends))
    return f"{text} [{', '.join(around)}]" if around else text


def signed(value: float, ci: Interval | None = None) -> str:
    """Return a difference of scores with its sign."""
    return numbers.signed(value, ci, digits=DIGITS)


def win_rate(pair: PairDifference) -> str:
    """Return "68 % [50 %, 83 %]"."""
    ends = f"[{numbers.percent(pair.win_ci.low)}, {numbers.percent(pair.win_ci.high)}]"
    return f"{numbers.percent(pair.win_rate)} {ends}"


def wanted(analysis: StudyAnalysis) -> str:
    """Return what a suggestion of the best score is called, as it stands before a noun."""
    best = analysis.labels[0] if analysis.labels else _DEFAULT
    return best.lower() if best == _DEFAULT else f"“{best}”"


def level(analysis: StudyAnalysis) -> str:
    """Return the level of the intervals: "95 %"."""
    return f"{100 * analysis.level:g} %"


def resampled(analysis: StudyAnalysis) -> str:
    """Return what the intervals are about."""
    return "queries and raters" if analysis.raters_resampled else "queries"
