"""What a gate decided, in sentences: the verdict, what it rests on, and what would decide."""

from __future__ import annotations

from xlingual.report import numbers, words
from xlingual.report.table import Cell
from xlingual.results.gate import FAIL, PASS, UNDECIDED, Decision, Gate, Needed
from xlingual.tasks import task_of

_WORD = {PASS: "PASS", FAIL: "FAIL", UNDECIDED: "CANNOT TELL"}


def findings(gate: Gate) -> list[str]:
    """Return the verdict, what it rests on, and what would decide where it cannot be told."""
    out = [_verdict(gate)]
    if len(gate.decisions) > 1:
        out.append(_counted(gate))
    else:
        out.append(evidence(gate, gate.decisions[0]))
    for decision in gate.decisions:
        if decision.outcome == UNDECIDED:
            out += what_would_decide(gate, decision)
    return out


def part_name(decision: Decision) -> str:
    """Return the label of the slice or the language pair of a decision, or "all pairs"."""
    if decision.part is not None:
        return decision.part
    if decision.source is None or decision.target is None:
        return "all pairs"
    return words.pair(decision.source, decision.target)


def _verdict(gate: Gate) -> str:
    name = task_of(gate.task).measure_name(gate.measure)
    margin = f"{gate.margin:g}"
    standard = "better than" if gate.margin == 0 else "no worse than"
    by = "" if gate.margin == 0 else f" by more than {margin}"
    head = f"{_WORD[gate.outcome]}: "
    every = f" in every {gate.by or 'language pair'}" if len(gate.decisions) > 1 else ""
    if gate.outcome == PASS:
        return f"{head}{gate.candidate} is {standard} {gate.baseline}{by} ({name}){every}.{_beside(gate)}"
    if gate.outcome == FAIL:
        failed = [part_name(d) for d in gate.decisions if d.outcome == FAIL]
        where = f" in {numbers.in_words(failed)}" if every else ""
        worse = " is worse than" if gate.margin == 0 else f" is worse by more than {margin} than"
        return f"{head}{gate.candidate}{worse} {gate.baseline}{where} ({name})."
    open_pairs = [part_name(d) for d in gate.decisions if d.outcome == UNDECIDED]
    where = f" in {numbers.in_words(open_pairs)}" if every else ""
    return (
        f"{head}these queries do not show whether {gate.candidate} is {standard} {gate.baseline}{by}{where} "
        f"({name})."
    )


def _beside(gate: Gate) -> str:
    """Return what else is known of a candidate that passes: that it is better, or a little worse."""
    better = [part_name(d) for d in gate.decisions if d.better]
    worse = [part_name(d) for d in gate.decisions if d.worse]
    one = len(gate.decisions) == 1
    out = ""
    if better and gate.margin > 0:
        out += " It is in fact better." if one else f" It is in fact better in {numbers.in_words(better)}."
    if worse:
        where = "" if one else f" in {numbers.in_words(worse)}"
        out += f" It is worse{where}, but by less than the margin."
    return out


def _counted(gate: Gate) -> str:
    outcomes = [decision.outcome for decision in gate.decisions]
    said = [f"{outcomes.count(o)} {o}" for o in (PASS, FAIL, UNDECIDED) if o in outcomes]
    parts = "language pairs" if gate.by is None else f"slices by {gate.by}"
    return (
        f"Of {len(outcomes)} {parts}: {numbers.in_words(said)}. All must pass, so passing needs no "
        "correction for their number; failing is corrected after Holm."
    )


def evidence(gate: Gate, decision: Decision) -> str:
    """Return what a decision rests on."""
    level = f"{100 * (1 - gate.alpha):g} %"
    low = exact(decision.low, gate.margin)
    bound = _bound(gate)
    side = {PASS: "above", FAIL: "below", UNDECIDED: "not above"}[decision.outcome]
    if decision.outcome == FAIL:
        p = decision.p_fail_adjusted
        corrected = " after Holm's correction" if len(gate.decisions) > 1 else ""
        proof = f"that it is below {bound} has {numbers.p_sentence(p)}{corrected}"
    else:
        proof = f"with {level} confidence it is at least {low}, {side} {bound}"
    if decision.note:
        proof = f"{decision.note}: nothing can be told"
    return (
        f"Candidate {numbers.number(decision.candidate)}, baseline {numbers.number(decision.baseline)}: "
        f"difference {difference(gate, decision).plain}; {proof} "
        f"({_queries(gate, decision)})."
    )


def what_would_decide(gate: Gate, decision: Decision) -> list[str]:
    """Return how many queries would decide what cannot be told."""
    several = len(gate.decisions) > 1
    where = f"{part_name(decision)}: if" if several else "If"
    observed, equal = decision.if_observed, decision.if_equal
    if observed and observed.queries is not None and observed.note:
        return [f"{where} {observed.note}, it takes {_how_many(gate, observed)}."]
    if observed and equal and observed.queries is None and observed.note == equal.note:
        begin = f"{part_name(decision)}: " if several else ""
        reason = f"{observed.note}, be the difference as observed or zero."
        return [f"{begin}{reason if several else reason[0].upper() + reason[1:]}"]
    out = []
    for needed, what in (
        (observed, f"it really is {numbers.number(decision.difference, digits=4)}, as observed,"),
        (equal, "the two are in truth equal,"),
    ):
        if needed is not None:
            out.append(f"{where} {what} {_need(gate, needed)}")
    return out


def _need(gate: Gate, needed: Needed) -> str:
    shown = "pass" if needed.outcome == PASS else "fail"
    if needed.queries is None:
        return f"there is no way to tell: {needed.note}."
    chance = numbers.percent(gate.power)
    if not needed.more:
        total = numbers.count(needed.queries)
        enough = f"{total} queries{_each(gate)} would {shown} in {chance} of samples"
        return f"{enough}, and there are as many already."
    return f"it takes {_how_many(gate, needed)} in {chance} of samples."


def _how_many(gate: Gate, needed: Needed) -> str:
    shown = "pass" if needed.outcome == PASS else "fail"
    total, more = numbers.count(needed.queries or 0), numbers.count(needed.more or 0)
    return f"{total} queries{_each(gate)}, {more} more than there are, to {shown}"


def _each(gate: Gate) -> str:
    return " in each language pair" if len(gate.pairs) > 1 and not gate.per_pair else ""


def _queries(gate: Gate, decision: Decision) -> str:
    text = f"{numbers.count(decision.n_queries)} queries"
    if len(gate.pairs) > 1 and decision.source is None:
        text += f" in each of {len(gate.pairs)} language pairs"
    return text + (f", {gate.n_seeds} seeds" if gate.n_seeds > 1 else "")


def exact(low: float, margin: float) -> str:
    """Return the lower end with enough decimals to see on which side of zero and of the margin it lies."""
    return numbers.number(low, digits=numbers.digits_beside([low], [0.0, -margin]))


def difference(gate: Gate, decision: Decision) -> Cell:
    """Return the difference; its ends are seen to be on their side of zero and of the margin."""
    return Cell.difference(decision.difference, decision.ci, marks=(0.0, -gate.margin))


def _bound(gate: Gate) -> str:
    """Return what the difference is compared with: minus the margin."""
    return f"−{gate.margin:g}" if gate.margin > 0 else "0"
