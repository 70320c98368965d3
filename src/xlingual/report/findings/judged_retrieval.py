"""The verdict on retrieval by judgements: who leads, in which language, and what nobody judged."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.languages import named
from xlingual.report import numbers, words
from xlingual.report.findings import leads
from xlingual.report.leaders import BoardRow, contains
from xlingual.report.pages import hubs
from xlingual.report.pages.evaluation import few_queries
from xlingual.report.pool_views import EncoderViews, views_of
from xlingual.results import Results
from xlingual.results.cautions import judged_share, less_judged
from xlingual.tasks import Task


def of_run(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[str]:
    """Return the findings of one run, from the rows of its first measure, the most important first."""
    run = runs[rows[0].run - 1]
    name = task.measure_name(rows[0].measure)
    found = [row for row in rows if row.value is not None]
    leader = next((row for row in found if row.standing == "leader"), None)
    every = views_of(runs, found)
    sentences = []
    if leader is not None and leads.none_above(found):
        sentences += leads.nothing_found(found[0], found, name, "")
    elif leader is not None:
        best = next(one for one in every if one.row is leader)
        sentences += [leads.lead(leader, found, name, ""), *leads.position(leader)]
        sentences += _hardest(best)
    if not (leads.none_above(found) and all(row.at_chance for row in found)):
        sentences += leads.at_or_below(found)
    sentences += less_judged(
        {one.row.encoder: judged_share(one.entry) for one in every if one.entry is not None},
        rows[0].measure,
        name,
    )
    sentences += [*hubs.alarm(runs, found), *leads.misses(run, rows)]
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
