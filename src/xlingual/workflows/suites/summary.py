"""What a suite found, gathered from the folders of its steps."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from xlingual.report import leaders, verdict
from xlingual.results import Results
from xlingual.results.comparison import Comparison
from xlingual.results.gate import Gate
from xlingual.results.suite import Compared, Evaluated, Gated, Headline, Suite
from xlingual.workflows.suites import reading
from xlingual.workflows.suites.reading import Step

RECORDS: dict[str, Any] = {"evaluate": Results, "compare": Comparison, "gate": Gate}


def summary(suite: reading.Suite, done: Iterable[Step]) -> Suite:
    """Return the record of a suite, of the steps that are done."""
    finished = {step.name for step in done}
    parts: dict[str, list[Any]] = {kind: [] for kind in RECORDS}
    for step in suite.steps:
        if step.name in finished:
            parts[step.kind].append(part_of(step, suite.out))
    return Suite(
        title=suite.title,
        evaluations=parts["evaluate"],
        comparisons=parts["compare"],
        gates=parts["gate"],
        absent=[step.name for step in suite.steps if step.name not in finished],
    )


def part_of(step: Step, out: Path) -> Evaluated | Compared:
    """Return what a finished step found."""
    found = RECORDS[step.kind].read(step.folder)
    where = (step.data, step.task, step.folder.relative_to(out).as_posix(), verdict(found))
    if isinstance(found, Gate):
        return Gated(*where, name=step.label, outcome=found.outcome)
    if isinstance(found, Comparison):
        return Compared(*where, name=step.label)
    (task, *_) = leaders.tasks([found])
    measure = leaders.measures([found], task)[0]
    rows = [
        Headline(row.label, row.value, row.ci, row.standing)
        for row in leaders.leaderboard(found, task, measure)
    ]
    return Evaluated(*where, kind=task, measure=measure, numbers=rows)
