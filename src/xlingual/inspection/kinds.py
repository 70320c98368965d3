"""Kinds of error: what happened in place of the answer. Each failed query has one kind, the first that holds.

near-duplicate   the retrieved text is near-equal to the answer, or shows the query's own image
hub              the retrieved text is the nearest of very many queries
near             the answer was close: its rank is little behind the cut-off
nothing near     the nearest text is less near than that of nearly all queries that were answered
other            none of these: a wrong text, plainly preferred
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest
from xlingual.data.near_texts import near_texts
from xlingual.inspection.judged import Asked
from xlingual.ragged import components
from xlingual.results.inspection import KINDS

FEW = 0.05  # of the answered queries have a nearest text that is less near
NEAR_RANK = 5  # times the cut-off: up to this rank an answer was close
_LEAST = 5  # queries of which a hub is the nearest, at least
_SD = 2.0  # standard deviations above the mean, as a hub has
_SHINGLES = 60


def kinds_of(
    asked: Asked, data: Manifest, hub: np.ndarray, score: Floats, near: int, *, matching: bool
) -> Ints:
    """Return the kind of error of each query, an index into `KINDS`, −1 where it was answered, int64 [q].

    Args:
        asked: the queries.
        data: the manifest.
        hub: whether the nearest text of each query is a hub, bool [q].
        score: of the nearest text, NaN where it is not known [q].
        near: the rank up to which an answer was close.
        matching: whether the answer is a text of the query's own item.

    """
    failed, known = asked.failed, asked.retrieved >= 0
    tests: Mapping[str, np.ndarray] = {
        "near-duplicate": known & _alike(asked, data, failed & known, matching),
        "hub": known & hub,
        "near": (asked.above >= 0) & (asked.above < near),
        "nothing near": far(asked, score),
    }
    return first_kind(failed, KINDS, tests)


def first_kind(failed: np.ndarray, kinds: Sequence[str], tests: Mapping[str, np.ndarray]) -> Ints:
    """Return the first of the `kinds` whose test holds, of the failed queries; the last kind has no test."""
    found = np.where(failed, len(kinds) - 1, -1)
    for code in reversed(range(len(kinds) - 1)):
        found = np.where(failed & tests[kinds[code]], code, found)
    return found


def hubs_among(asked: Asked, chosen: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int, int]]]:
    """Return whether each query's nearest text is a hub of its pair, bool [q], and the hubs: (pair, row, n).

    A hub is the nearest of at least 5 queries, and of more than other texts by over two standard deviations.
    """
    is_hub = np.zeros(len(asked.row), dtype=bool)
    found: list[tuple[int, int, int]] = []
    for pair in range(len(asked.pairs)):
        own = np.flatnonzero(chosen & (asked.pair == pair) & (asked.retrieved >= 0))
        row, place, count = np.unique(asked.retrieved[own], return_inverse=True, return_counts=True)
        if not len(own):
            continue
        n = max(len(own), len(row))  # texts that are found by none count too; as many as queries, about
        mean = len(own) / n
        deviation = float(np.sqrt((count.astype(np.float64) ** 2).sum() / n - mean**2))
        hubs = count >= max(_LEAST, mean + _SD * deviation)
        is_hub[own] = hubs[place]
        found += [(pair, int(row[one]), int(count[one])) for one in np.flatnonzero(hubs)]
    return is_hub, found


def _alike(asked: Asked, data: Manifest, chosen: np.ndarray, matching: bool) -> np.ndarray:
    """Return whether the retrieved text stands for the answer, bool [q]: near-equal to it, or its image."""
    found = np.zeros(len(asked.row), dtype=bool)
    own, retrieved = asked.row, np.maximum(asked.retrieved, 0)
    if not matching:
        return found
    image = data.image
    found |= chosen & (image[own] >= 0) & (image[own] == image[retrieved])
    for target in {target for _, target in asked.pairs}:
        lines = np.flatnonzero(chosen & np.array([pair[1] == target for pair in asked.pairs])[asked.pair])
        rows = data.rows_of(target)
        group = near_equal(data, rows)
        # the answers of an item: its texts in the target language
        by_item: dict[int, set[int]] = {}
        for row, one in zip(rows.tolist(), group.tolist(), strict=True):
            by_item.setdefault(int(data.item[row]), set()).add(one)
        of_row = dict(zip(rows.tolist(), group.tolist(), strict=True))
        for line in lines.tolist():
            found[line] |= of_row[int(retrieved[line])] in by_item.get(int(data.item[own[line]]), ())
    return found


def near_equal(data: Manifest, rows: Ints) -> Ints:
    """Return a number for each row [m] that near-equal texts share."""
    first, second, _ = near_texts(data.text.pick(rows), shingles=_SHINGLES)
    return components(len(rows), first, second)


def far(asked: Asked, score: Floats) -> np.ndarray:
    """Return whether the nearest text of a query is less near than is usual for those answered, bool [q]."""
    found = np.zeros(len(score), dtype=bool)
    for pair in range(len(asked.pairs)):
        own = (asked.pair == pair) & np.isfinite(score)
        answered = score[own & ~asked.failed]
        if len(answered):
            found |= own & (score < np.quantile(answered, FEW))
    return found
