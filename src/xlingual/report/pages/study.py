"""The page of a blind study: systems, their differences, people against Backretrieval, and raters."""

from __future__ import annotations

from xlingual.languages import named
from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Finding, Heading, Legend, Page, Section
from xlingual.report.figures.study import people_against_bkr
from xlingual.report.findings.study import findings
from xlingual.report.findings.study_cautions import degree
from xlingual.report.marking import unbroken
from xlingual.report.pages import study_tables as tables
from xlingual.report.study_views import amount, best_label, level, ranked
from xlingual.report.table import Key
from xlingual.results.study import StudyAnalysis

TERMS = {
    "Blind": "Raters see a query and the suggestions of all systems mixed, in an order drawn for each "
    "rater. A suggestion that several systems make is shown once and counts for each of them. Which system "
    "made what is kept in a file that only the analysis opens.",
    "Very relevant per query": "How many of a system's suggestions for a query got the best score, as a "
    "mean over queries and raters. The ratio of two systems is the sum of one over the sum of the other, on "
    "the same queries and by the same raters; its interval is taken on the logarithmic scale.",
    "Mean score": "The mean over all scores (1 is best, 4 worst). It takes the steps between "
    "scores as equal.",
    "Win rate": "A query is won by the system with more suggestions of the best score; where these are as "
    "many, by the better mean score. Even queries count half.",
    "p": "The probability of a difference this large if the two systems are equally good, from random swaps "
    "of their names within queries. The adjusted p is corrected for the number of pairs (Holm).",
    "Interval": "Where the number would land for other queries from the same source. With five raters or "
    "more, raters are resampled too, and it holds for other raters as well; with fewer it is about these "
    "raters. It is not widened for the number of pairs.",
    **dict([words.NO_DIFFERENCE]),
    "Krippendorff's alpha": "How far raters agree on the order of scores, beyond what luck gives: 1 is "
    "perfect agreement, 0 luck. Customary limits are .8 for firm and .667 for tentative conclusions about "
    "single suggestions; means over many suggestions need less.",
    "Repeats and controls": "Pages that a rater is asked twice, and suggestions that are obviously right or "
    "wrong. They show how consistent and attentive a rater is, and count in no other number.",
}


def page(analysis: StudyAnalysis, *, title: str | None = None) -> Page:
    """Return the page of the analysis of a study."""
    shown = ranked(analysis)
    intervals = [row.very_relevant_ci for row in shown] + [analysis.agreement.ci]
    intervals += [ci for pair in analysis.pairs for ci in (pair.ratio_ci, pair.score_ci, pair.win_ci)]
    about = f"Suggestions that raters called {best_label(analysis)}, per query: mean over queries and raters."
    facts = numbers.facts(
        (len(analysis.systems), "system", "systems"),
        (analysis.n_queries, "query", "queries"),
        (analysis.n_raters, "rater", "raters"),
        (analysis.n_ratings, "rating", "ratings"),
    )
    conditions = {
        "study": analysis.study,
        "scores": ", ".join(f"{n} \u2068{label}\u2069" for n, label in enumerate(analysis.labels, 1)),
        "planned": f"{analysis.n_planned} queries",
        "correction": "Holm, over pairs of systems",
        "level": level(analysis),
        "replicates": numbers.count(analysis.replicates),
        "seed": str(analysis.seed),
        **analysis.conditions,
    }
    return Page(
        kind="blind study",
        title=title or analysis.title or f"Blind study {analysis.source} → {analysis.target}",
        verdict=[Finding(list(map(unbroken, findings(analysis))))],
        sections=[
            Section("Systems", [*tables.systems(analysis, shown), *tables.scores(analysis, shown)], about),
            *_pairs(analysis),
            *_with_bkr(analysis),
            Section("Raters", [tables.raters(analysis)], _agreement(analysis)),
        ],
        facts=[*facts, ("languages", f"{named(analysis.source)} → {named(analysis.target)}")],
        terms=(*TERMS.items(), *(words.terms("BkR") if analysis.bkr else ())),
        warnings=analysis.warnings,
        conditions=[(key, [value]) for key, value in conditions.items()],
        methods=sorted({ci.method for ci in intervals if ci}),
    )


def _pairs(analysis: StudyAnalysis) -> list[Section]:
    if not analysis.pairs:
        return []
    about = (
        f"How many times as many {best_label(analysis)} suggestions the first system has, on the same "
        "queries and by the same raters. The axis is logarithmic: twice as many lies as far from 1 as half "
        "as many."
    )
    return [Section("Against each other", tables.pairs(analysis), about)]


def _with_bkr(analysis: StudyAnalysis) -> list[Section]:
    """Return people against BkR: systems as points, and differences query by query."""
    blocks: list[Block] = []
    if (figure := people_against_bkr(analysis)) is not None:
        lines = f"vertical lines: {level(analysis)} intervals of the mean"
        blocks += [figure, Legend((Key("a point: a system"), Key(lines)))]
    if analysis.bkr:
        blocks += [Heading("Query by query"), tables.against_bkr(analysis)]
    about = "Whether BkR, which needs no raters, favours the same system on the same queries."
    return [Section("People and Backretrieval", blocks, about)] if blocks else []


def _agreement(analysis: StudyAnalysis) -> str:
    """Return how closely raters agree."""
    found, over = analysis.agreement, ""
    if analysis.n_raters < 2:
        return "With one rater, it is not known how far raters agree."
    if found.alpha is not None:
        alpha = f"Krippendorff's alpha {amount(found.alpha, found.ci)}"
        over = f": {alpha} over {found.n_units} suggestions that two raters or more scored"
    return f"{degree(found)}{over}. {found.note or ''}".rstrip()
