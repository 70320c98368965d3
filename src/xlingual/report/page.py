"""The report: one HTML file that needs nothing else, from results alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xlingual.errors import InputError
from xlingual.report import colours, conditions, examples, html, numbers, plots, tables, words
from xlingual.report.image_sentence import TASK as RANKING
from xlingual.report.image_sentence import section as ranking
from xlingual.report.image_sentence.terms import TERMS as RANKING_TERMS
from xlingual.report.multilingual_pool import terms
from xlingual.report.ranked import how_ranked
from xlingual.report.sections import Section, section_of
from xlingual.report.sts import facts as sts_facts
from xlingual.report.sts.reading import TASK as STS
from xlingual.report.sts.terms import TERMS as STS_TERMS
from xlingual.results import Entry, Results, Summary
from xlingual.results.views import PoolViews


def write_report(results: Sequence[Results], path: Path, *, title: str | None = None) -> None:
    """Write the report of one or several results to `path`, atomically.

    The file loads nothing from anywhere and runs no script; equal results give equal bytes. Raises InputError
    where there is nothing to report or the file cannot be written.
    """
    html.write_page(Path(path), render(results, title=title))


def render(results: Sequence[Results], *, title: str | None = None) -> str:
    """Return the report as HTML."""
    runs = tables.as_runs(results)
    tasks = tables.tasks(runs)
    if not tasks:
        raise InputError(
            "the results hold no numbers: run an evaluation first, for example 'xlingual evaluate bkr'"
        )
    sections, budget = [], examples.MOST_BYTES
    for task in tasks:
        section, used = section_of(runs, task, budget)
        sections.append(section)
        budget -= used
    environment = html.environment(row.encoder for run in runs for row in run.summary)
    page = environment.get_template("page.html")
    return page.render(title=title or _title(runs, tasks), sections=sections, **_common(runs, sections))


def _common(runs: Sequence[Results], sections: Sequence[Section]) -> dict[str, Any]:
    entries = [entry for run in runs for entry in run.entries]
    warnings = list(dict.fromkeys(warning for run in runs for warning in run.warnings))
    timings = [(name, numbers.duration(value)) for run in runs for name, value in run.timings.items()]
    timings += [row for run in runs for row in how_ranked(run)]
    return {
        "facts": _facts(runs),
        "glossary": _glossary(runs, sections),
        "conditions": conditions.collected(entries),
        "systems": conditions.systems(entries),
        "methods": sorted({entry.ci.method for entry in entries if entry.ci}),
        "warnings": warnings,
        "timings": timings,
        "version": html.program_version(),
        "heat_css": colours.css(plots.STEPS, diverging="multilingual-pool" in tables.tasks(runs)),
    }


def _glossary(runs: Sequence[Results], sections: Sequence[Section]) -> tuple[tuple[str, str], ...]:
    """Return the terms that the page needs; of a multilingual pool those of the parts it shows."""
    if tables.tasks(runs) == [STS]:
        return STS_TERMS
    of_pool = [
        term
        for section in sections
        if section.pool is not None
        for term in terms.terms(section.pool, tables.measures(runs, section.task))
    ]
    if tables.tasks(runs) == [RANKING]:
        return RANKING_TERMS
    if RANKING in tables.tasks(runs):
        of_pool = [*of_pool, *RANKING_TERMS[:4]]
    tied = any(board.shows["tied"] for section in sections for board in section.boards)
    found = words.glossary(tables.tasks(runs), of_pool, tied=tied)
    return (*found, *STS_TERMS[:2]) if STS in tables.tasks(runs) else found


def _facts(runs: Sequence[Results]) -> list[tuple[str, str]]:
    entries = [entry for run in runs for entry in run.entries if entry.task != STS]
    summaries = [row for run in runs for row in run.summary if row.task != STS]
    rows: list[Entry | Summary] = [*entries, *summaries]
    pairs = {
        (row.source, row.target)
        for row in rows
        if row.source is not None and not words.NO_LANGUAGES & {row.source, row.target}
    }
    pool = tables.tasks(runs) == ["multilingual-pool"]
    eyes = {row.image_encoder for row in summaries if row.image_encoder}
    facts = [_counted(_shown(runs), "encoder")]
    if len(eyes) > 1:
        facts.append(_counted(len(eyes), "image encoder"))
    facts += [
        ("languages", ", ".join(_languages(runs)) or numbers.MISSING),
    ]
    if pairs:
        facts.append(_counted(len(pairs), "ordered pair"))
    if {entry.task for entry in entries} == {RANKING}:
        return facts + ranking.facts(runs)
    if entries:
        each = ("questions", "candidates") if pool else ("queries per pair", "candidates per pair")
        facts.append((each[0], numbers.span([entry.n_source for entry in entries])))
        facts.append((each[1], numbers.span([entry.n_target for entry in entries])))
    # a multilingual pool is taken whole: its seed draws no sample
    facts += sts_facts.facts(runs)
    seeds = {entry.seed for entry in entries if entry.task != "multilingual-pool"}
    if seeds:
        facts.append(_counted(len(seeds), "seed"))
    return facts


def _shown(runs: Sequence[Results]) -> int:
    """Return how many encoders the page shows: one that is in several runs of a task counts for each."""
    found: dict[tuple[str, str], set[int]] = {}
    for place, run in enumerate(runs):
        for row in run.summary:
            found.setdefault((row.encoder, row.task), set()).add(place)
    names = {encoder for encoder, _ in found}
    return sum(max(len(places) for key, places in found.items() if key[0] == name) for name in names)


def _counted(amount: int, word: str) -> tuple[str, str]:
    return (word if amount == 1 else f"{word}s"), numbers.count(amount)


def _languages(runs: Sequence[Results]) -> list[str]:
    found: set[str | None] = set()
    for run in runs:
        rows: list[Entry | Summary] = [*run.entries, *run.summary]
        for row in rows:  # the target of textual similarity is a file
            found.update((row.source,) if row.task == STS else (row.source, row.target))
        pooled = (entry.views for entry in run.entries if isinstance(entry.views, PoolViews))
        found.update(language for views in pooled for language in views.languages)
    return sorted(language for language in found - words.NO_LANGUAGES if language is not None)


def _title(runs: Sequence[Results], tasks: list[str]) -> str:
    what = words.title(tasks[0]) if len(tasks) == 1 else "Cross-lingual evaluation"
    languages = _languages(runs)
    if tasks == [STS]:
        return f"{what} in {numbers.in_words(languages, 8)}"
    return f"{what} across {numbers.in_words(languages, 8)}" if languages else what
