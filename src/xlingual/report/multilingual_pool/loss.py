"""Where the loss comes from: irrelevant candidates above an answer by their language, as stacked bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from xlingual.report.axis import Axis, axis_for
from xlingual.report.multilingual_pool import wording
from xlingual.report.multilingual_pool.reading import Seen

KINDS = {"question": "in the question's language", "answer": "in the answer's", "third": "in a third one"}
OWN, OTHER = "own", "other"
GROUPS = {OWN: "answers in the question's language", OTHER: "answers in another language"}


@dataclass(frozen=True)
class Part:
    """One part of a bar: where it begins and how long it is, in percent of the axis."""

    kind: str
    start: float
    width: float
    title: str


@dataclass(frozen=True)
class Stack:
    """The candidates above one kind of answer."""

    group: str
    name: str
    parts: list[Part]
    total: str
    spoken: str


@dataclass(frozen=True)
class Losses:
    """The stacks of all encoders on one axis."""

    axis: Axis
    encoders: list[tuple[str, list[Stack]]]

    @property
    def groups(self) -> str:
        """What the names of the bars mean, of those that are there."""
        there = {stack.group for _, stacks in self.encoders for stack in stacks}
        return "; ".join(f"{group}: {meaning}" for group, meaning in GROUPS.items() if group in there)


def losses(found: Sequence[Seen]) -> Losses | None:
    """Return for each encoder the mean number of irrelevant candidates above own and other answers.

    Each pair of languages counts the same. None where no encoder was looked at.
    """
    means = [(one.row.label, _means(one)) for one in found]
    totals = [sum(kinds.values()) for _, groups in means for kinds in groups.values()]
    if not totals:
        return None
    axis = axis_for([0.0, *totals], floor=0.0)
    return Losses(axis, [(label, _stacks(label, groups, axis)) for label, groups in means if groups])


def _means(one: Seen) -> dict[str, dict[str, float]]:
    own: list[Mapping[str, float]] = []
    other: list[Mapping[str, float]] = []
    for (asked, answer), kinds in one.pairs("loss").items():
        (own if asked == answer else other).append(kinds)
    return {
        group: {kind: fmean(_known(kinds.get(kind) for kinds in rows)) for kind in KINDS}
        for group, rows in ((OWN, own), (OTHER, other))
        if rows
    }


def _known(values: Iterable[float | None]) -> list[float]:
    return [0.0 if value is None else value for value in values]


def _stacks(label: str, groups: Mapping[str, Mapping[str, float]], axis: Axis) -> list[Stack]:
    stacks = []
    for group, kinds in groups.items():
        parts, start = [], 0.0
        for kind, value in kinds.items():
            left, right = axis.at(start), axis.at(start + value)
            start += value
            if value > 0:
                title = f"{wording.amount(value)} {KINDS[kind]}"
                parts.append(Part(kind, left, round(right - left, 2), title))
        said = ", ".join(part.title for part in parts)
        spoken = f"{label}, {GROUPS[group]}: {said or 'none above'}"
        stacks.append(Stack(group, GROUPS[group], parts, wording.amount(start), spoken))
    return stacks
