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
    facts = [
        ("margin", f"{gate.margin:g}"),
        ("alpha", f"{gate.alpha:g}"),
        ("power", numbers.percent(gate.power)),
    ]
    return Page(
        kind="gate",
        title=title or f"May {gate.candidate} replace {gate.baseline}?",
        verdict=[Finding(findings(gate))],
        sections=[
            Section(name, [_table(gate), *(Prose(warning, where="terminal") for warning in gate.warnings)])
        ],
        facts=[("measure", name), *facts],
        warnings=gate.warnings,
        conditions=[(key, [value]) for key, value in gate.conditions.items()],
        methods=sorted({decision.ci.method for decision in gate.decisions}),
        names=[gate.candidate, gate.baseline],
    )


def _table(gate: Gate) -> Table:
    columns = (
        Column(gate.by or "pair", "name"),
        Column("outcome", "words"),
        *(Column(head) for head in ("candidate", "baseline", "difference", "lower end", "queries")),
    )
    rows = tuple(
        Row(
            (
                Cell(part_name(one)),
                Cell(one.outcome),
                Cell.of(one.candidate),
                Cell.of(one.baseline),
                difference(gate, one),
                Cell(exact(one.low, gate.margin), value=one.low),
                Cell(numbers.count(one.n_queries), value=one.n_queries),
            ),
            _TONES.get(one.outcome, "behind"),
        )
        for one in gate.decisions
    )
    return Table(
        "Decisions", columns, rows, titled=False, looks=narrower("queries", "lower end"), where="both"
    )


def summary(gate: Gate) -> str:
    """Return a summary in GitHub's Markdown; names are escaped."""
    mark = {PASS: "✅", FAIL: "❌", UNDECIDED: "⚠️"}[gate.outcome]
    return f"### {mark} xlingual gate: {gate.outcome}\n\n{markdown(page(gate))}"


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
        against = f"{gate.candidate} against {gate.baseline}, {task_of(gate.task).measure_name(gate.measure)}"
        names = {
            "classname": xml_text(f"xlingual.gate.{gate.task}"),
            "name": xml_text(visible(f"{part_name(decision)}: {against}")),  # an attribute is one line
        }
        case = SubElement(suite, "testcase", names)
        text = [evidence(gate, decision), *what_would_decide(gate, decision)]
        if decision.outcome != PASS:
            tag = "failure" if decision.outcome == FAIL else "error"
            message = {"message": xml_text(text[0]), "type": decision.outcome}
            SubElement(case, tag, message).text = xml_text("\n".join(text))
        else:
            SubElement(case, "system-out").text = xml_text("\n".join(text))
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"
