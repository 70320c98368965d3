"""Dividing a manifest into rows to train on and rows held out, which share no item, image or family."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.families import families
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError
from xlingual.streams import stream


def hold_out(manifest: Manifest, share: float, seed: int = 0) -> tuple[Manifest, Manifest]:
    """Return (rest, held out): about a `share` of the items is held out, drawn with the seed.

    Items that share an image or a cluster, or have near-equal texts, stay together. Raises InputError where a
    part would be empty.
    """
    if not 0 < share < 1:
        raise InputError(
            f"a share of {share:g} cannot be held out: give a number between 0 and 1, such as 0.1"
        )
    group = dependent(manifest)
    items = np.bincount(group[np.unique(manifest.item, return_index=True)[1]])
    order = stream(seed, "hold out").permutation(len(items))
    before = np.cumsum(items[order]) - items[order]
    held_out = np.isin(group, order[before < round(share * items.sum())])
    if held_out.all() or not held_out.any():
        raise InputError(
            f"{manifest.source}: a share of {share:g} of {manifest.n_items} items cannot be held out: give "
            "more items, another share, or rows of another file"
        )
    return tuple(manifest.part(distinct_values(manifest.table_row[part])) for part in (~held_out, held_out))  # type: ignore[return-value]


def dependent(manifest: Manifest) -> Ints:
    """Return a number for each row: equal where rows share an item, cluster or image, also through others.

    Rows of one row of the table share it too, and so do rows with near-equal texts (`families`).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, start = len(manifest), len(manifest)
    rows, nodes = [], []
    for column in (manifest.item, manifest.cluster, manifest.image, manifest.table_row):
        has = np.flatnonzero(column >= 0)
        rows.append(has)
        nodes.append(start + column[has])
        start += int(column.max(initial=-1)) + 1
    row, node = np.concatenate(rows), np.concatenate(nodes)
    links = coo_array((np.ones(len(row), dtype=np.int8), (row, node)), shape=(start, start))
    labels = connected_components(links, directed=False)[1][:n]
    return families(manifest.text, manifest.language, labels)
