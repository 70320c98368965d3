"""What a check lists: each kind of thing that is wrong or deserves a look, once, with how often it occurs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlingual.data.reading.problems import Problem, Severity

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")  # in the order of the list
_MOST_EXAMPLES = 3


@dataclass(frozen=True)
class Finding:
    """One kind of thing; errors stop every command that reads the manifest, the others stop none."""

    severity: Severity
    kind: str  # a short name that does not change, for programs
    count: int  # how often it occurs: rows, texts, pictures, languages … as the sentence says
    sentence: str  # one line: what was found, and what to do
    examples: tuple[str, ...] = ()  # at most three

    @classmethod
    def of(
        cls, severity: Severity, kind: str, count: int, sentence: str, examples: Iterable[object] = ()
    ) -> Finding:
        """Return a finding with the first few of any number of examples, each cut where it is long."""
        first = [str(example) for _, example in zip(range(_MOST_EXAMPLES), examples, strict=False)]
        return cls(severity, kind, count, sentence, tuple(shortened(example) for example in first))


def shortened(text: str, most: int = 80) -> str:
    """Return a text on one line, cut after `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def findings_of(problems: Sequence[Problem]) -> list[Finding]:
    """Return what was gathered while reading: a finding for each kind, with the sentence of the first."""
    grouped: dict[tuple[Severity, str], list[Problem]] = {}
    for problem in problems:
        grouped.setdefault((problem.severity, problem.kind), []).append(problem)
    return [
        Finding.of(severity, kind, sum(one.times for one in same), same[0].sentence, _examples(same))
        for (severity, kind), same in grouped.items()
    ]


def _examples(same: Sequence[Problem]) -> list[str]:
    told = [example for problem in same for example in problem.examples]
    if told or sum(len(problem.rows) for problem in same) < 2:
        return told
    return [f"row {row + 1}" for problem in same for row in problem.rows[:_MOST_EXAMPLES]]


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, errors first, each severity in the order in which they came."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
