"""A study with its better systems first, and how its numbers are written."""

from __future__ import annotations

import math

from msgspec.structs import replace

from xlingual.report import numbers
from xlingual.results import Interval
from xlingual.results.comparison import NO_DIFFERENCE
from xlingual.results.study import PairDifference, StudyAnalysis, SystemScores, WithBkr

DIGITS = 2  # of scores, and of suggestions per query
_DEFAULT = "Very relevant"


def ranked(analysis: StudyAnalysis) -> list[SystemScores]:
    """Return the systems, those with the most very relevant suggestions first."""
    return sorted(analysis.systems, key=lambda row: (-row.very_relevant, row.mean_score, row.system))


def ordered_pairs(analysis: StudyAnalysis) -> list[PairDifference]:
    """Return the pairs, each with its better system first, those of the best systems first."""
    place = {row.system: i for i, row in enumerate(ranked(analysis))}
    return sorted(map(better_first, analysis.pairs), key=lambda pair: (place[pair.first], place[pair.second]))


def with_bkr(analysis: StudyAnalysis) -> list[WithBkr]:
    """Return the comparisons with BkR in the order of the pairs, the system first that people prefer."""
    rows = {frozenset((row.first, row.second)): row for row in analysis.bkr}
    pairs = [(rows.get(frozenset((pair.first, pair.second))), pair) for pair in ordered_pairs(analysis)]
    return [row if row.first == pair.first else _turned_bkr(row) for row, pair in pairs if row is not None]


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
        ratio=None if pair.ratio is None else _reciprocal(pair.ratio),
        ratio_ci=None
        if over is None
        else replace(over, low=_reciprocal(over.high), high=_reciprocal(over.low)),
        score_difference=-pair.score_difference,
        score_ci=_subtracted(pair.score_ci),
        wins=pair.losses,
        losses=pair.wins,
        win_rate=1 - pair.win_rate,
        win_ci=_subtracted(pair.win_ci, 1),
        outcome={"better": "worse", "worse": "better"}.get(pair.outcome, pair.outcome),
    )


def _turned_bkr(row: WithBkr) -> WithBkr:
    ci = None if row.ci is None else _subtracted(row.ci)
    return replace(row, first=row.second, second=row.first, difference=-row.difference, ci=ci)


def _subtracted(ci: Interval, total: float = 0) -> Interval:
    """Return the interval of `total` less the value."""
    return replace(ci, low=total - ci.high, high=total - ci.low)


def _reciprocal(value: float) -> float:
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
    digits = numbers.digits_beside([pair.ratio, *numbers.ends(pair.ratio_ci)], [1.0], 0)
    return numbers.bracketed(lambda one: times(one, digits if digits > 1 else 0), pair.ratio, pair.ratio_ci)


def amount(value: float, ci: Interval | None = None) -> str:
    """Return "2.35 [1.90, 2.80]": a mean score, or suggestions per query."""
    return numbers.fixed(value, ci, digits=DIGITS)


def signed(value: float, ci: Interval | None = None) -> str:
    """Return a difference of scores with its sign."""
    return numbers.signed(value, ci, digits=DIGITS)


def win_rate(pair: PairDifference) -> str:
    """Return "68 % [50 %, 83 %]"."""
    return numbers.bracketed(numbers.percent, pair.win_rate, pair.win_ci)


def best_label(analysis: StudyAnalysis) -> str:
    """Return the name of the best score as an adjective: "very relevant"."""
    best = analysis.labels[0]
    return best.lower() if best == _DEFAULT else f"“{best}”"


def level(analysis: StudyAnalysis) -> str:
    """Return the level of the intervals: "95 %"."""
    return f"{100 * analysis.level:g} %"


def resampled(analysis: StudyAnalysis) -> str:
    """Return what was resampled for the intervals."""
    return "queries and raters" if analysis.raters_resampled else "queries"
