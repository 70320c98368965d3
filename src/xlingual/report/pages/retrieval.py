"""What a page says and shows about retrieval: who leads, leaderboards, language pairs, and single queries."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import examples, leaders, numbers, words
from xlingual.report.blocks import Block, Boxes, Heading, Matrix, Section
from xlingual.report.figures import pairs as figures
from xlingual.report.findings import leads
from xlingual.report.leaders import BoardRow, contains
from xlingual.report.pages import hubs
from xlingual.report.pages.boards import boards
from xlingual.report.pages.evaluation import TaskPart, few_queries, findings
from xlingual.results import Results, Summary
from xlingual.results.kinds import differences, no_leader, taken_as_one
from xlingual.tasks import Task

MANY_MATCHES = 50  # items with texts in both languages


def part(runs: Sequence[Results], task: Task, budget: int) -> TaskPart:
    """Return the part of a task whose queries look for candidates of another language."""
    measure = leaders.measures(runs, task.name)[0]
    rows = leaders.leaderboard(runs, task.name, measure)
    ordered = sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.run))
    used_by_hubs, name = hubs.image_bytes(runs, rows), task.measure_name(measure)
    pairs = leaders.pair_rows(runs, task.name, measure)
    values = {
        pair: f"{name} {numbers.with_interval(row.value, row.ci, row.measure)}"
        for pair, row in pairs.get(ordered[0].system, {}).items()
        if row.value is not None
    }
    shown, used = examples.chosen(runs, task, ordered, budget - used_by_hubs, values)
    n_pairs = len({key for own in pairs.values() for key in own})
    over_pairs: list[Block] = []
    if n_pairs > 1:
        boxes = Boxes(name, figures.boxes(rows, pairs), figures.box_axis(rows, pairs))
        over_pairs += [Heading("Over language pairs"), boxes]
    if n_pairs >= figures.FEWEST_FOR_MAP:
        maps, ends = figures.heat_maps(rows, pairs)
        over_pairs.append(Matrix(maps, name, ends, title="By source and target"))
    of_hubs = hubs.blocks(runs, rows)
    entries = [entry for run in runs for entry in run.entries if entry.task == task.name]
    return TaskPart(
        section=Section(task.title, [*boards(runs, task), *over_pairs, *of_hubs, *shown], task.about),
        findings=findings(runs, task, _verdict),
        sizes={
            "queries per pair": [entry.n_source for entry in entries],
            "candidates per pair": [entry.n_target for entry in entries],
        },
        seeds=frozenset(entry.seed for entry in entries),
        terms=[*words.GLOSSARY, *([hubs.TERM] if of_hubs else [])],
        image_bytes=used + used_by_hubs,
    )


def _verdict(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[str]:
    """Return the sentences about one run, the most important first."""
    name, run = task.measure_name(rows[0].measure), runs[rows[0].run - 1]
    valued = [row for row in rows if row.value is not None]
    leader = next((row for row in valued if row.standing == "leader"), valued[0] if valued else None)
    unlike = differences(leaders.kinds_of(valued, run)) if task.by_images else []
    lost, sentences = leads.none_above(valued), []
    if unlike and not lost:
        sentences.append(f"No leader is named: {no_leader(unlike)}.")
    elif leader is not None:
        pairs = leaders.pair_rows(runs, task.name, leader.measure).get(leader.system, {})
        where = f" on average over {leader.n_pairs} language pairs" if leader.n_pairs > 1 else ""
        if leader.n_pairs == 1 and len(pairs) == 1:
            where = f" for {words.pair(*next(iter(pairs)))}"
        if lost:
            sentences += leads.nothing_found(valued[0], valued, name, where)
        else:
            sentences += [leads.lead(leader, valued, name, where), *leads.position(leader)]
            sentences += _hardest(leader, list(pairs.values()))
    if not (lost and all(row.at_chance for row in valued)):
        sentences += leads.at_or_below(valued)
    sentences += [*hubs.alarm(runs, valued), *leads.misses(run, rows), *leads.without_value(rows, name)]
    sentences += few_queries(run, task.name) if valued else []
    if not task.by_images:
        return sentences
    if not unlike and not lost:
        sentences += taken_as_one(leaders.kinds_of(valued, run))
    both, total = run.diagnostics.get("items_with_both", 0), run.diagnostics.get("items", 0)
    if both >= MANY_MATCHES and 2 * both >= total:
        sentences.append(
            f"{numbers.count(both)} of {numbers.count(total)} items have texts in both languages: these are "
            "true matches, which xlingual evaluate crosslingual-retrieval (xlr) ranks directly."
        )
    return sentences


def _hardest(leader: BoardRow, pairs: Sequence[Summary]) -> list[str]:
    """Return the leader's worst and best language pair, where these differ by more than noise."""
    sign = -1 if words.lower_is_better(leader.measure) else 1
    valued = sorted((sign * row.value, row.source, row.target, row) for row in pairs if row.value is not None)
    if len(valued) < 2:
        return []
    low, high = valued[0][-1], valued[-1][-1]
    for row, other in ((low, high), (high, low)):
        if other.value is None or row.ci is None or contains(row.ci, other.value):
            return []
    hard = numbers.with_interval(low.value, low.ci, leader.measure)
    hardest, easiest = (words.pair(row.source or "", row.target or "") for row in (low, high))
    easy = numbers.number(high.value, leader.measure)
    return [f"Its hardest pair is {hardest} with {hard}; its easiest is {easiest} with {easy}."]
