"""The page of a gate, its summary for GitHub Actions, and JUnit XML."""

from __future__ import annotations

from xlingual.report import numbers
from xlingual.report.blocks import Finding, Page, Prose, Section
from xlingual.report.findings.gate import difference, evidence, exact, findings, part_name, what_would_decide
from xlingual.report.markup import xml_text
from xlingual.report.render.text import markdown
from xlingual.report.table import Cell, Column, Row, Table, narrower
from xlingual.results.gate import FAIL, PASS, UNDECIDED, Gate
from xlingual.tasks import task_of
from xlingual.visible import visible

_TONES = {PASS: "leader", UNDECIDED: "level"}


def page(gate: Gate, *, title: str | None = None) -> Page:
    """Return the page of a gate: the verdict, and a row for each decision."""
    name = task_of(gate.task).measure_name(gate.measure)
    facts = {"margin": f"{gate.margin:g}", "alpha": f"{gate.alpha:g}", "power": numbers.percent(gate.power)}
    warnings = [Prose(warning, where="terminal") for warning in gate.warnings]
    return Page(
        kind="gate",
        title=title or f"May {gate.candidate} replace {gate.baseline}?",
        verdict=[Finding(findings(gate))],
        sections=[Section(name, [_table(gate), *warnings])],
        facts=[("measure", name), *facts.items()],
        warnings=gate.warnings,
        conditions=[(key, [value]) for key, value in gate.conditions.items()],
        methods=sorted({decision.ci.method for decision in gate.decisions}),
        names=[gate.candidate, gate.baseline],
    )


def _table(gate: Gate) -> Table:
    heads = ("candidate", "baseline", "difference", "lower end", "queries")
    columns = (Column(gate.by or "pair", "name"), Column("outcome", "words"), *map(Column, heads))
    rows = []
    for one in gate.decisions:
        values = (Cell.of(one.candidate), Cell.of(one.baseline), difference(gate, one))
        low = Cell(exact(one.low, gate.margin), value=one.low)
        cells = (Cell(part_name(one)), Cell(one.outcome), *values, low, Cell.count(one.n_queries))
        rows.append(Row(cells, _TONES.get(one.outcome, "behind")))
    looks = narrower("queries", "lower end")
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
    counts = {"tests": str(len(outcomes)), "failures": failures, "errors": errors, "skipped": "0"}
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
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"
