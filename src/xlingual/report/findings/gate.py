"""What would settle the open decisions of a gate."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xlingual.report import numbers, words
from xlingual.results.gate import PASS, UNDECIDED, Decision, Gate, Needed

_MOST = 20  # times as many queries as there are; more are nobody's plan


def part_name(decision: Decision) -> str:
    """Return the label of the slice or the language pair of a decision, or "all pairs"."""
    if decision.part is not None:
        return decision.part
    if decision.source is None or decision.target is None:
        return "all pairs"
    return words.pair(decision.source, decision.target)


def what_would_decide_all(gate: Gate) -> list[str]:
    """Return how many queries would settle the open decisions: those of one kind share a sentence."""
    kinds: dict[tuple[str, str] | int, list[Decision]] = {}
    for place, decision in enumerate(gate.decisions):
        if decision.outcome == UNDECIDED:
            kinds.setdefault(_kind(decision) or place, []).append(decision)
    return [" ".join(_sentences(gate, alike)) for alike in kinds.values() if _sentences(gate, alike)]


def what_would_decide(gate: Gate, decision: Decision) -> list[str]:
    """Return how many queries would settle an open decision."""
    return _sentences(gate, [decision])


def _kind(decision: Decision) -> tuple[str, str] | None:
    """Return what decisions that are said together have in common, None for one that is said alone."""
    observed, equal = decision.if_observed, decision.if_equal
    if observed is None or not observed.note:
        return None
    if observed.queries is None:
        return (observed.note, "") if equal and equal.note == observed.note else None
    return observed.note, observed.outcome


def _sentences(gate: Gate, alike: Sequence[Decision]) -> list[str]:
    """Return what would settle decisions of one kind; of one that is alone nothing is in common."""
    one, several = alike[0], len(gate.decisions) > 1
    pair = (gate.candidate, gate.baseline or "the baseline")
    values = [value for decision in alike for value in (decision.candidate, decision.baseline)]
    if (ceiling := words.ceiling(gate.measure, pair, values)) is not None:
        return [ceiling]
    begin = f"{numbers.in_words([part_name(own) for own in alike])}: " if several else ""
    given = f"{begin}if" if begin else "If"
    observed, equal = one.if_observed, one.if_equal
    if observed and observed.queries is not None and observed.note:
        return [_further(gate, given, alike)]
    if observed and equal and observed.queries is None and observed.note == equal.note:
        reason = f"{observed.note}, whether the true difference is as observed or zero."
        return [f"{begin}{reason if begin else reason[0].upper() + reason[1:]}"]
    seen = f"the true difference is {numbers.number(one.difference, digits=4)}, as observed,"
    supposed = ((observed, seen), (equal, "the two are truly equal,"))
    known = [(needed, what) for needed, what in supposed if needed is not None]
    if known and all(_futile(one, needed) for needed, _ in known):
        fewest = min((needed for needed, _ in known), key=lambda needed: needed.queries or 0)
        return [f"{begin}{_no_number(gate, one, fewest, bool(begin))}"]
    return [
        f"{given if not place else 'If'} {what} {_need(gate, one, needed)}"
        for place, (needed, what) in enumerate(known)
    ]


def _futile(decision: Decision, needed: Needed) -> bool:
    return needed.queries is not None and needed.queries > _MOST * decision.n_queries


def _no_number(gate: Gate, decision: Decision, needed: Needed, inside: bool) -> str:
    """Return that more queries will not settle it, and which margin the present ones do."""
    start = "more queries" if inside else "More queries"
    times = math.floor((needed.queries or 0) / decision.n_queries)
    return (
        f"{start} are not practical: {numbers.count(times)} times as many would be needed. The present "
        f"queries show that {gate.candidate} is no worse by more than {_margin(decision)}."
    )


def _margin(decision: Decision) -> str:
    """Return the least margin at which a decision would pass, of two digits and rounded up."""
    least = max(-decision.low, 0.0)
    if not least:
        return "0"
    digits = max(1 - math.floor(math.log10(least)), 0)
    return f"{math.ceil(round(least * 10**digits, 6)) / 10**digits:.{digits}f}"


def _further(gate: Gate, given: str, alike: Sequence[Decision]) -> str:
    """Return how many queries it takes where all further ones were like these."""
    needed = [one.if_observed for one in alike if one.if_observed is not None]
    queries, more = (
        _from_to([value or 0 for value in values])
        for values in ([one.queries for one in needed], [one.more for one in needed])
    )
    takes = f"{queries} queries{_each(gate)}, {more} more than there are, to {_shown(needed[0])}"
    return f"{given} {needed[0].note}, it takes {takes}."


def _from_to(values: Sequence[int]) -> str:
    low, high = numbers.count(min(values)), numbers.count(max(values))
    return low if low == high else f"{low} to {high}"


def _need(gate: Gate, decision: Decision, needed: Needed) -> str:
    chance = numbers.percent(gate.power)
    if needed.queries is None:
        return f"no number of queries can show it: {needed.note}."
    if _futile(decision, needed):
        return _no_number(gate, decision, needed, inside=True)
    queries = f"{numbers.count(needed.queries)} queries{_each(gate)}"
    if needed.more:
        more = numbers.count(needed.more)
        return f"it takes {queries}, {more} more than there are, to {_shown(needed)} in {chance} of samples."
    return f"{queries} would {_shown(needed)} in {chance} of samples, and there are already enough."


def _shown(needed: Needed) -> str:
    return "pass" if needed.outcome == PASS else "fail"


def _each(gate: Gate) -> str:
    return " in each language pair" if len(gate.pairs) > 1 and not gate.per_pair else ""
