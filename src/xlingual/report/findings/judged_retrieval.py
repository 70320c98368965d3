"""The verdict on retrieval by judgements: who leads, in which language, and what nobody judged."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xlingual.languages import named
from xlingual.report import numbers, words
from xlingual.report.findings import chance, leads
from xlingual.report.findings.retrieval import few_queries
from xlingual.report.leaders import BoardRow, contains
from xlingual.report.pool_views import EncoderViews, views_of
from xlingual.results import Results
from xlingual.tasks import Task

LESS_JUDGED = 0.1  # by so much less of the first places judged than another's, a system may be underrated


def of_run(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[str]:
    """Return the findings of one run, from the rows of its first measure, the most important first."""
    run = runs[rows[0].run - 1]
    name = task.measure_name(rows[0].measure)
    found = [row for row in rows if row.value is not None]
    leader = next((row for row in found if row.standing == "leader"), None)
    every = views_of(runs, found)
    sentences = []
    if leader is not None and chance.none_above(found):
        sentences += chance.nothing_found(found[0], found, name, "")
    elif leader is not None:
        best = next(one for one in every if one.row is leader)
        sentences += [leads.lead(leader, found, name, ""), *leads.position(leader)]
        sentences += leads.not_good_enough(task, leader, len(found) == 1)
        sentences += _hardest(best)
    if not (chance.none_above(found) and all(row.at_chance for row in found)):
        sentences += chance.at_or_below(found)
    sentences += [*_unjudged(every, name), *_unanswered(every)]
    return sentences + leads.without_value(rows, name) + few_queries(run, task.name)


def _hardest(best: EncoderViews) -> list[str]:
    """Return the languages of queries with the lowest and the highest value, where they differ."""
    view, measure = "by_query_language", best.row.measure
    values = {tag: value for tag in best.mapping(view) if (value := best.number(view, tag)) is not None}
    if len(values) < 2:
        return []
    worst, easiest = sorted(values, key=lambda tag: values[tag], reverse=words.lower_is_better(measure))[
        :: len(values) - 1
    ]
    low, high = (
        numbers.with_interval(values[tag], best.interval(view, tag), measure) for tag in (worst, easiest)
    )
    ci = best.interval(view, worst)
    noise = ", a difference that may be noise" if ci is not None and contains(ci, values[easiest]) else ""
    return [
        f"Queries in {named(worst)} are its hardest, with {low}; those in {named(easiest)} its easiest, "
        f"with {high}{noise}."
    ]


def _unjudged(every: Sequence[EncoderViews], name: str) -> list[str]:
    """Return whose first places were judged so much less that its number may be too low."""
    shares = {
        one.row.encoder: share
        for one in every
        if one.number("incomplete") and (share := one.number("judged")) is not None
    }
    if len(shares) < 2:
        return []
    most = max(shares, key=lambda system: shares[system])
    fewer = [system for system, share in shares.items() if share < shares[most] - LESS_JUDGED]
    if not fewer:
        return []
    cut = cut_of(every[0].row.measure)
    named_fewer = numbers.in_words([f"{one} ({numbers.percent(shares[one])})" for one in fewer])
    return [
        f"Fewer of the first {cut} candidates of {named_fewer} were judged than of {most} "
        f"({numbers.percent(shares[most])}): what nobody judged counts as irrelevant, so {name} may be too "
        "low there; Bpref leaves unjudged candidates out."
    ]


def cut_of(measure: str) -> str:
    """Return k of a measure at k, "" of one without.

    >>> cut_of("AP@20/min"), cut_of("nDCG(dcg='exp-log2')@10"), cut_of("AP")
    ('20', '10', '')
    """
    found = re.search(r"@([0-9]+)", measure)
    return found[1] if found else ""


def _unanswered(every: Sequence[EncoderViews]) -> list[str]:
    """Return which systems returned nothing for some queries."""
    lacking = [(one, int(count)) for one in every if (count := one.number("unanswered"))]
    return [
        f"{one.row.encoder} returned nothing for {count:,} of {one.entry.n_source:,} queries, which count as "
        "misses."
        for one, count in lacking
        if one.entry is not None
    ]
