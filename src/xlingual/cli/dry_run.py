"""`xlingual run SUITE --dry-run`: which steps would be computed and why, and what they would take."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.exit_codes import BAD, DONE
from xlingual.errors import InputError
from xlingual.report import numbers
from xlingual.report.blocks import Block, Page, Prose
from xlingual.report.table import Cell, Column, Row, Table, narrower

if TYPE_CHECKING:
    from xlingual.workflows.suites.estimate import Estimate
    from xlingual.workflows.suites.reading import Suite
    from xlingual.workflows.suites.step import Step


def show_plan(suite: Suite, chosen: Sequence[Step]) -> int:
    """Print what would be computed; nothing is encoded, and no model is loaded. Return the exit code.

    It is that of bad input where something is missing that a step needs.
    """
    from xlingual.workflows.suites import kept
    from xlingual.workflows.suites.estimate import Estimator

    images: dict[str, str] = {}
    estimator, plan = Estimator(suite), _Plan()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in chosen:
            why = kept.reasons(step, kept.now(step, images))
            if not why and any(step.name.startswith(f"{name}/") for name in plan.due):
                why = ["its evaluation is computed again"]
            if not why:
                plan.rows.append(_row(step, "kept", None, None))
                continue
            plan.due.add(step.name)
            try:
                plan.add(step, why, estimator.of(step), kept.seconds(step))
            except InputError as error:
                plan.rows.append(_row(step, _what(why), None, None))
                plan.failing.append(step.name)
                plan.notes.append(f"{step.name}: {error}")
    plan.seconds += estimator.start()
    screen.print_page(_page(suite, plan, len(chosen)), "table")
    return BAD if plan.failing else DONE


@dataclass
class _Plan:
    """What would be computed."""

    due: set[str] = field(default_factory=set)
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)  # steps that cannot be computed
    unknown: dict[str, None] = field(default_factory=dict)  # encoders whose speed is not known
    seconds: float = 0.0

    def add(self, step: Step, why: Sequence[str], found: Estimate, last: float | None) -> None:
        """Add a step that would be computed; `last` is how long it took the last time."""
        self.rows.append(_row(step, _what(why), found, last))
        self.notes += [] if _what(why) == "new" else [f"{step.name}: {'; '.join(why)}"]
        self.notes += _said(step, found)
        self.failing += [step.name] if found.problems else []
        self.seconds += found.seconds if last is None else last
        self.unknown |= dict.fromkeys(found.unknown if last is None else ())


def _what(why: Sequence[str]) -> str:
    from xlingual.workflows.suites.kept import NEW

    return "new" if list(why) == [NEW] else "again"


def _row(step: Step, what: str, found: Estimate | None, last: float | None) -> Row:
    """Return the row of a step; its time is that of its last run, else what it is reckoned to take."""
    empty = Cell(numbers.MISSING)
    took, counts = empty, [empty] * 3
    if found is not None and last is not None:
        took = Cell(_time(last), value=last)
    elif found is not None:
        took = Cell(f"{'≥' if found.unknown else '≈'} {_time(found.seconds)}", value=found.seconds)
    if found is None or step.kind != "evaluate":
        return Row((Cell(step.name), Cell(what), *counts, took, empty))
    missing = sum(one.missing for one in found.encodings)
    stored = sum(one.known for one in found.encodings)
    counts = [Cell.count(missing), Cell.count(stored), Cell(f"{found.pairs:.2g}", value=found.pairs)]
    memory = Cell(screen.in_bytes(found.memory), value=found.memory)
    return Row((Cell(step.name), Cell(what), *counts, took, memory))


def _time(seconds: float) -> str:
    return "1 s" if seconds < 1 else numbers.duration(seconds)


def _said(step: Step, found: Estimate) -> Iterator[str]:
    """Yield a sentence for each encoder of which there is more to say than a number."""
    for one in found.encodings:
        if one.problem:
            yield f"{step.name}, {one.name}: {one.problem}"


def _page(suite: Suite, plan: _Plan, count: int) -> Page:
    heads = ("encode", "stored", "pairs", "time", "memory")
    columns = (Column("step", "name"), Column("what", "words"), *map(Column, heads))
    table = Table(
        suite.title, columns, tuple(plan.rows), titled=False, looks=narrower("pairs", "stored"), where="both"
    ).without_empty()
    blocks: list[Block] = [table, *(Prose(note, where="both") for note in plan.notes)]
    blocks += [Prose(_LEGEND, where="both")] if plan.due else []
    return Page.of("dry run", suite.title, blocks, _sentences(plan, count))


_LEGEND = (
    "encode, stored: texts and images that the store lacks; and that it has, or that take no model. time: "
    "that of the last run; of a step that has none (≈) a formula for this machine, as busy as it is now and "
    "without a GPU, good to a factor of two or three. ≥: the time of an encoder of unknown speed comes on "
    "top. memory: with all texts' vectors. Samples and halves are counted whole."
)


def _sentences(plan: _Plan, count: int) -> list[str]:
    """Return what would be computed and what it takes, the most important first."""
    dry = "This is a dry run: nothing was computed or written."
    if not plan.due:
        return ["Nothing changed: no step would be computed.", dry]
    unsure = plan.unknown or plan.failing
    found = [
        f"Of {numbers.count(count)} steps {numbers.count(len(plan.due))} would be computed, in "
        f"{'at least' if unsure else 'about'} {_time(plan.seconds)} on this machine."
    ]
    if plan.unknown:
        found.append(
            f"The time of {numbers.in_words(list(plan.unknown))} comes on top: the first run shows how fast "
            "an encoder is."
        )
    if plan.failing:
        found.append(f"{numbers.in_words(plan.failing)} cannot be computed: see below.")
    return [*found, dry]
