"""How an encoder served the queries of its results, and what happened where it failed: in one form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.inspection.judged import Asked
from xlingual.inspection.kinds import hubs_among, kinds_of
from xlingual.inspection.nearest import Nearest, nearest_of
from xlingual.results import Results
from xlingual.results.inspection import KINDS


@dataclass(frozen=True)
class Unfound:
    """Texts that are among no query's nearest."""

    share: float | None = None
    by_chance: float | None = None
    rows: Sequence[int] = ()


@dataclass(frozen=True)
class Served:
    """The queries of an encoder, one line for each language pair and sample, and what became of each; [q]."""

    nearest: Nearest  # with the queries
    kinds: Sequence[str]
    kind: Ints  # [q] index into `kinds`, −1 where it was answered
    is_hub: np.ndarray  # bool [q]: what was found in place of the answer is a hub
    hubs: Sequence[tuple[int, int, int]]  # (pair of `counted`, row, queries)
    answer: Ints  # [q] row of the answer, −1 where there is none, or it is not known
    unfound: Unfound
    counted: Asked  # the queries among which hubs are counted
    note: str | None = None  # what is not known

    @property
    def asked(self) -> Asked:
        """The queries."""
        return self.nearest.asked

    @property
    def in_pool(self) -> bool:
        """Whether queries are questions of a pool, with a line for each language that has an answer."""
        return self.asked.missed is not None

    def listed(self, line: int) -> list[tuple[int, float]]:
        """Return the nearest texts of a query, of a pool the nearest wrong ones: rows, with their scores."""
        width, order, keys = self._lists
        key = int(self.asked.pair[line]) * width + int(self.asked.row[line])
        found = order[slice(*np.searchsorted(keys, (key, key + 1)))]
        return list(
            zip(self.nearest.neighbour[found].tolist(), self.nearest.scores[found].tolist(), strict=True)
        )

    @cached_property
    def _lists(self) -> tuple[int, Ints, Ints]:
        """The lines of `nearest`, ordered by pair and query, with their keys."""
        width = int(max(self.asked.row.max(initial=0), self.nearest.query.max(initial=0))) + 1
        keys = self.nearest.pair * width + self.nearest.query
        order = np.argsort(keys, kind="stable")
        return width, order, keys[order]


_NO_NEIGHBOURS = (
    "these results keep no neighbours, so that less is known: evaluate again without --no-neighbours"
)


def served_in_pairs(
    results: Results, data: Manifest, encoder: str, queries: Asked, near: int, *, matching: bool
) -> Served:
    """Return how an encoder served texts as queries, in language pairs.

    `near` is the rank up to which an answer was close; `matching`: the answer is a text of the query's item.
    """
    nearest = nearest_of(results, data, encoder, queries)
    asked = nearest.asked
    is_hub, hubs = hubs_among(asked, asked.first_sample)
    kind = kinds_of(asked, data, is_hub, nearest.score, near, matching=matching)
    answer = _answers(asked, data) if matching else np.full(len(asked.row), -1)
    unfound = Unfound(*nearest.never(data))
    note = None if nearest.kept else _NO_NEIGHBOURS
    return Served(nearest, KINDS, kind, is_hub, hubs, answer, unfound, asked, note=note)


def _answers(asked: Asked, data: Manifest) -> Ints:
    """Return the first text of each query's item in the target language, int64 [q]; −1 for none."""
    first = np.full((data.n_items, len(data.languages)), -1, dtype=np.int64)
    rows = np.arange(len(data))[::-1]
    first[data.item[rows], data.language[rows]] = rows
    target = np.array([data.languages.index(target) for _, target in asked.pairs])[asked.pair]
    found: Ints = first[data.item[asked.row], target]
    return found
