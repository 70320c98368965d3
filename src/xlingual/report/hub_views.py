"""The hubs of encoders, as results keep them: one record for each encoder and language pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from xlingual.report import words
from xlingual.report.leaders import BoardRow
from xlingual.results import Entry, Results, by_key
from xlingual.results.views import HubCounts

ANY = ("all", "pool")  # source and target of a pool: no language pair


@dataclass(frozen=True)
class EncoderHubs:
    """The hubs of one encoder in one subject; `n_alarms` of its `n_subjects` are an alarm."""

    row: BoardRow
    entry: Entry
    hubs: HubCounts
    n_alarms: int
    n_subjects: int

    @property
    def where(self) -> str:
        """The language pair; "" for a pool."""
        pair = self.entry.source, self.entry.target
        return "" if pair == ANY else words.pair(*pair)


def hubs_of(runs: Sequence[Results], rows: Iterable[BoardRow]) -> list[EncoderHubs]:
    """Return the hubs of each encoder that has some, of several subjects where they are strongest.

    An alarm comes first, then the largest share of the errors; rows stay in their order.
    """
    found = []
    for row in rows:
        of_row = [
            (entry, hubs)
            for entry in by_key(runs[row.run - 1].entries, task=row.task, encoder=row.encoder)
            if isinstance(hubs := getattr(entry.views, "hubs", None), HubCounts) and hubs.k
        ]
        if of_row:
            entry, hubs = max(of_row, key=lambda one: (bool(one[1].alarm), one[1].errors or 0.0))
            n_alarms = sum(bool(hubs.alarm) for _, hubs in of_row)
            found.append(EncoderHubs(row, entry, hubs, n_alarms, len(of_row)))
    return found


def largest_of(runs: Sequence[Results], one: EncoderHubs) -> list[dict[str, Any]]:
    """Return the largest hubs with their texts, the most frequent first; none where texts are not kept."""
    table = runs[one.row.run - 1].tables.get("hubs")
    wanted: dict[str, str | int] = {"task": one.row.task, "encoder": one.row.encoder}
    wanted |= {"source": one.entry.source, "target": one.entry.target, "seed": one.entry.seed}
    rows = [] if table is None else table.to_pylist()
    own = [row for row in rows if all(row.get(name, value) == value for name, value in wanted.items())]
    return sorted(own, key=lambda row: -row["count"])
