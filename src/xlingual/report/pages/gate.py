"""The page of a gate with its verdict in sentences, its summary for GitHub Actions, and JUnit XML."""

from __future__ import annotations

from dataclasses import replace

from xlingual.report import numbers, words
from xlingual.report.blocks import Finding, Page, Prose, Section
from xlingual.report.findings.gate import part_name, what_would_decide, what_would_decide_all
from xlingual.report.markup import xml_text
from xlingual.report.render.text import markdown
from xlingual.report.table import Cell, Column, Row, Table, narrower
from xlingual.results.gate import FAIL, PASS, UNDECIDED, Decision, Gate
from xlingual.tasks import task_of
from xlingual.visible import visible

_WORD = {PASS: "PASS", FAIL: "FAIL", UNDECIDED: "CANNOT TELL"}
_FAILURES = 4  # that the verdict names; the table has all
_TONES = {PASS: "leader", UNDECIDED: "level"}


def page(gate: Gate, *, title: str | None = None) -> Page:
    """Return the page of a gate: the verdict, and a row for each decision."""
    name = task_of(gate.task).measure_name(gate.measure)
    facts = {"margin": f"{gate.margin:g}", "alpha": f"{gate.alpha:g}", "power": numbers.percent(gate.power)}
    warnings = [Prose(warning, where="terminal") for warning in gate.warnings if not gate.first]
    open_parts = what_would_decide_all(gate) if len(gate.decisions) > 1 else []
    needs = [Prose(sentence, "note-line", where="both") for sentence in open_parts]
    return Page(
        kind="gate",
        title=title or f"May {gate.candidate} {f'replace {gate.baseline}' if gate.baseline else 'be used'}?",
        verdict=[Finding(findings(gate))],
        sections=[Section(name, [*([] if gate.first else [_table(gate)]), *needs, *warnings])],
        facts=[("measure", name), *facts.items()],
        about=words.explained((gate.task, gate.measure)),
        warnings=gate.warnings,
        conditions=[(key, [value]) for key, value in gate.conditions.items()],
        methods=sorted({decision.ci.method for decision in gate.decisions}),
        names=[gate.candidate, *filter(None, [gate.baseline])],
    )


def _table(gate: Gate) -> Table:
    heads = ("candidate", "baseline", "difference", "lower end", "queries")
    task = task_of(gate.task)
    part = gate.by or (task.row if task.whole else "pair")
    columns = (Column(part, "name"), Column("outcome", "words"), *map(Column, heads))
    rows = []
    for one in gate.decisions:
        values = (Cell.of(one.candidate), Cell.of(one.baseline), difference(gate, one))
        low = Cell(exact(one.low, gate.margin), value=one.low)
        cells = (Cell(part_name(one)), Cell(one.outcome), *values, low, Cell.count(one.n_queries))
        rows.append(Row(cells, _TONES.get(one.outcome, "behind")))
    whole, stacked, *less = narrower("queries", "lower end")
    looks = (whole, stacked, replace(stacked, heads=8), *less)  # 80 columns have room for all
    return Table("Decisions", columns, tuple(rows), titled=False, looks=looks, where="both")


def summary(gate: Gate) -> str:
    """Return a summary in GitHub's Markdown; names are escaped."""
    mark = {PASS: "✅", FAIL: "❌", UNDECIDED: "⚠️"}[gate.outcome]
    return f"### {mark} xlingual gate: {gate.outcome}\n\n{markdown(page(gate))}"


def junit(gate: Gate) -> str:
    """Return JUnit XML with one test case for each decision.

    An open decision is an `error`, not `skipped`: CI systems show skipped tests as no problem.
    """
    from xml.etree.ElementTree import Element, SubElement, tostring

    outcomes = [decision.outcome for decision in gate.decisions]
    failures, errors = (str(outcomes.count(one)) for one in (FAIL, UNDECIDED))
    counts = {"tests": str(len(outcomes) or 1), "failures": failures, "errors": errors, "skipped": "0"}
    root = Element("testsuites", counts)
    suite = SubElement(root, "testsuite", {"name": "xlingual gate", **counts})
    against = f"{gate.candidate} against {gate.baseline}, {task_of(gate.task).measure_name(gate.measure)}"
    for decision in gate.decisions:
        name = visible(f"{part_name(decision)}: {against}")  # an attribute is one line
        names = {"classname": xml_text(f"xlingual.gate.{gate.task}"), "name": xml_text(name)}
        case = SubElement(suite, "testcase", names)
        text = [evidence(gate, decision), *what_would_decide(gate, decision)]
        if decision.outcome == PASS:
            output = SubElement(case, "system-out")
        else:
            message = {"message": xml_text(text[0]), "type": decision.outcome}
            output = SubElement(case, "failure" if decision.outcome == FAIL else "error", message)
        output.text = xml_text("\n".join(text))
    if gate.first:
        names = {"classname": xml_text(f"xlingual.gate.{gate.task}"), "name": "first run"}
        SubElement(SubElement(suite, "testcase", names), "system-out").text = xml_text(
            "\n".join(findings(gate))
        )
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def findings(gate: Gate) -> list[str]:
    """Return the verdict and its evidence; of one open decision also how many queries would decide."""
    if gate.first:
        name = task_of(gate.task).measure_name(gate.measure)
        return [
            f"{_WORD[gate.outcome]}: {gate.candidate} is the first run on these conditions ({name}), so "
            "there is no run to compare it with.",
            *gate.warnings,
        ]
    several = len(gate.decisions) > 1
    out = [*_order(gate), _verdict(gate), _counted(gate) if several else evidence(gate, gate.decisions[0])]
    return out if several else out + what_would_decide_all(gate)


