"""The page of retrieval by judgements: its verdict, leaderboards, languages, and what was judged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import UNSET, UnsetType

from xlingual.languages import named
from xlingual.report import leaders, numbers, words
from xlingual.report.blocks import Block, Section
from xlingual.report.figures.multilingual_pool import by_language
from xlingual.report.findings import leads
from xlingual.report.leaders import BoardRow, contains
from xlingual.report.pages import hubs
from xlingual.report.pages.boards import boards
from xlingual.report.pages.evaluation import TaskPart, few_queries, findings
from xlingual.report.pool_views import EncoderViews, languages_of, views_of
from xlingual.report.table import Cell, Column, Table
from xlingual.results import Results, by_key
from xlingual.results.cautions import cut_of, judged_share, less_judged
from xlingual.tasks import Task

_RUN = re.compile(r"\|encoder:run:\w+\?(?:files=\d+&)?depth=(\d+)")  # in a signature
VIEW = "by_query_language"
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
    "Chance": "The score on the same data of a system for which all candidates are equally similar.",
}


def part(runs: Sequence[Results], task: Task, budget: int) -> TaskPart:
    """Return the part of a task whose rankings are held against judgements."""
    measures = leaders.measures(runs, task.name)
    rows = leaders.leaderboard(runs, task.name, measures[0])
    systems = views_of(runs, rows)
    entries = [entry for run in runs for entry in by_key(run.entries, task=task.name)]
    depths = {entry.encoder: _RUN.search(entry.signature) for entry in entries}
    returned = [f"{name} up to {numbers.count(int(run[1]))}" for name, run in depths.items() if run]
    about = f" Candidates returned for a query: {numbers.in_words(returned)}." if returned else ""
    kinds = {name.partition("@")[0].partition("(")[0] for name in measures}
    kinds |= {"Judged"} if any(system.number("incomplete") for system in systems) else set()
    kinds |= {"Chance"} if any(row.chance is not None for row in rows) else set()
    shared = ["Interval", *(["Tied"] if any(entry.n_tied for entry in entries) else [])]
    of_hubs = hubs.blocks(runs, rows)
    return TaskPart(
        section=Section(
            task.title,
            [*boards(runs, task), *_languages(systems, task), *_judged(systems), *of_hubs],
            f"{task.about}{about}",
        ),
        findings=findings(runs, task, of_run),
        sizes={
            "queries": [entry.n_source for entry in entries],
            "candidates": [entry.n_target for entry in entries],
        },
        terms=[
            *((name, text) for name, text in TERMS.items() if name.partition("@")[0] in kinds),
            *(term for term in words.GLOSSARY if term[0] in shared),
            *([hubs.TERM] if of_hubs else []),
        ],
        title=f"{task.title} in",
    )


def of_run(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[str]:
    """Return the findings of one run, from the rows of its first measure, the most important first."""
    run, measure = runs[rows[0].run - 1], rows[0].measure
    name = task.measure_name(measure)
    valued = [row for row in rows if row.value is not None]
    leader = next((row for row in valued if row.standing == "leader"), None)
    systems, sentences = views_of(runs, valued), []
    if leader is not None and leads.none_above(valued):
        sentences += leads.nothing_found(valued[0], valued, name, "")
    elif leader is not None:
        sentences += [leads.lead(leader, valued, name, ""), *leads.position(leader)]
        sentences += _hardest(next(system for system in systems if system.row is leader))
    if not (leads.none_above(valued) and all(row.at_chance for row in valued)):
        sentences += leads.at_or_below(valued)
    judged = {s.row.encoder: judged_share(s.entry) for s in systems if s.entry is not None}
    sentences += [*less_judged(judged, measure, name), *hubs.alarm(runs, valued)]
    sentences += [*leads.misses(run, rows), *leads.without_value(rows, name)]
    return sentences + few_queries(run, task.name)


def _hardest(best: EncoderViews) -> list[str]:
    """Return the languages of queries with the lowest and the highest value, where they differ."""
    measure = best.row.measure
    values = {tag: value for tag in best.mapping(VIEW) if (value := best.number(VIEW, tag)) is not None}
    if len(values) < 2:
        return []
    ordered = sorted(values, key=lambda tag: values[tag], reverse=words.lower_is_better(measure))
    worst, easiest = ordered[0], ordered[-1]
    low, high = (
        numbers.with_interval(values[tag], best.interval(VIEW, tag), measure) for tag in (worst, easiest)
    )
    ci = best.interval(VIEW, worst)
    noise = ", a difference that may be noise" if ci is not None and contains(ci, values[easiest]) else ""
    return [
        f"Queries in {named(worst)} are its hardest, with {low}; those in {named(easiest)} its easiest, "
        f"with {high}{noise}."
    ]


def _languages(systems: Sequence[EncoderViews], task: Task) -> Iterator[Block]:
    """Yield the numbers by query language, where there are several."""
    tags = [tag for tag in languages_of(systems) if any(tag in system.mapping(VIEW) for system in systems)]
    if len(tags) < 2:
        return
    matrix = by_language(systems, task, [(VIEW, "", "All candidates")], "query")
    if matrix is not None:
        yield matrix
    measure = systems[0].row.measure
    rows = [
        [system.row.label, *(Cell.of(system.number(VIEW, tag), measure=measure) for tag in tags)]
        for system in systems
        if system.has(VIEW)
    ]
    title = f"{task.measure_name(measure)} by query language"
    yield Table.of_texts(title, ["system", *tags], rows, data=True, where="terminal")


def _judged(systems: Sequence[EncoderViews]) -> Iterator[Block]:
    """Yield how much of each system's first places was judged, where judgements are incomplete."""
    if not any(s.number("incomplete") and s.number("judged") is not None for s in systems):
        return
    cut, rows = cut_of(systems[0].row.measure), []
    for system in systems:
        count = UNSET if system.entry is None else system.entry.n_unanswered
        known = None if isinstance(count, UnsetType) else count
        missing = Cell.by(lambda n: numbers.count(int(n)), known)
        rows.append([system.row.label, Cell.by(numbers.percent, system.number("judged")), missing])
    judged = f"share of the first {cut} candidates that were judged, relevant or not, of queries with results"
    heads = [
        Column("system", "name", data=True),
        Column(f"Judged@{cut}", meaning=judged),
        Column("queries without results", short="no results", meaning="they count as misses"),
    ]
    yield Table.of_texts("Share of judged candidates", heads, rows, where="both").without_empty()
