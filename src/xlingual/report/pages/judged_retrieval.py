"""What a page shows about retrieval by judgements: leaderboards, languages, and what was judged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import UNSET, UnsetType

from xlingual.report import leaders, numbers
from xlingual.report.blocks import Block, Section
from xlingual.report.figures import pool_maps
from xlingual.report.findings.judged_retrieval import of_run
from xlingual.report.pages import hubs
from xlingual.report.pages.boards import boards
from xlingual.report.pages.evaluation import TaskPart, findings
from xlingual.report.pool_views import EncoderViews, languages_of, views_of
from xlingual.report.table import Cell, Column, Table
from xlingual.report.words import GLOSSARY
from xlingual.results import Entry, Results, by_key
from xlingual.results.cautions import cut_of
from xlingual.tasks import Task

_RUN = re.compile(r"\|encoder:run:\w+\?(?:files=\d+&)?depth=(\d+)")  # in a signature
VIEWS = (("by_query_language", "", "All candidates"),)
TERMS = {
    "nDCG@k": "The gains of the first k candidates, each divided by log2(rank + 1), over those of the best "
    "possible order. The gain is the grade; with dcg='exp-log2' it is 2^grade − 1.",
    "AP": "Average precision (its mean is mAP): the precision at the place of every relevant candidate, "
    "averaged over them.",
    "RR": "One over the rank of the first relevant candidate; its mean is MRR.",
    "Success@k": "The share of queries with a relevant candidate among the first k (hit rate).",
    "R@k": "The share of a query's relevant candidates that is among the first k (set recall).",
    "P@k": "The share of the first k candidates that is relevant.",
    "Bpref": "How rarely candidates that were judged irrelevant rank above relevant ones; unjudged "
    "candidates do not count.",
    "Judged@k": "The share of the first k candidates that were judged, relevant or not. Unjudged candidates "
    "count as irrelevant in the other measures, so a system with fewer judged candidates may be "
    "better than its numbers.",
}


def part(runs: Sequence[Results], task: Task, budget: int) -> TaskPart:
    """Return the part of a task whose rankings are held against judgements."""
    measures = leaders.measures(runs, task.name)
    rows = leaders.leaderboard(runs, task.name, measures[0])
    found = views_of(runs, rows)
    entries = [entry for run in runs for entry in by_key(run.entries, task=task.name)]
    of_hubs = hubs.blocks(runs, rows)
    return TaskPart(
        section=Section(
            task.title,
            [*boards(runs, task), *_languages(found, task), *_judged(found), *of_hubs],
            f"{task.about}{_depths(entries)}",
        ),
        findings=findings(runs, task, of_run),
        sizes={
            "queries": [entry.n_source for entry in entries],
            "candidates": [entry.n_target for entry in entries],
        },
        terms=[
            *_terms(measures, found, any(entry.n_tied for entry in entries)),
            *([hubs.TERM] if of_hubs else []),
        ],
        title=f"{task.title} in",
    )


def _depths(entries: Sequence[Entry]) -> str:
    """Return how long the lists of each run are, in a sentence; nothing where there is no run."""
    found = {entry.encoder: _RUN.search(entry.signature) for entry in entries}
    parts = [f"{name} up to {numbers.count(int(run[1]))}" for name, run in found.items() if run]
    return f" Candidates returned for a query: {numbers.in_words(parts)}." if parts else ""


def _languages(found: Sequence[EncoderViews], task: Task) -> Iterator[Block]:
    """Yield the numbers by query language, where there are several."""
    tags = [tag for tag in languages_of(found) if any(tag in one.mapping(VIEWS[0][0]) for one in found)]
    if len(tags) < 2:
        return
    matrix = pool_maps.by_language(
        found, task, VIEWS, "By query language", "for queries in each language: among all candidates", "query"
    )
    if matrix is not None:
        yield matrix
    measure = found[0].row.measure
    for view, _, label in VIEWS:
        rows = [
            [one.row.label, *(Cell.of(one.number(view, tag), measure=measure) for tag in tags)]
            for one in found
            if one.has(view)
        ]
        title = f"{task.measure_name(measure)} by query language · {label[0].lower()}{label[1:]}"
        if rows:
            yield Table.of_texts(title, ["system", *tags], rows, data=True, where="terminal")


def _judged(found: Sequence[EncoderViews]) -> Iterator[Block]:
    """Yield how much of each system's first places was judged, where judgements are incomplete."""
    if not any(one.number("incomplete") and one.number("judged") is not None for one in found):
        return
    cut = cut_of(found[0].row.measure)
    rows = [
        [
            one.row.label,
            Cell.by(numbers.percent, one.number("judged")),
            Cell.by(lambda count: numbers.count(int(count)), _unanswered(one)),
        ]
        for one in found
    ]
    judged = f"share of the first {cut} candidates that were judged, relevant or not, of queries with results"
    heads = [
        Column("system", "name", data=True),
        Column(f"Judged@{cut}", meaning=judged),
        Column("queries without results", short="no results", meaning="they count as misses"),
    ]
    yield Table.of_texts("Share of judged candidates", heads, rows, where="both").without_empty()


def _unanswered(one: EncoderViews) -> float | None:
    count = one.entry.n_unanswered if one.entry is not None else UNSET
    return None if isinstance(count, UnsetType) else count


def _terms(measures: Sequence[str], found: Sequence[EncoderViews], tied: bool) -> list[tuple[str, str]]:
    """Return the terms of what is shown, with their meanings."""
    kinds = {name.partition("@")[0].partition("(")[0] for name in measures}
    kinds |= {"Judged"} if any(one.number("incomplete") for one in found) else set()
    shared = ["Interval", *(["Tied"] if tied else [])]
    shared += ["Chance"] if any(one.row.chance is not None for one in found) else []
    glossary = [
        (name, "The score on the same data of a system for which all candidates are equally similar.")
        if name == "Chance"
        else (name, text)
        for name, text in GLOSSARY
        if name in shared
    ]
    return [(name, text) for name, text in TERMS.items() if name.partition("@")[0] in kinds] + glossary
