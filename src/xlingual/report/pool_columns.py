"""Results over several pools, pool by pool: what a table of pools side by side has in its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xlingual.report import conditions, leaders, numbers
from xlingual.report.leaders import BoardRow
from xlingual.report.pool_views import TASK
from xlingual.results import Results, by_key
from xlingual.results.names import given_name

Conditions: TypeAlias = tuple[tuple[str, str], ...]
TOLD = ("policy", "candidates", "similarity", "languages")  # conditions that tell columns of one pool apart


@dataclass(frozen=True)
class PoolColumn:
    """One pool: the rows of its leaderboard by encoder, best first in each run, and what it holds."""

    name: str
    rows: Mapping[str, BoardRow]
    size: str

    @property
    def ordered(self) -> list[str]:
        """The encoders with a value, best first."""
        known = [name for name, row in self.rows.items() if row.value is not None]
        return sorted(known, key=lambda name: leaders.badness(self.rows[name]))

    @property
    def best(self) -> BoardRow | None:
        """The row with the best value of several; None also where that is not above chance."""
        first = self.rows[self.ordered[0]] if len(self.rows) > 1 and self.ordered else None
        return None if first is None or first.side_of_chance in ("at", "below") else first

    def is_best(self, row: BoardRow) -> bool:
        """Tell whether a row has the best value of several."""
        return self.best is not None and row.value == self.best.value


def columns(runs: Sequence[Results], measure: str) -> list[PoolColumn]:
    """Return a column for each pool with the measure; runs under the same conditions share it.

    Nothing where all runs are over the same pool. An encoder that is in two runs over one pool has two rows.
    """
    places: dict[Conditions, list[int]] = {}
    for place, run in enumerate(runs):
        if entries := by_key(run.entries, task=TASK, measure=measure):
            own = conditions.parsed(entries[0].signature).conditions
            places.setdefault(tuple(own.items()), []).append(place)
    if len({dict(key).get("data") for key in places}) < 2:
        return []
    names = _names(runs, places)
    return [
        PoolColumn(name, _rows(runs, own, measure), _size(runs[own[0]], measure))
        for name, own in zip(names, places.values(), strict=True)
    ]


def _names(runs: Sequence[Results], places: Mapping[Conditions, Sequence[int]]) -> list[str]:
    """Return the name of each column: of its pool, with conditions that differ where a pool has two columns.

    Where that does not tell them apart, the names of the runs.
    """
    pools = [dict.fromkeys(given_name(runs[place]) for place in own) for own in places.values()]
    found = [next(iter(own)) for own in pools if len(own) == 1]
    if all(found) and len(set(found)) < len(found):
        keys = [key for key in TOLD if len({dict(own).get(key) for own in places}) > 1]
        found = [
            ", ".join([name, *(dict(own)[key] for key in keys if key in dict(own))])
            for name, own in zip(found, places, strict=True)
        ]
    if all(found) and len(set(found)) == len(pools):
        return found
    each = leaders.run_names(runs)
    return [", ".join(each[place] for place in own) for own in places.values()]


def _rows(runs: Sequence[Results], places: Sequence[int], measure: str) -> dict[str, BoardRow]:
    found: dict[str, BoardRow] = {}
    names = leaders.run_names(runs)
    for place in places:
        for row in leaders.leaderboard(runs[place], TASK, measure):
            label = row.encoder if row.encoder not in found else f"{row.encoder} ({names[place]})"
            found[label] = row
    return found


def _size(run: Results, measure: str) -> str:
    """Return how many questions and candidates there are, and in which languages."""
    entry = by_key(run.entries, task=TASK, measure=measure)[0]
    languages = conditions.parsed(entry.signature).conditions.get("languages", "").replace(",", ", ")
    sizes = f"{numbers.count(entry.n_source)} questions, {numbers.count(entry.n_target)} candidates"
    return f"{sizes}{f' in {languages}' if languages else ''}"
