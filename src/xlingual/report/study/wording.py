"""How a study's numbers are written."""

from __future__ import annotations

import math

from xlingual.report import numbers
from xlingual.results import Interval
from xlingual.results.comparison import NO_DIFFERENCE
from xlingual.results.study import PairDifference, StudyAnalysis, SystemScores

DIGITS = 2  # of scores, and of suggestions per query
_DEFAULT = "Very relevant"


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
    ci = pair.ratio_ci
    digits = numbers.digits_beside([pair.ratio, *((ci.low, ci.high) if ci else ())], [1.0], 0)
    digits = digits if digits > 1 else 0
    ends = "" if ci is None else f" [{times(ci.low, digits)}, {times(ci.high, digits)}]"
    return times(pair.ratio, digits) + ends


def amount(value: float | None, ci: Interval | None = None) -> str:
    """Return "2.35 [1.90, 2.80]": a mean score, or suggestions per query."""
    text = numbers.number(value, digits=DIGITS)
    return text if ci is None else f"{text} [{_two(ci.low)}, {_two(ci.high)}]"


def signed(value: float, ci: Interval | None = None, digits: int = DIGITS) -> str:
    """Return a difference with its sign, with decimals enough to see on which side of 0 an end lies.

    >>> signed(0.5, Interval(0.004, 1.0, 0.95, "")), signed(-0.2), signed(0.0)
    ('+0.500 [+0.004, +1.000]', '−0.20', '0.00')
    """
    digits = numbers.digits_beside(() if ci is None else (ci.low, ci.high), [0.0], digits)
    texts = [_sign(one, digits) for one in ((value,) if ci is None else (value, ci.low, ci.high))]
    return texts[0] if ci is None else f"{texts[0]} [{texts[1]}, {texts[2]}]"


def win_rate(pair: PairDifference) -> str:
    """Return "68 % [50 %, 83 %]"."""
    ends = f"[{numbers.percent(pair.win_ci.low)}, {numbers.percent(pair.win_ci.high)}]"
    return f"{numbers.percent(pair.win_rate)} {ends}"


def p_text(p: float) -> str:
    """Return a p-value: "< .001", ".034", "1"."""
    return "< .001" if p < 0.001 else "1" if round(p, 3) >= 1 else f"{p:.3f}"[1:]


def p_is(p: float) -> str:
    """Return "p = .034", "p < .001"."""
    text = p_text(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def wanted(analysis: StudyAnalysis) -> str:
    """Return what a suggestion of the best score is called, as it stands before a noun."""
    best = analysis.labels[0] if analysis.labels else _DEFAULT
    return best.lower() if best == _DEFAULT else f"“{best}”"


def level(analysis: StudyAnalysis) -> str:
    """Return the level of the intervals: "95 %"."""
    return f"{100 * analysis.level:g} %"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return "1 query", "2 queries"."""
    return f"{numbers.count(number)} {one if number == 1 else many or one + 's'}"


def better_first(pair: PairDifference) -> PairDifference:
    """Return the same finding with the system first that has the better numbers."""
    if pair.outcome != NO_DIFFERENCE:
        turn = pair.outcome == "worse"
    elif pair.ratio is not None and pair.ratio != 1:
        turn = pair.ratio < 1
    else:
        turn = pair.score_difference > 0
    return turned(pair) if turn else pair


def ranked(analysis: StudyAnalysis) -> list[SystemScores]:
    """Return the systems, those with the most very relevant suggestions first."""
    return sorted(analysis.systems, key=lambda row: (-row.very_relevant, row.mean_score, row.system))


def ordered_pairs(analysis: StudyAnalysis) -> list[PairDifference]:
    """Return the pairs, each told of its better system, those of the best systems first."""
    place = {row.system: i for i, row in enumerate(ranked(analysis))}
    found = [better_first(pair) for pair in analysis.pairs]
    return sorted(found, key=lambda pair: (place.get(pair.first, 0), place.get(pair.second, 0)))


def turned(pair: PairDifference) -> PairDifference:
    """Return the same finding told of the second system against the first."""
    outcome = {"better": "worse", "worse": "better"}.get(pair.outcome, pair.outcome)
    return PairDifference(
        first=pair.second,
        second=pair.first,
        ratio=None if pair.ratio is None else _over(pair.ratio),
        ratio_ci=None if pair.ratio_ci is None else _mirrored(pair.ratio_ci, "over"),
        score_difference=-pair.score_difference,
        score_ci=_mirrored(pair.score_ci, "minus"),
        wins=pair.losses,
        ties=pair.ties,
        losses=pair.wins,
        win_rate=1 - pair.win_rate,
        win_ci=_mirrored(pair.win_ci, "share"),
        p_permutation=pair.p_permutation,
        p_score=pair.p_score,
        p_adjusted=pair.p_adjusted,
        outcome=outcome,
        ratio_note=pair.ratio_note,
    )


def minus(ci: Interval) -> Interval:
    """Return the interval of a difference told the other way round."""
    return _mirrored(ci, "minus")


def _mirrored(ci: Interval, how: str) -> Interval:
    low, high = ci.high, ci.low
    if how == "over":
        return Interval(_over(low), _over(high), ci.level, ci.method)
    of = 1 if how == "share" else 0
    return Interval(of - low, of - high, ci.level, ci.method)


def _over(value: float) -> float:
    return 1 / value if value else math.inf


def _two(value: float) -> str:
    return numbers.number(value, digits=DIGITS)


def _sign(value: float, digits: int) -> str:
    text = numbers.number(value, digits=digits)
    return f"+{text}" if value > 0 and any(digit in "123456789" for digit in text) else text
