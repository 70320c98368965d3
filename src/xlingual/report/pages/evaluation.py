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
from xlingual.report.blocks import Finding, Page, Section
from xlingual.report.examples import MOST_BYTES, samples
from xlingual.report.findings.leads import advice
from xlingual.report.leaders import BoardRow
from xlingual.report.pages.cost import cost_section
from xlingual.results import Entry, Results, Summary
from xlingual.results.kinds import differences
from xlingual.results.names import data_name
from xlingual.results.views import PoolViews, RetrievalViews
from xlingual.tasks import Task, load, task_of

RunVerdict: TypeAlias = Callable[[Sequence[Results], Task, Sequence[BoardRow]], list[str]]

FEW_QUERIES = 50  # per pair
MANY_DROPPED = 0.1  # share of the texts


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


def page(results: Results | Sequence[Results], *, title: str | None = None) -> Page:
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
    verdict = [
        replace(found, heading=part.section.title if place == 0 and len(parts) > 1 else found.heading)
        for part in parts
        for place, found in enumerate(part.findings)
    ]
    languages = _languages(runs)
    what = (parts[0].title or f"{parts[0].section.title} across") if len(parts) == 1 else ""
    what = what or "Cross-lingual evaluation across"
    named = f"{what} {numbers.in_words(languages, 8)}" if languages else what.rpartition(" ")[0]
    entries = [entry for run in runs for entry in run.entries]
    cost = cost_section(runs)
    terms: dict[str, str] = {}
    for term, meaning in (term for part in parts for term in part.terms):
        terms.setdefault(term, meaning)  # as the first part that has it explains it
    timings = [(name, numbers.duration(value)) for run in runs for name, value in run.timings.items()]
    return Page(
        kind="report",
        title=title or named,
        verdict=verdict,
        sections=[*(part.section for part in parts), *([cost] if cost else [])],
        facts=_facts(runs, parts),
        about=_about(runs),
        samples=samples(runs),
        terms=list(terms.items()),
        conditions=list(conditions.collected(entries).items()),
        systems=list(conditions.systems(entries).items()),
        methods=sorted({entry.ci.method for entry in entries if entry.ci}),
        warnings=list(dict.fromkeys(warning for run in runs for warning in run.warnings)),
        timings=[*timings, *(row for run in runs for row in _how_ranked(run))],
        names=[row.encoder for run in runs for row in run.summary],
    )


def findings(
    runs: Sequence[Results], task: Task, of_run: RunVerdict, *, advised: bool = True
) -> list[Finding]:
    """Return the findings of one task, from its first measure, run by run.

    What to do comes first, then what the measure is, then the numbers: `of_run` gives the sentences of one
    run from the rows of its leaderboard. `advised=False`: it says what to do itself.
    """
    measure = leaders.measures(runs, task.name)[0]
    rows = leaders.leaderboard(runs, task.name, measure)
    places, names = sorted({row.run for row in rows}), leaders.run_names(runs)
    found = []
    for place in places:
        own, run = [row for row in rows if row.run == place], runs[place - 1]
        entries = [entry for entry in run.entries if entry.task == task.name]
        sentences = of_run(runs, task, own) + conditions.similarity(entries) + _about_the_run(run)
        if advised:
            unlike = task.by_images and bool(differences(leaders.kinds_of(own, run)))
            known = place == places[0] and any(row.value is not None for row in own)
            meaning = task.explained(measure) if known else ""
            head = advice(task, own, run, unlike=unlike)
            sentences = [*head, *([meaning] if meaning else []), *sentences]
        name = names[place - 1].replace("run ", "Run ", 1)
        found.append(Finding(sentences, name if len(places) > 1 else ""))
    if len(places) < 2:
        return found
    which = f"Runs {numbers.in_words([str(place) for place in places])}"
    if leaders.unit(runs) == "pool":
        which = numbers.in_words([names[place - 1] for place in places])
    text = (
        f"{which} were evaluated separately, so their encoders cannot be compared query by query, and "
        "their differences have no interval. Evaluate them together to get intervals."
    )
    if unequal := conditions.unequal([runs[place - 1] for place in places], task.name):
        text += f" The conditions differ too ({numbers.in_words(unequal)}), so the values are not comparable."
    return [*found, Finding([text])]


