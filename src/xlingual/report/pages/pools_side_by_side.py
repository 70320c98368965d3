"""Several pools side by side: encoders as rows, pools as columns (Table 2 of the LAReQA paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xlingual.report import conditions, leaders, numbers
from xlingual.report.blocks import Block, Fold
from xlingual.report.leaders import BoardRow
from xlingual.report.pool_views import TASK
from xlingual.report.table import Cell, Column, Row, Table, TableRoom
from xlingual.results import Results, by_key
from xlingual.results.names import given_name
from xlingual.tasks import Task

LOOKS = (TableRoom(), TableRoom(stacked=True), TableRoom(names=16, stacked=True))
REAL = "*"  # behind the best of the pool, and the interval of the paired difference excludes zero
TOLD = ("candidates", "similarity", "languages")  # conditions that tell columns of one pool apart


@dataclass(frozen=True)
class PoolColumn:
    """One pool: the rows of its leaderboard by encoder, best first in each run, and what it holds."""

    name: str
    rows: Mapping[str, BoardRow]
    size: str

    @property
    def ordered(self) -> list[str]:
        """The encoders with a value, best first."""
        valued = [name for name, row in self.rows.items() if row.value is not None]
        return sorted(valued, key=lambda name: leaders.badness(self.rows[name]))

    @property
    def best(self) -> BoardRow | None:
        """The row with the best value of several; None also where that is not above chance."""
        first = self.rows[self.ordered[0]] if len(self.rows) > 1 and self.ordered else None
        return None if first is None or first.side_of_chance in ("at", "below") else first

    def cell(self, encoder: str) -> Cell:
        """Return the value of an encoder, with its tone and its mark."""
        row = self.rows.get(encoder)
        if row is None:
            return Cell(numbers.MISSING)
        best = self.best is not None and row.value == self.best.value
        cell = Cell.of(row.value, row.ci, row.measure, tone="best" if best else "")
        return replace(cell, text=f"{cell.text}{REAL}") if row.standing == "behind" else cell


def columns(runs: Sequence[Results], measure: str) -> list[PoolColumn]:
    """Return a column for each pool with the measure; runs under the same conditions share it.

    Nothing where all runs are over the same pool. An encoder that is in two runs over one pool has two rows.
    """
    places: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for place, run in enumerate(runs):
        if entries := by_key(run.entries, task=TASK, measure=measure):
            key = tuple(conditions.parsed(entries[0].signature).conditions.items())
            places.setdefault(key, []).append(place)
    if len({dict(key).get("data") for key in places}) < 2:
        return []
    each = leaders.run_names(runs)
    names = [given_name(runs[here[0]]) or "" for here in places.values()]
    if len(set(names)) < len(names):
        told = [key for key in TOLD if len({dict(here).get(key) for here in places}) > 1]
        names = [
            ", ".join([name, *(dict(here)[key] for key in told if key in dict(here))])
            for name, here in zip(names, places, strict=True)
        ]
    if not all(names) or len(set(names)) < len(names):  # then the names of the runs
        names = [", ".join(each[place] for place in here) for here in places.values()]
    made = []
    for name, here in zip(names, places.values(), strict=True):
        rows: dict[str, BoardRow] = {}
        for place in here:
            for row in leaders.leaderboard(runs[place], TASK, measure):
                rows[row.encoder if row.encoder not in rows else f"{row.encoder} ({each[place]})"] = row
        entry = by_key(runs[here[0]].entries, task=TASK, measure=measure)[0]
        tags = conditions.parsed(entry.signature).conditions.get("languages", "").replace(",", ", ")
        size = f"{numbers.count(entry.n_source)} questions, {numbers.count(entry.n_target)} candidates"
        made.append(PoolColumn(name, rows, f"{size}{f' in {tags}' if tags else ''}"))
    return made


def side_by_side(runs: Sequence[Results], task: Task) -> list[Block]:
    """Return a table for each measure, the first one open."""
    blocks: list[Block] = []
    for measure in leaders.measures(runs, task.name):
        if pools := columns(runs, measure):
            table = _table(pools, task.measure_name(measure))
            title = f"{task.measure_name(measure)}, pools side by side"
            blocks.append(Fold(title, [table]) if blocks else table)
    return blocks


def _table(pools: Sequence[PoolColumn], name: str) -> Table:
    title = f"{name}, {len(pools)} pools side by side"
    encoders = list(dict.fromkeys(encoder for pool in pools for encoder in pool.rows))
    rows = [Row((Cell(encoder), *(pool.cell(encoder) for pool in pools))) for encoder in encoders]
    chances = [next(iter(pool.rows.values())).chance for pool in pools]
    if any(chance is not None for chance in chances):
        cells = (Cell.by(numbers.mark, chance) for chance in chances)
        rows.append(Row((Cell("chance"), *cells), begins=True))
    notes = ["; ".join(f"{pool.name}: {pool.size}" for pool in pools) + "."]
    if any(row.standing == "behind" for pool in pools for row in pool.rows.values()):
        notes.append(
            f"{REAL} behind the best of its pool: the interval of the paired difference excludes zero."
        )
    records = []
    for pool in pools:
        for encoder, row in pool.rows.items():
            low, high = numbers.ends(row.ci) or (None, None)
            value, ci = (None, None) if row.behind is None else (row.behind.value, row.behind.ci)
            least, most = numbers.ends(ci) or (None, None)
            record = {"table": title, "pool": pool.name, "encoder": encoder, "value": row.value}
            record |= {"value_low": low, "value_high": high, "chance": row.chance, "behind": value}
            records.append(record | {"behind_low": least, "behind_high": most, "questions": row.n_queries})
    heads = (Column("encoder", "name", data=True), *(Column(pool.name, data=True) for pool in pools))
    table = Table(title, heads, tuple(rows), notes=tuple(notes), looks=LOOKS, where="both")
    return replace(table, splits=True, records=records)


def findings(pools: Sequence[PoolColumn], name: str) -> list[str]:
    """Return the sentences about pools by a measure of a name: the best of each, and their order."""
    apart = "Pools have questions of their own: differences are tested within each pool, not between two."
    several = [pool for pool in pools if len(pool.ordered) > 1]
    if not several:
        shown = [
            f"{row.encoder} {numbers.with_interval(row.value, row.ci, row.measure)} on {pool.name}"
            for pool in pools
            for row in pool.rows.values()
        ]
        return [f"{name}: {numbers.in_words(shown)}.", apart]
    sentences = []
    if led := [pool for pool in several if pool.best]:
        best = list(dict.fromkeys(pool.ordered[0] for pool in led))
        where = numbers.in_words([pool.name for pool in led])
        each = numbers.in_words([f"{pool.ordered[0]} on {pool.name}" for pool in led])
        sentences.append(
            f"{best[0]} has the best {name} on {where}."
            if len(best) == 1
            else f"The best {name} is not that of one encoder: {each}."
        )
    if lost := [pool.name for pool in several if not pool.best]:
        sentences.append(f"No encoder is above chance on {numbers.in_words(lost)}.")
    shared = [name for name in pools[0].ordered if all(name in pool.ordered for pool in pools)]
    orders = [[name for name in pool.ordered if name in shared] for pool in pools]
    if len(shared) > 1:
        same = all(order == orders[0] for order in orders)
        where = "both pools" if len(pools) == 2 else f"all {len(pools)} pools"
        how = f"is the same on {where}" if same else "differs between the pools"
        sentences.append(f"The order of the {len(shared)} encoders {how}.")
    return [*sentences, apart]
