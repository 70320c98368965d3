"""Many encoders on many data sets and tasks: values, rank intervals, who shares the top, what is missing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import convert
from msgspec.structs import replace

from xlingual.comparison.board_cells import Number, grouped, numbers_of
from xlingual.comparison.board_ranks import Ranked, ranked
from xlingual.comparison.board_reading import Given
from xlingual.comparison.board_rows import (
    column_names,
    lower_is_better,
    means_of,
    once,
    row_names,
    row_order,
    shared_conditions,
)
from xlingual.comparison.outcome import Rules
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.results.digest import digest_of
from xlingual.results.evaluation import Cost
from xlingual.results.leaderboard import Leaderboard, ResultCell, ResultColumn, Source
from xlingual.tasks import TASKS

Progress = Callable[[str, int, int], None]  # progress: what, done, total


def board_of(
    given: Sequence[Given],
    *,
    measures: Sequence[str] = (),
    per_pair: bool = False,
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int = 0,
    progress: Progress | None = None,
) -> Leaderboard:
    """Return the leaderboard of results that were read; for the arguments see `workflows.leaderboard`."""
    started, rules = time.perf_counter(), Rules(correction, alpha, None)
    found = [number for one in given for number in numbers_of(one, measures, per_pair)]
    _refuse_nothing(given, found, measures)
    groups = _ordered(grouped(found))
    warnings: dict[str, None] = {}
    names, heads = row_names(groups, warnings), column_names(groups, per_pair)
    sources = {one.name: _source(one) for one in given}
    columns: list[ResultColumn] = []
    for place, (head, group) in enumerate(zip(heads, groups, strict=True)):
        if progress is not None:
            progress("comparing encoders", place, len(groups))
        own = {names[one.encoder, one.identity]: one for one in once(group, names, head, warnings)}
        columns.append(_column(head, own, ranked(list(own.values()), list(own), rules, seed)))
    means, no_mean = means_of(columns)
    rows = row_order(columns, means, set(names.values()))
    return Leaderboard(
        encoders=rows,
        columns=[_whole(column, rows) for column in columns],
        results=list(sources.values()),
        means=means,
        no_mean=no_mean,
        correction=correction,
        alpha=alpha,
        seed=seed,
        warnings=list(warnings),
        timings={"leaderboard": time.perf_counter() - started},
    )


def _refuse_nothing(given: Sequence[Given], found: Sequence[Number], measures: Sequence[str]) -> None:
    """Raise InputError where no number is left, or one of the measures is nowhere."""
    known = dict.fromkeys(row.measure for one in given for row in one.results.summary)
    for name in measures:
        if name not in known:
            raise InputError(
                f"no result has the measure {name!r}.{did_you_mean(name, known)} Measures: {listed(known)}"
            )
    if not found:
        raise InputError(
            "the results hold no numbers: run an evaluation first, such as 'xlingual evaluate bkr'"
        )


def _ordered(columns: Sequence[Sequence[Number]]) -> list[Sequence[Number]]:
    """Sort columns: data with the most encoders, then by task, measure and conditions."""
    tasks, most = list(TASKS), Counter[str]()
    for column in columns:
        most[column[0].data] = max(most[column[0].data], len(column))

    def place(column: Sequence[Number]) -> tuple[object, ...]:
        first = column[0]
        task = tasks.index(first.task) if first.task in tasks else len(tasks)
        apart = (first.measure, -len(column), str(first.key), first.order)
        return -most[first.data], first.data, task, *apart

    return sorted(columns, key=place)


def _column(head: str, own: Mapping[str, Number], found: Ranked) -> ResultColumn:
    first = next(iter(own.values()))
    chances = {number.chance for number in own.values() if number.chance is not None}
    cells = []
    for row, number in own.items():
        low, high = found.ranks.get(row, (None, None))
        cells.append(
            ResultCell(
                encoder=row,
                value=number.value,
                ci=number.ci,
                rank_low=low,
                rank_high=high,
                top=low == 1,
                result=number.given.name,
                cost=convert(number.cost, Cost),
                note=number.note or (None if number.value is not None else "evaluated, without a number"),
            )
        )
    return ResultColumn(
        name=head,
        data=first.data,
        task=first.task,
        measure=first.measure,
        languages=list(first.languages),
        conditions=shared_conditions(first),
        cells=cells,
        chance=min(chances, default=None),
        lower_is_better=lower_is_better(first),
        n_parts=first.n_parts,
        n_seeds=first.n_seeds,
        n_queries=found.n_queries,
        n_tests=found.n_tests,
        untested=found.why,
    )


def _whole(column: ResultColumn, rows: Sequence[str]) -> ResultColumn:
    """Return the column with a cell for every row, the best first."""
    had = {cell.encoder for cell in column.cells}
    missing = [ResultCell(row, None, note="not evaluated here") for row in rows if row not in had]
    sign = 1 if column.lower_is_better else -1
    cells = sorted(
        [*column.cells, *missing],
        key=lambda cell: (cell.value is None, sign * (cell.value or 0.0), cell.encoder),
    )
    return replace(column, cells=cells)


def _source(given: Given) -> Source:
    run = given.results
    tasks = list(dict.fromkeys(row.task for row in run.summary))
    date = run.run.get("date")
    return Source(given.name, str(given.folder), tasks, str(date) if date else None, digest_of(run))
