"""Language pairs as Backretrieval will divide them: how many items, and pictures, each side gets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import distinct_values
from xlingual.data.checks.records import PairCheck
from xlingual.data.manifest import Manifest


def check_directions(manifest: Manifest, has_language: NDArray[np.bool_]) -> list[PairCheck]:
    """Return each source-target pair, those with the fewest source pictures first.

    `has_language` [n_items, languages]. Without `--sample-size`, items with both languages are halved, with
    one more for the sources where their number is odd; items with one language serve on its side.
    """
    has = has_language.astype(np.int64)
    both, items = has.T @ has, has.sum(axis=0)
    pictures = [_pictures(manifest, tag) for tag in manifest.languages]
    found = []
    for i, source in enumerate(manifest.languages):
        for j, target in enumerate(manifest.languages):
            if i == j:
                continue
            shared = int(both[i, j])
            half = (shared + 1) // 2
            if shared == items[j] == 1 < items[i]:
                half = 0  # the only item that can be a target
            n_sources = int(items[i]) - shared + half
            distinct, per_item = pictures[i]
            found.append(
                PairCheck(
                    source=source,
                    target=target,
                    n_both=shared,
                    n_sources=n_sources,
                    n_targets=int(items[j]) - half,
                    n_pictures=min(distinct, n_sources * per_item),
                )
            )
    return sorted(found, key=lambda pair: (pair.n_pictures, pair.n_sources))


def _pictures(manifest: Manifest, tag: str) -> tuple[int, int]:
    """Return how many distinct pictures a language has, and how many at most an item of it has.

    Where the manifest names no pictures, vectors of them may be given: one for each item is assumed.
    """
    rows = manifest.rows_of(tag)
    if not manifest.has_pictures:
        return len(distinct_values(manifest.item[rows])), 1
    rows = rows[manifest.picture[rows] >= 0]
    if not len(rows):
        return 0, 0
    shown = np.unique(np.stack([manifest.item[rows], manifest.picture[rows]]), axis=1)  # [2, shown]
    return len(distinct_values(shown[1])), int(np.unique(shown[0], return_counts=True)[1].max())
