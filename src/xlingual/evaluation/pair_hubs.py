"""Hubs of evaluations over language pairs: among the targets of each pair's first sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.images import cut, thumbnails
from xlingual.evaluation.hubs import HubTable, hubs_of
from xlingual.evaluation.pair_run import PairRun, by_pair
from xlingual.measures.hubness import Places
from xlingual.ragged import members
from xlingual.results.views import HubCounts

if TYPE_CHECKING:
    import pyarrow as pa


class PairHubs:
    """The hubs of all encoders and language pairs, and the table of the largest.

    Samples of a pair overlap, so the first one says it for all. The table has images where hubs are an alarm,
    and no texts where none are kept (`examples`).
    """

    def __init__(self, run: PairRun, examples: bool) -> None:
        self._run, self._table = run, HubTable(run.task, examples)
        self._first = {numbers[0] for numbers in by_pair(run.tasks).values()}
        self._picture = thumbnails(run.manifest.image_source)

    def looks_at(self, number: int) -> bool:
        """Return whether hubs of a task are looked for."""
        return number in self._first

    def add(self, encoder: str, number: int, places: Places, wrong: Floats) -> HubCounts:
        """Add the hubs of an encoder in a task; `wrong` as in `hubs_of`."""
        task, manifest = self._run.tasks[number], self._run.manifest
        source, target = task.sample.source, task.sample.target
        found = hubs_of(places, wrong, manifest.cluster[source])

        def described(candidate: int) -> dict[str, Any]:
            row = int(target[candidate])
            text = {"id": manifest.ids[row], "language": task.target, "text": cut(manifest.text[row])}
            slot = int(manifest.image[row])
            return {**text, "picture": self._picture(slot) if found.counts.alarm else None}

        answers = None
        if self._run.matching:
            answers = members(manifest.item[target], manifest.item[source])[1]
        self._table.add(encoder, self._run.subjects[number], found, described, answers)
        return found.counts

    def wrong_matches(self, number: int, places: Places) -> Floats:
        """Return whether each line is a target of another item than its source."""
        sample, item = self._run.tasks[number].sample, self._run.manifest.item
        wrong: Floats = (item[sample.source[places.query]] != item[sample.target[places.candidate]]).astype(
            np.float64
        )
        return wrong

    def table(self) -> dict[str, pa.Table]:
        """Return the table by its name."""
        return self._table.table()
