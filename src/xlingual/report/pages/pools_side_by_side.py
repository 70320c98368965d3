"""Several pools side by side: encoders as rows, pools as columns (Table 2 of the LAReQA paper)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xlingual.report import leaders, numbers
from xlingual.report.blocks import Block, Fold
from xlingual.report.leaders import BoardRow
from xlingual.report.pool_columns import PoolColumn, columns
from xlingual.report.table import Cell, Column, Row, Table, TableRoom, Tone
from xlingual.results import Results
from xlingual.tasks import Task

LOOKS = (TableRoom(), TableRoom(stacked=True), TableRoom(names=16, stacked=True))
REAL = "*"  # behind the best of the pool, and the interval of the paired difference excludes zero


def side_by_side(runs: Sequence[Results], task: Task) -> list[Block]:
    """Return a table for each measure, the first one open, with the differences behind it."""
    found: list[Block] = []
    for measure in leaders.measures(runs, task.name):
        pools = columns(runs, measure)
        if not pools:
            continue
        name = task.measure_name(measure)
        blocks = [_values(pools, name), *_differences(pools, name)]
        found += blocks if not found else [Fold(f"{name}, pools side by side", blocks)]
    return found


def _encoders(pools: Sequence[PoolColumn]) -> list[str]:
    """Return all encoders, in the order of the first pool, then those of the others."""
    return list(dict.fromkeys(name for pool in pools for name in pool.rows))


def _values(pools: Sequence[PoolColumn], name: str) -> Table:
    heads = [Column("encoder", "name", data=True), *(Column(pool.name, data=True) for pool in pools)]
    rows = [
        Row((Cell(encoder), *(_cell(pool, pool.rows.get(encoder)) for pool in pools)))
        for encoder in _encoders(pools)
    ]
    chances = [next(iter(pool.rows.values())).chance for pool in pools]
    if any(chance is not None for chance in chances):
        rows.append(
            Row((Cell("chance"), *(Cell.by(numbers.mark, chance) for chance in chances)), begins=True)
        )
    sizes = "; ".join(f"{pool.name}: {pool.size}" for pool in pools)
    marks = f"{REAL} behind the best of its pool: the interval of the paired difference excludes zero."
    return Table(
        f"{name}, {len(pools)} pools side by side",
        tuple(heads),
        tuple(rows),
        notes=(f"{sizes}.", *([marks] if any(map(_real, _all(pools))) else [])),
        looks=LOOKS,
        splits=True,
        records=[*_records(pools, f"{name}, {len(pools)} pools side by side")],
        where="both",
    )


def _cell(pool: PoolColumn, row: BoardRow | None) -> Cell:
    if row is None:
        return Cell(numbers.MISSING)
    tone: Tone = "best" if pool.is_best(row) else ""
    cell = Cell.of(row.value, row.ci, row.measure, tone=tone)
    return replace(cell, text=f"{cell.text}{REAL}") if _real(row) else cell


def _real(row: BoardRow) -> bool:
    return row.standing == "behind"


def _all(pools: Sequence[PoolColumn]) -> Iterator[BoardRow]:
    return (row for pool in pools for row in pool.rows.values())


def _differences(pools: Sequence[PoolColumn], name: str) -> list[Table]:
    """Return how far each encoder is behind the best one of each pool; nothing where there is one alone."""
    if not any(row.behind for row in _all(pools)):
        return []
    rows = []
    for encoder in _encoders(pools):
        own = [pool.rows.get(encoder) for pool in pools]
        cells = [
            Cell.difference(row.behind.value, row.behind.ci, row.measure)
            if row is not None and row.behind is not None
            else Cell("best" if row is not None and pool.best is row else numbers.MISSING)
            for pool, row in zip(pools, own, strict=True)
        ]
        rows.append(Row((Cell(encoder), *cells)))
    heads = [Column("encoder", "name", data=True), *(Column(pool.name, data=True) for pool in pools)]
    return [
        Table(
            f"{name}, behind the best of each pool",
            tuple(heads),
            tuple(rows),
            looks=LOOKS,
            splits=True,
            records=(),  # the first table has them
            where="both",
        )
    ]


def _records(pools: Sequence[PoolColumn], title: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of the CSV: one for each pool and encoder."""
    for pool in pools:
        for encoder, row in pool.rows.items():
            low, high = numbers.ends(row.ci) or (None, None)
            behind = row.behind
            ends = (None, None) if behind is None else numbers.ends(behind.ci) or (None, None)
            yield {
                "table": title,
                "pool": pool.name,
                "encoder": encoder,
                "value": row.value,
                "value_low": low,
                "value_high": high,
                "chance": row.chance,
                "behind": None if behind is None else behind.value,
                "behind_low": ends[0],
                "behind_high": ends[1],
                "questions": row.n_queries,
            }


def findings(pools: Sequence[PoolColumn], name: str) -> list[str]:
    """Return the sentences about pools by a measure of a name."""
    apart = "Pools have questions of their own: differences are tested within each pool, not between two."
    return [*_best(pools, name), *_order(pools), apart]


def _best(pools: Sequence[PoolColumn], name: str) -> list[str]:
    """Return the best encoder of each pool, and with whom it is level."""
    several = [pool for pool in pools if len(pool.ordered) > 1]
    if not several:
        return _alone(pools, name)
    known = [(pool, pool.ordered[0]) for pool in several if pool.best]
    lost = numbers.in_words([pool.name for pool in several if not pool.best])
    return [*_named(known, name), *([f"No encoder is above chance on {lost}."] if lost else [])]


def _named(known: Sequence[tuple[PoolColumn, str]], name: str) -> list[str]:
    """Return who is best where somebody is."""
    if not known:
        return []
    level = [
        f"level with {numbers.in_words(names)} on {pool.name}"
        for pool, _ in known
        if (names := [one for one, row in pool.rows.items() if row.standing == "level"])
    ]
    text = f" ({numbers.in_words(level)})" if level else ""
    if len({best for _, best in known}) == 1:
        where = numbers.in_words([pool.name for pool, _ in known])
        return [f"{known[0][1]} has the best {name} on {where}{text}."]
    best = numbers.in_words([f"{best} on {pool.name}" for pool, best in known])
    return [f"The best {name} is not that of one encoder: {best}{text}."]


def _alone(pools: Sequence[PoolColumn], name: str) -> list[str]:
    """Return the values where every pool has a single encoder."""
    shown = [
        f"{row.encoder} {numbers.with_interval(row.value, row.ci, row.measure)} on {pool.name}"
        for pool in pools
        for row in pool.rows.values()
    ]
    return [f"{name}: {numbers.in_words(shown)}."]


def _order(pools: Sequence[PoolColumn]) -> list[str]:
    """Return whether the encoders that are on all pools come in the same order on each."""
    shared = [name for name in pools[0].ordered if all(name in pool.ordered for pool in pools)]
    if len(shared) < 2:
        return []
    orders = [[name for name in pool.ordered if name in shared] for pool in pools]
    if all(order == orders[0] for order in orders):
        where = "both pools" if len(pools) == 2 else f"all {len(pools)} pools"
        return [f"The order of the {len(shared)} encoders is the same on {where}."]
    shown = "; ".join(
        f"on {pool.name} {', '.join(order[:5])}{' …' if len(order) > 5 else ''}"
        for pool, order in zip(pools, orders, strict=True)
    )
    return [f"The order of the encoders differs between the pools: {shown}."]
