"""Clusters from links: nodes linked directly or through others are one, unless the chain grows too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints

LARGEST = 0.05  # share of all nodes that a cluster may have
_FEW = 5  # nodes that any cluster may have


@dataclass(frozen=True)
class Links:
    """Pairs of nodes (codes [p]) that are not independent; `distance` [p] is 0 for equal ones, at most 1."""

    first: Ints
    second: Ints
    distance: Floats

    @classmethod
    def joined(cls, several: Sequence[Links]) -> Links:
        """Return all links of several; none of none."""
        columns = [(links.first, links.second, links.distance) for links in several]
        columns.append((np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)))
        return cls(*(np.concatenate(column) for column in zip(*columns, strict=True)))

    def __len__(self) -> int:
        return len(self.first)

    def between(self, node: Ints) -> Links:
        """Return the links between the nodes `node` of what is linked here, without those within one."""
        first, second = node[self.first], node[self.second]
        apart = first != second
        return Links(first[apart], second[apart], self.distance[apart])


def components(n: int, links: Links) -> Ints:
    """Return the component of each of n nodes."""
    return _connected(n, links, np.ones(len(links), dtype=bool))


def without_chains(
    n: int, links: Links, largest: float = LARGEST, *, whole: bool = False
) -> tuple[Links, int]:
    """Return the links that leave no component too large, and how many components were.

    A component of more than `largest` of the n nodes (and of more than five) is a chain. It keeps only the
    links below the distance at which one of its parts becomes that large. Where even equal nodes are too
    many, it falls apart into single ones: what so many share says nothing of any two. `whole`: it always
    does.
    """
    most = max(int(largest * n), _FEW)
    label = components(n, links)
    chains = np.flatnonzero(np.bincount(label, minlength=1) > most)
    kept = np.ones(len(links), dtype=bool)
    for chain in chains.tolist():
        own = np.flatnonzero(label[links.first] == chain)
        kept[own] = False if whole else links.distance[own] < _limit(n, links, own, most)
    return Links(links.first[kept], links.second[kept], links.distance[kept]), len(chains)


def _limit(n: int, links: Links, own: Ints, most: int) -> float:
    """Return the smallest distance at which, kept, the links `own` make a component of more than `most`."""
    distances = np.unique(links.distance[own])
    low, high = 0, len(distances) - 1  # the limit is at `high` or before; all links together are too many
    while low < high:
        middle = (low + high) // 2
        kept = np.zeros(len(links), dtype=bool)
        kept[own] = links.distance[own] <= distances[middle]
        if np.bincount(_connected(n, links, kept)).max() > most:
            high = middle
        else:
            low = middle + 1
    return float(distances[low])


def _connected(n: int, links: Links, kept: np.ndarray) -> Ints:
    if not kept.any():  # the import below takes longer than all else here
        return np.arange(n)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = links.first[kept], links.second[kept]
    graph = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n, n))
    label: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    return label
