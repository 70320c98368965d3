"""The page of evaluations: the part of every task, and what all tasks share.

A task's part comes from the function that its row in `xlingual.tasks` names: it takes the runs, the row and
the bytes that images may take, and returns a `TaskPart`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from xlingual.errors import InputError
from xlingual.report import conditions, leaders, numbers
from xlingual.report.blocks import Boxes, Finding, Page, Section
from xlingual.report.emphasis import NONE, Emphasis, language_pairs
from xlingual.report.examples import MOST_BYTES, samples
from xlingual.report.figures.over_pairs import annotated
from xlingual.report.pages.cost import cost_section
from xlingual.results import Entry, Results, Summary
from xlingual.results.names import data_name
from xlingual.results.views import PoolViews, RetrievalViews
from xlingual.tasks import Task, load, task_of


@dataclass(frozen=True)
class TaskPart:
    """What a page shows about one task."""

    section: Section
    findings: Sequence[Finding]
    sizes: Mapping[str, Sequence[int]] = field(default_factory=dict)  # facts: amounts, shown as their span
    counts: Sequence[tuple[int, str]] = ()  # facts: amounts of things, before the sizes
    seeds: frozenset[int] = frozenset()
    terms: Sequence[tuple[str, str]] = ()
    title: str = ""  # of a page about this task alone, before its languages
    image_bytes: int = 0
    encoders: int | None = None  # how many there are, where runs share them; None: as many as are shown


PartOf: TypeAlias = Callable[[Sequence[Results], Task, int], TaskPart]


def page(
    results: Results | Sequence[Results], *, title: str | None = None, emphasis: Emphasis = NONE
) -> Page:
    """Return the page of one or several evaluations; raise InputError where there is nothing to show."""
    runs = leaders.as_runs(results)
    parts: list[TaskPart] = []
    for task in map(task_of, leaders.tasks(runs)):
        part_of: PartOf = load(task.page)
        parts.append(part_of(runs, task, MOST_BYTES - sum(part.image_bytes for part in parts)))
    if not parts:
        raise InputError(
            "the results hold no numbers: run an evaluation first, for example 'xlingual evaluate bkr'"
        )
    entries = [entry for run in runs for entry in run.entries]
    cost = cost_section(runs)
    timings = [(name, numbers.duration(value)) for run in runs for name, value in run.timings.items()]
    return Page(
        kind="report",
        title=title or _title(runs, parts),
        verdict=_verdict(parts),
        sections=[*_annotated([part.section for part in parts], emphasis), *([cost] if cost else [])],
        facts=_facts(runs, parts),
        about=_about(runs),
        samples=samples(runs),
        terms=_terms(parts),
        conditions=list(conditions.collected(entries).items()),
        systems=list(conditions.systems(entries).items()),
        methods=sorted({entry.ci.method for entry in entries if entry.ci}),
        warnings=list(dict.fromkeys(warning for run in runs for warning in run.warnings)),
        timings=[*timings, *(row for run in runs for row in _how_ranked(run))],
        names=[row.encoder for run in runs for row in run.summary],
    )


def _annotated(sections: list[Section], emphasis: Emphasis) -> list[Section]:
    """Return sections whose box plots name some language pairs; raise InputError for unknown ones."""
    if not emphasis.annotate:
        return sections
    plots = [block for section in sections for block in section.blocks if isinstance(block, Boxes)]
    pairs = language_pairs(
        emphasis.annotate, sorted({pair for plot in plots for box in plot.boxes for pair in box.pairs})
    )
    return [
        replace(
            section,
            blocks=[
                shown
                for block in section.blocks
                for shown in (annotated(block, pairs) if isinstance(block, Boxes) else [block])
            ],
        )
        for section in sections
    ]


def _verdict(parts: Sequence[TaskPart]) -> list[Finding]:
    if len(parts) == 1:
        return list(parts[0].findings)
    return [
        replace(found, heading=part.section.title if place == 0 else "")
        for part in parts
        for place, found in enumerate(part.findings)
    ]


def _terms(parts: Sequence[TaskPart]) -> list[tuple[str, str]]:
    """Return each term once, as the first part that has it explains it."""
    found: dict[str, str] = {}
    for part in parts:
        for term, meaning in part.terms:
            found.setdefault(term, meaning)
    return list(found.items())


def _title(runs: Sequence[Results], parts: Sequence[TaskPart]) -> str:
    languages = _languages(runs)
    what = "Cross-lingual evaluation across"
    if len(parts) == 1:
        what = parts[0].title or f"{parts[0].section.title} across"
    return f"{what} {numbers.in_words(languages, 8)}" if languages else what.rpartition(" ")[0]


def _about(runs: Sequence[Results]) -> list[str]:
    """Return the names of the data, and the days of the evaluations."""
    names = list(dict.fromkeys(name for run in runs if (name := data_name(run))))
    days = sorted({day for run in runs if (day := numbers.day(str(run.run.get("date", ""))))})
    data = f"Data: {numbers.in_words(names, 4)}" if names else ""
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else ""
    return [part for part in (data, f"evaluated on {when}" if when else "") if part]


def _facts(runs: Sequence[Results], parts: Sequence[TaskPart]) -> list[tuple[str, str]]:
    pairs = {
        (row.source, row.target)
        for run in runs
        for row in _rows(run)
        if row.source is not None and task_of(row.task).of_pair(row.source, row.target)
    }
    eyes = {row.image_encoder for run in runs for row in run.summary if row.image_encoder}
    counts = [(len(pairs), "ordered pair")] if pairs else []
    counts += [count for part in parts for count in part.counts]
    sizes: dict[str, list[int]] = {}
    for part in parts:
        for name, amounts in part.sizes.items():
            sizes.setdefault(name, []).extend(amounts)
    seeds = frozenset().union(*(part.seeds for part in parts))
    encoders = parts[0].encoders if len(parts) == 1 else None
    return [
        *_counted(
            (encoders or _shown(runs), "encoder"),
            *([(len(eyes), "image encoder")] if len(eyes) > 1 else []),
        ),
        *([("languages", ", ".join(spoken))] if (spoken := _languages(runs)) else []),
        *_counted(*counts),
        *((name, numbers.span(amounts)) for name, amounts in sizes.items() if amounts),
        *_counted(*([(len(seeds), "seed")] if seeds else [])),
    ]


def _shown(runs: Sequence[Results]) -> int:
    """Return how many encoders the page shows: one that is in several runs of a task counts for each."""
    found: dict[tuple[str, str], set[int]] = {}
    for place, run in enumerate(runs):
        for row in run.summary:
            found.setdefault((row.encoder, row.task), set()).add(place)
    names = {encoder for encoder, _ in found}
    return sum(max(len(places) for key, places in found.items() if key[0] == name) for name in names)


def _counted(*amounts: tuple[int, str]) -> list[tuple[str, str]]:
    return numbers.facts(*((amount, word, f"{word}s") for amount, word in amounts))


def _languages(runs: Sequence[Results]) -> list[str]:
    found: set[str | None] = set()
    for run in runs:
        for row in _rows(run):
            task = task_of(row.task)
            found |= {row.source, row.target if task.target_is_language else None} - task.no_languages
            if isinstance(row.views, PoolViews | RetrievalViews):  # the languages that a pool holds
                found.update(row.views.languages)
    return sorted(language for language in found if language is not None)


def _rows(run: Results) -> list[Entry | Summary]:
    return [*run.entries, *run.summary]


def _how_ranked(run: Results) -> list[tuple[str, str]]:
    """Return rows about the ranking: its device, and how much was scored in float64."""
    found = []
    ranking = run.diagnostics.get("ranking", {})
    if "device" in ranking:
        named = [str(ranking[name]) for name in ("backend", "device") if name in ranking]
        found.append(("ranked by", ", ".join(named)))
    screened = run.diagnostics.get("pairs_screened", 0)
    if screened:
        share = f"{run.diagnostics.get('pairs_decided', 0) / screened:.2%} of {screened:,} pairs"
        found.append(("scored in float64 to be exact", share))
    return found