def _order(gate: Gate) -> list[str]:
    """Return which candidates of a fixed order pass, and where it stops."""
    if not gate.in_order:
        return []
    passed = [one.candidate for one in gate.in_order if one.outcome == PASS]
    stop = next((one for one in gate.in_order if one.outcome != PASS), None)
    sentence = f"In the given order {numbers.in_words(passed)} {'passes' if len(passed) == 1 else 'pass'}"
    if not passed:
        sentence = "No candidate passes"
    if stop is None:
        return [f"{sentence}: no candidate is left."]
    low = exact(stop.low, gate.margin)
    why = {FAIL: "fails", UNDECIDED: "cannot be told to pass"}[stop.outcome]
    return [f"{sentence}: {stop.candidate} {why} (lower end {low}), and nothing after it is tested."]


def _verdict(gate: Gate) -> str:
    name, several = task_of(gate.task).measure_name(gate.measure), len(gate.decisions) > 1
    by = f" by more than {gate.margin:g}" if gate.margin else ""
    standard = f"{'no worse' if gate.margin else 'better'} than {gate.baseline}{by}"
    head = f"{_WORD[gate.outcome]}: "
    if all(one.same_system for one in gate.decisions):
        return f"{head}nothing changed: {gate.candidate} and {gate.baseline} are the same system ({name})."
    if gate.outcome == PASS:
        every = f" in every {gate.by or 'language pair'}" if several else ""
        return f"{head}{gate.candidate} is {standard} ({name}){every}.{_beside(gate)}"
    parts = [part_name(one) for one in gate.decisions if one.outcome == gate.outcome]
    where = f" in {numbers.in_words(parts)}" if several else ""
    if gate.outcome == FAIL:
        return f"{head}{gate.candidate} is worse{by} than {gate.baseline}{where} ({name}){_losses(gate)}."
    return f"{head}these queries do not show whether {gate.candidate} is {standard}{where} ({name})."


def _losses(gate: Gate) -> str:
    """Return how much worse the parts that fail are, of many the one that lost most."""
    failed = [one for one in gate.decisions if one.outcome == FAIL]
    if len(gate.decisions) == 1:
        return ""
    if len(failed) <= _FAILURES:
        return f": {numbers.in_words([difference(gate, one).plain for one in failed])}"
    worst = min(failed, key=lambda one: one.difference)
    return f": most in {part_name(worst)}, {difference(gate, worst).plain}"


def _beside(gate: Gate) -> str:
    """Return whether a candidate that passes is better, or worse within the margin."""

    def where(parts: list[str]) -> str:
        return f" in {numbers.in_words(parts)}" if len(gate.decisions) > 1 else ""

    better = [part_name(one) for one in gate.decisions if one.better]
    worse = [part_name(one) for one in gate.decisions if one.worse]
    out = f" It is in fact better{where(better)}." if better and gate.margin else ""
    return out + (f" It is worse{where(worse)}, but by less than the margin." if worse else "")


def _counted(gate: Gate) -> str:
    outcomes = [decision.outcome for decision in gate.decisions]
    counts = [f"{outcomes.count(o)} {o}" for o in (PASS, FAIL, UNDECIDED) if o in outcomes]
    parts = "language pairs" if gate.by is None else f"slices by {gate.by}"
    return (
        f"Of {len(outcomes)} {parts}: {numbers.in_words(counts)}. All must pass, so a pass needs no "
        "correction for their number; a fail is corrected (Holm)."
    )


def evidence(gate: Gate, decision: Decision) -> str:
    """Return the evidence of a decision."""
    bound = f"−{gate.margin:g}" if gate.margin else "0"  # what the difference is compared with
    if decision.same_system:
        proof = "both are the same system, so all queries have equal values"
    elif decision.note:
        proof = f"{decision.note}: no decision is possible"
    elif decision.outcome == FAIL:
        corrected = " after Holm's correction" if len(gate.decisions) > 1 else ""
        proof = f"that it is below {bound} has {numbers.p_sentence(decision.p_fail_adjusted)}{corrected}"
    else:
        side = "above" if decision.outcome == PASS else "not above"
        low, level = exact(decision.low, gate.margin), f"{100 * (1 - gate.alpha):g} %"
        proof = f"with {level} confidence it is at least {low}, {side} {bound}"
    rest = f"{numbers.count(decision.n_queries)} queries"
    if len(gate.pairs) > 1 and decision.source is None:
        rest += f" in each of {len(gate.pairs)} language pairs"
    rest += f", {gate.n_seeds} seeds" if gate.n_seeds > 1 else ""
    return (
        f"Candidate {numbers.number(decision.candidate)}, baseline {numbers.number(decision.baseline)}: "
        f"difference {difference(gate, decision).plain}; {proof} ({rest})."
    )


def exact(low: float, margin: float) -> str:
    """Return the lower end with enough decimals to see on which side of zero and of the margin it lies."""
    return numbers.number(low, digits=numbers.digits_beside([low], [0.0, -margin]))


def difference(gate: Gate, decision: Decision) -> Cell:
    """Return the difference; its ends are seen to be on their side of zero and of the margin."""
    return Cell.difference(decision.difference, decision.ci, marks=(0.0, -gate.margin))
