"""A gate as sentences, as Markdown for a CI's summary, and as JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers, words
from xlingual.report.markup import markdown_text, xml_text
from xlingual.results.gate import FAIL, PASS, UNDECIDED, Decision, Gate, Needed
from xlingual.visible import visible

_WORD = {PASS: "PASS", FAIL: "FAIL", UNDECIDED: "CANNOT TELL"}


def sentences(gate: Gate) -> list[str]:
    """Return the verdict, what it rests on, and what would decide where it cannot be told."""
    out = [_verdict(gate)]
    if len(gate.decisions) > 1:
        out.append(_counted(gate))
    else:
        out.append(_evidence(gate, gate.decisions[0]))
    for decision in gate.decisions:
        if decision.outcome == UNDECIDED:
            out += _what_would_decide(gate, decision)
    return out


def part_name(decision: Decision) -> str:
    """Return the label of the slice or the language pair of a decision, or "all pairs"."""
    if decision.part is not None:
        return decision.part
    if decision.source is None or decision.target is None:
        return "all pairs"
    return words.pair(decision.source, decision.target)


def cells(gate: Gate, decision: Decision) -> list[str]:
    """Return a row of the table: pair or label, outcome, both values, difference, lower end, queries."""
    return [
        part_name(decision),
        decision.outcome,
        numbers.number(decision.candidate),
        numbers.number(decision.baseline),
        _difference(gate, decision),
        _exact(decision.low, gate.margin),
        numbers.count(decision.n_queries),
    ]


def header(gate: Gate) -> tuple[str, ...]:
    """Return the heads of the table's columns."""
    return gate.by or "pair", "outcome", "candidate", "baseline", "difference", "lower end", "queries"


def markdown(gate: Gate) -> str:
    """Return a summary in GitHub's Markdown; names are escaped."""
    mark = {PASS: "✅", FAIL: "❌", UNDECIDED: "⚠️"}[gate.outcome]
    said = [markdown_text(sentence) for sentence in sentences(gate)]
    lines = [f"### {mark} xlingual gate: {gate.outcome}", "", said[0], ""]
    lines += ["| " + " | ".join(map(markdown_text, header(gate))) + " |", "|---|---|--:|--:|--:|--:|--:|"]
    for decision in gate.decisions:
        lines.append("| " + " | ".join(markdown_text(cell) for cell in cells(gate, decision)) + " |")
    lines += ["", *(f"{sentence}\n" for sentence in [*said[1:], *map(markdown_text, gate.warnings)])]
    return "\n".join(lines)


def junit(gate: Gate) -> str:
    """Return JUnit XML with one test case for each decision.

    What cannot be told is an `error`, not `skipped`: CI systems show skipped tests as no problem.
    """
    from xml.etree.ElementTree import Element, SubElement, tostring

    outcomes = [decision.outcome for decision in gate.decisions]
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count(FAIL)),
        "errors": str(outcomes.count(UNDECIDED)),
        "skipped": "0",
    }
    root = Element("testsuites", counts)
    suite = SubElement(root, "testsuite", {"name": "xlingual gate", **counts})
    for decision in gate.decisions:
        against = f"{gate.candidate} against {gate.baseline}, {words.measure_name(gate.task, gate.measure)}"
        names = {
            "classname": xml_text(f"xlingual.gate.{gate.task}"),
            "name": xml_text(visible(_case(decision, against))),  # an attribute is one line
        }
        case = SubElement(suite, "testcase", names)
        text = [_evidence(gate, decision), *_what_would_decide(gate, decision)]
        if decision.outcome != PASS:
            tag = "failure" if decision.outcome == FAIL else "error"
            message = {"message": xml_text(text[0]), "type": decision.outcome}
            SubElement(case, tag, message).text = xml_text("\n".join(text))
        else:
            SubElement(case, "system-out").text = xml_text("\n".join(text))
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _verdict(gate: Gate) -> str:
    name = words.measure_name(gate.task, gate.measure)
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


def _evidence(gate: Gate, decision: Decision) -> str:
    level = f"{100 * (1 - gate.alpha):g} %"
    low = _exact(decision.low, gate.margin)
    bound = _bound(gate)
    side = {PASS: "above", FAIL: "below", UNDECIDED: "not above"}[decision.outcome]
    if decision.outcome == FAIL:
        p = decision.p_fail_adjusted
        corrected = " after Holm's correction" if len(gate.decisions) > 1 else ""
        proof = f"that it is below {bound} has p = {_p(p)}{corrected}"
    else:
        proof = f"with {level} confidence it is at least {low}, {side} {bound}"
    if decision.note:
        proof = f"{decision.note}: nothing can be told"
    return (
        f"Candidate {numbers.number(decision.candidate)}, baseline {numbers.number(decision.baseline)}: "
        f"difference {_difference(gate, decision)}; {proof} "
        f"({_queries(gate, decision)})."
    )


def _what_would_decide(gate: Gate, decision: Decision) -> list[str]:
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


def _case(decision: Decision, against: str) -> str:
    return f"{part_name(decision)}: {against}"


def _exact(low: float, margin: float) -> str:
    """Return the lower end with enough decimals to see on which side of zero and of the margin it lies."""
    return numbers.number(low, digits=numbers.digits_beside([low], [0.0, -margin]))


def _difference(gate: Gate, decision: Decision) -> str:
    return numbers.difference(decision.difference, decision.ci, marks=(0.0, -gate.margin))


def _bound(gate: Gate) -> str:
    """Return what the difference is held against: minus the margin."""
    return f"−{gate.margin:g}" if gate.margin > 0 else "0"


def _p(p: float) -> str:
    return f"{p:.2g}" if p >= 1e-4 else "under 0.0001"


def rows(gate: Gate) -> Sequence[list[str]]:
    """Return the table, one row for each decision."""
    return [cells(gate, decision) for decision in gate.decisions]
