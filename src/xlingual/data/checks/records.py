"""The result of a check, as plain data: counts, and a finding for each kind of problem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlingual.data.reading.problems import Problem, Severity

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")  # in the order of the list
_MOST_EXAMPLES = 3


@dataclass(frozen=True)
class CheckFinding:
    """One kind of problem; errors stop every command that reads the manifest, the others stop none."""

    severity: Severity
    kind: str  # a short name that does not change, for programs
    count: int  # how often it occurs: rows, texts, images, languages … as the sentence says
    sentence: str  # one line: what was found, and what to do
    examples: tuple[str, ...] = ()  # at most three

    @classmethod
    def of(
        cls, severity: Severity, kind: str, count: int, sentence: str, examples: Iterable[object] = ()
    ) -> CheckFinding:
        """Return a finding with the first few of any number of examples, each cut where it is long."""
        first = [str(example) for _, example in zip(range(_MOST_EXAMPLES), examples, strict=False)]
        return cls(severity, kind, count, sentence, tuple(shortened(example) for example in first))


def shortened(text: str, most: int = 80) -> str:
    """Return a text on one line, cut after `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def findings_of(problems: Sequence[Problem]) -> list[CheckFinding]:
    """Return the problems gathered while reading: a finding for each kind, with the sentence of the first."""
    grouped: dict[tuple[Severity, str], list[Problem]] = {}
    for problem in problems:
        grouped.setdefault((problem.severity, problem.kind), []).append(problem)
    return [
        CheckFinding.of(severity, kind, sum(one.times for one in same), same[0].sentence, _examples(same))
        for (severity, kind), same in grouped.items()
    ]


def _examples(same: Sequence[Problem]) -> list[str]:
    examples = [example for problem in same for example in problem.examples]
    if examples or sum(len(problem.rows) for problem in same) < 2:
        return examples
    return [f"row {row + 1}" for problem in same for row in problem.rows[:_MOST_EXAMPLES]]


def ordered(findings: Iterable[CheckFinding]) -> list[CheckFinding]:
    """Return the findings, errors first, each severity in the order in which they came."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


@dataclass(frozen=True)
class ImageCheck:
    """The images; `missing` and `unreadable` hold (id of a row that shows it, the problem)."""

    n_rows_with: int  # text rows that have an image
    n_rows_without: int
    without: list[str]  # ids of those
    n_distinct: int  # different bytes among those that could be read, different paths among the others
    missing: list[tuple[str, str]]
    unreadable: list[tuple[str, str]]
    same_bytes: list[tuple[str, str]]  # paths that hold the same bytes as an earlier path


@dataclass(frozen=True)
class LanguageCheck:
    """The texts of one language; lists hold ids of rows."""

    language: str
    n_texts: int
    n_items: int
    empty: list[str]  # texts without visible characters
    repeated: list[str]  # texts that an earlier row of the language has too
    other_script: list[str]  # texts mostly in letters the language is not written in
    longest: list[tuple[str, int]]  # (id, characters), the longest first
    median_length: float  # characters


@dataclass(frozen=True)
class PairCheck:
    """A language pair as Backretrieval takes it: no item is on both sides."""

    source: str
    target: str
    n_both: int  # items that have both languages; they are divided between the sides
    n_sources: int  # items on the source side
    n_targets: int
    n_pictures: int  # most distinct images on the source side; R@10 needs more than 10


@dataclass(frozen=True)
class Check:
    """The result of `check`, as plain data."""

    source: str
    digest: str
    n_table_rows: int
    n_texts: int
    n_items: int
    n_items_without_text: int
    n_items_multilingual: int  # items with texts in more than one language
    languages: list[LanguageCheck]
    pairs: dict[tuple[str, str], int]  # items that have both languages
    directions: list[PairCheck]  # source-target pairs, those with the fewest images first
    shared_texts: dict[tuple[str, str], int]  # different texts that occur in both languages
    pictures: ImageCheck | None  # None: the manifest names no images
    html: list[str]  # ids of texts that hold entities or tags of HTML
    doubled_ids: list[str]  # ids that stand in several languages, each time for another item
    findings: list[CheckFinding]  # errors first

    @property
    def warnings(self) -> list[str]:
        """The sentences of all findings but notes."""
        return [finding.sentence for finding in self.findings if finding.severity != "note"]