def few_queries(run: Results, task: str) -> list[str]:
    """Return a remark where the samples are small, so that intervals are wide."""
    sizes = [entry.n_source for entry in run.entries if entry.task == task]
    if not sizes or min(sizes) >= FEW_QUERIES:
        return []
    which = "Some pairs have only" if max(sizes) >= FEW_QUERIES else "Only"
    shown = [size for size in sizes if size < FEW_QUERIES]
    noun = "query" if max(shown) == 1 else "queries"
    return [f"{which} {numbers.span(shown)} {noun}: the intervals are wide."]


def _about_the_run(run: Results) -> list[str]:
    """Return remarks on what was evaluated: samples, near-duplicates, texts that took no part."""
    samples = conditions.collected(run.entries).get("sample", [])
    sentences = conditions.fewer_items(run.request, samples)
    left_out, total = run.dropped.get("texts", 0), run.dropped.get("of", 0)
    if total and left_out > MANY_DROPPED * total:
        sentences.append(
            f"{left_out:,} of {total:,} texts ({numbers.percent(left_out / total)}) were not evaluated; the "
            "numbers are for the others only, and the warnings say why."
        )
    near = run.diagnostics.get("near_duplicates", {})
    if "largest_share" in near:
        sentences.append(
            f"Near-duplicates count as one: {near['n_joined']:,} clusters, the largest with "
            f"{100 * near['largest_share']:.1f} % of all items."
        )
    return sentences


def _about(runs: Sequence[Results]) -> list[str]:
    """Return the names of the data, and the days of the evaluations."""
    names = list(dict.fromkeys(name for run in runs if (name := data_name(run))))
    days = sorted({day for run in runs if (day := numbers.day(str(run.run.get("date", ""))))})
    data = f"Data: {numbers.in_words(names, 4)}" if names else ""
    when = f"evaluated on {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else ""
    return [part for part in (data, when) if part]


def _facts(runs: Sequence[Results], parts: Sequence[TaskPart]) -> list[tuple[str, str]]:
    pairs = {
        (row.source, row.target)
        for run in runs
        for row in (*run.entries, *run.summary)
        if row.source is not None and task_of(row.task).of_pair(row.source, row.target)
    }
    eyes = {row.image_encoder for run in runs for row in run.summary if row.image_encoder}
    sizes: dict[str, list[int]] = {}
    for name, amounts in (size for part in parts for size in part.sizes.items()):
        sizes.setdefault(name, []).extend(amounts)
    seeds = frozenset[int]().union(*(part.seeds for part in parts))
    # one that is in several runs of a task counts for each
    shown = {(row.encoder, row.task, place) for place, run in enumerate(runs) for row in run.summary}
    often = {
        name: max(sum((name, task) == own[:2] for own in shown) for _, task, _ in shown) for name, *_ in shown
    }
    encoders = (parts[0].encoders if len(parts) == 1 else None) or sum(often.values())
    spoken = _languages(runs)

    def counted(*amounts: tuple[int, str]) -> list[tuple[str, str]]:
        return numbers.facts(*((amount, word, f"{word}s") for amount, word in amounts if amount))

    return [
        *counted((encoders, "encoder"), (len(eyes) if len(eyes) > 1 else 0, "image encoder")),
        *([("languages", ", ".join(spoken))] if spoken else []),
        *counted((len(pairs), "ordered pair"), *(count for part in parts for count in part.counts)),
        *((name, numbers.span(amounts)) for name, amounts in sizes.items() if amounts),
        *counted((len(seeds), "seed")),
    ]


def _languages(runs: Sequence[Results]) -> list[str]:
    found: set[str | None] = set()
    rows: list[Entry | Summary] = []
    for run in runs:
        rows += [*run.entries, *run.summary]
    for row in rows:
        task = task_of(row.task)
        found |= {row.source, row.target if task.target_is_language else None} - task.no_languages
        if isinstance(row.views, PoolViews | RetrievalViews):  # the languages that a pool holds
            found.update(row.views.languages)
    return sorted(language for language in found if language is not None)


def _how_ranked(run: Results) -> list[tuple[str, str]]:
    """Return rows about the ranking: its device, and how much was scored in float64."""
    found = []
    ranking, screened = run.diagnostics.get("ranking", {}), run.diagnostics.get("pairs_screened", 0)
    if "device" in ranking:
        named = [str(ranking[name]) for name in ("backend", "device") if name in ranking]
        found.append(("ranked by", ", ".join(named)))
    if screened:
        share = f"{run.diagnostics.get('pairs_decided', 0) / screened:.2%} of {screened:,} pairs"
        found.append(("scored in float64 to be exact", share))
    return found
