"""Dividing a pool into train and test by whole clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from xlingual.errors import InputError
from xlingual.streams import stream

if TYPE_CHECKING:
    from xlingual.data.pools.rows import PoolRows

TRAIN, TEST = "train", "test"
PARTS = ("paragraph", "article")


def split_pool(pool: PoolRows, train: float, seed: int = 0, by: str = "paragraph") -> PoolRows:
    """Return the pool with a split "train" or "test" on every row, drawn by clusters (paragraphs).

    A share `train` of the clusters with questions, rounded, is in train, and the same share of the others.
    No cluster and no key is in both; with `by="article"` no article either, and articles are drawn. Raise
    InputError where a part would have no questions, or articles are not known.
    """
    if by not in PARTS:
        raise ValueError(f"by must be one of {', '.join(PARTS)}: {by!r}")
    if by == "article" and pool.questions.article is None:
        raise InputError(f"{pool.source}: its questions have no articles: split it by paragraph")
    label = _joined(pool, by == "article")
    q, c = pool.questions, pool.candidates
    numbers = np.unique(label[q.cluster])
    silent = np.setdiff1d(label[c.cluster], numbers)  # paragraphs without questions are divided apart
    rng = stream(seed, "pool split")
    chosen = [row for part in (numbers, silent) for row in rng.permutation(part)[: round(train * len(part))]]
    questions, candidates = np.isin(label[q.cluster], chosen), np.isin(label[c.cluster], chosen)
    for part, rows in ((TRAIN, questions), (TEST, ~questions)):
        if not rows.any():
            raise InputError(
                f"{pool.source}: a share of {train} of {len(numbers)} {by}s in {TRAIN!r} leaves no "
                f"question in {part!r}: choose another --train"
            )
    return replace(
        pool, questions=replace(q, split=_names(questions)), candidates=replace(c, split=_names(candidates))
    )


def _joined(pool: PoolRows, by_article: bool) -> np.ndarray:
    """Return one label for each cluster; clusters that share a key, or an article, have the same."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    q, c = pool.questions, pool.candidates
    n = 1 + int(max(q.cluster.max(), c.cluster.max()))
    question, candidate = pool.relevant
    ends = np.stack([q.cluster[question], c.cluster[candidate]])
    if by_article and q.article is not None:
        first = np.unique(q.article, return_index=True)[1][np.unique(q.article, return_inverse=True)[1]]
        ends = np.concatenate([ends, [q.cluster, q.cluster[first]]], axis=1)
    graph = coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1])


def _names(train: np.ndarray) -> list[str]:
    return [TRAIN if chosen else TEST for chosen in train]
