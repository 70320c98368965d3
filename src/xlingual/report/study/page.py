"""The page of a study: one HTML file that needs nothing else, from the analysis alone."""

from __future__ import annotations

from pathlib import Path

from xlingual.languages import named
from xlingual.report import html, numbers
from xlingual.report.conditions import Condition
from xlingual.report.study import boards, cautions, marking, sentences, tables
from xlingual.report.study.scatter import NARROW, ROOMY, scatter
from xlingual.report.study.terms import TERMS
from xlingual.report.study.wording import amount, level, wanted
from xlingual.results import Interval
from xlingual.results.study import StudyAnalysis


def write_study(analysis: StudyAnalysis, path: str | Path, title: str | None = None) -> None:
    """Write the page to `path`, atomically; equal analyses give equal bytes.

    Raises InputError where the file cannot be written.
    """
    html.write_page(Path(path), render(analysis, title=title))


def render(analysis: StudyAnalysis, *, title: str | None = None) -> str:
    """Return the page as HTML."""
    templates = html.environment([])
    templates.filters["marked"] = marking.for_page
    return templates.get_template("study.html").render(
        title=title or analysis.title or f"Blind study {analysis.source} → {analysis.target}",
        facts=_facts(analysis),
        verdict=sentences.marked(analysis),
        wanted=wanted(analysis),
        level=level(analysis),
        over="queries and raters" if analysis.raters_resampled else "queries",
        systems_board=boards.systems(analysis),
        bars=boards.scores(analysis),
        labels=analysis.labels,
        pairs=boards.pairs(analysis),
        raters=tables.raters(analysis),
        agreement=cautions.degree(analysis.agreement) if analysis.n_raters > 1 else "",
        alpha=analysis.agreement,
        alpha_text=amount(analysis.agreement.alpha, analysis.agreement.ci),
        bkr=tables.bkr(analysis, isolated=True),
        figures=[scatter(analysis, size) for size in (ROOMY, NARROW)],
        looks=tables.looks(analysis),
        needed=tables.needed(analysis, isolated=True),
        glossary=TERMS if analysis.bkr else TERMS[:-1],
        warnings=analysis.warnings,
        conditions=_conditions(analysis),
        methods=_methods(analysis),
        systems=[],
        timings=[],
        version=html.program_version(),
        heat_css="",
    )


def _facts(analysis: StudyAnalysis) -> list[tuple[str, str]]:
    counts = [
        (len(analysis.systems), "system", "systems"),
        (analysis.n_queries, "query", "queries"),
        (analysis.n_raters, "rater", "raters"),
        (analysis.n_ratings, "rating", "ratings"),
    ]
    facts = [(one if count == 1 else many, numbers.count(count)) for count, one, many in counts]
    return [*facts, ("languages", f"{named(analysis.source)} → {named(analysis.target)}")]


def _conditions(analysis: StudyAnalysis) -> list[Condition]:
    labels = ", ".join(f"{number} \u2068{label}\u2069" for number, label in enumerate(analysis.labels, 1))
    settings = {
        "study": analysis.study,
        "scores": labels,
        "planned": f"{analysis.n_planned} queries",
        "correction": "Holm, over pairs of systems",
        "level": level(analysis),
        "replicates": numbers.count(analysis.replicates),
        "seed": str(analysis.seed),
        **analysis.conditions,
    }
    return [Condition(key, [value]) for key, value in settings.items()]


def _methods(analysis: StudyAnalysis) -> list[str]:
    found: list[Interval | None] = [row.very_relevant_ci for row in analysis.systems]
    for pair in analysis.pairs:
        found += [pair.ratio_ci, pair.score_ci, pair.win_ci]
    return sorted({ci.method for ci in [*found, analysis.agreement.ci] if ci})
