"""What a page shows about retrieval: leaderboards, language pairs, and the best and worst queries."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import examples, leaders, numbers, words
from xlingual.report.blocks import Block, Boxes, Heading, Matrix, Section
from xlingual.report.figures import pairs as figures
from xlingual.report.findings.retrieval import findings
from xlingual.report.leaders import BoardRow
from xlingual.report.pages import hubs
from xlingual.report.pages.boards import boards
from xlingual.report.pages.evaluation import TaskPart
from xlingual.results import Results
from xlingual.tasks import Task


def part(runs: Sequence[Results], task: Task, budget: int) -> TaskPart:
    """Return the part of a task whose queries look for candidates of another language."""
    measure = leaders.measures(runs, task.name)[0]
    rows = leaders.leaderboard(runs, task.name, measure)
    used_by_hubs = hubs.image_bytes(runs, rows)
    ordered = sorted(rows, key=_by_rank)
    shown, used = examples.chosen(runs, task, ordered, budget - used_by_hubs, _values(runs, task, ordered[0]))
    of_hubs = hubs.blocks(runs, rows)
    entries = [entry for run in runs for entry in run.entries if entry.task == task.name]
    blocks = [*boards(runs, task), *_pairs(runs, task, rows), *of_hubs, *shown]
    return TaskPart(
        section=Section(task.title, blocks, task.about),
        findings=findings(runs, task),
        sizes={
            "queries per pair": [entry.n_source for entry in entries],
            "candidates per pair": [entry.n_target for entry in entries],
        },
        seeds=frozenset(entry.seed for entry in entries),
        terms=[*words.GLOSSARY, *([hubs.TERM] if of_hubs else [])],
        image_bytes=used + used_by_hubs,
    )


def _values(runs: Sequence[Results], task: Task, leader: BoardRow) -> dict[tuple[str, str], str]:
    """Return the leader's number of each language pair, in words."""
    own = leaders.pair_rows(runs, task.name, leader.measure).get(leader.system, {})
    name = task.measure_name(leader.measure)
    return {
        pair: f"{name} {numbers.with_interval(row.value, row.ci, row.measure)}"
        for pair, row in own.items()
        if row.value is not None
    }


def _pairs(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[Block]:
    """Return how language pairs differ, where there are several."""
    pairs = leaders.pair_rows(runs, task.name, rows[0].measure)
    n_pairs = len({key for own in pairs.values() for key in own})
    name = task.measure_name(rows[0].measure)
    blocks: list[Block] = []
    if n_pairs > 1:
        axis = figures.box_axis(rows, pairs)
        blocks += [Heading("Over language pairs"), Boxes(name, figures.boxes(rows, pairs), axis)]
    if n_pairs >= figures.FEWEST_FOR_MAP:
        maps = figures.heat_maps(rows, pairs)
        blocks.append(Matrix(maps, name, figures.scale_ends(rows, pairs), title="By source and target"))
    return blocks


def _by_rank(row: BoardRow) -> tuple[bool, int, int]:
    """Order the best rows of several runs first: those without a value come last."""
    return (row.rank is None, row.rank or 0, row.run)
