"""Dividing a pool into train and test by whole clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.pools.clusters import joined
from xlingual.data.pools.rows import PoolRows
from xlingual.errors import InputError
from xlingual.streams import stream

TRAIN, TEST = "train", "test"
PARTS = ("paragraph", "article")


class NoQuestionError(InputError):
    """A part would have no question."""


def split_pool(
    pool: PoolRows, train: float, seed: int = 0, by: str = "paragraph", *, by_text: bool = False
) -> PoolRows:
    """Return the pool with a split "train" or "test" on every row, drawn by clusters (paragraphs).

    A share `train` of the clusters with questions, rounded, is in train, and the same share of the others.
    No cluster and no key is in both; with `by="article"` no article either, and articles are drawn; with
    `by_text` no text of a language either. Raise InputError where a part would have no questions, or articles
    are not known.
    """
    if by not in PARTS:
        raise ValueError(f"by must be one of {', '.join(PARTS)}: {by!r}")
    q, c = pool.questions, pool.candidates
    groups = q.article if by == "article" else q.cluster
    if groups is None:
        raise InputError(f"{pool.source}: its questions have no articles: split it by paragraph")
    label = _labels(pool, groups, by_text)
    numbers = np.unique(label[q.cluster])
    silent = np.setdiff1d(label[c.cluster], numbers)  # paragraphs without questions are divided apart
    rng = stream(seed, "pool split")
    chosen = [row for part in (numbers, silent) for row in rng.permutation(part)[: round(train * len(part))]]
    questions, candidates = np.isin(label[q.cluster], chosen), np.isin(label[c.cluster], chosen)
    for part, rows in ((TRAIN, questions), (TEST, ~questions)):
        if not rows.any():
            raise NoQuestionError(
                f"{pool.source}: a share of {train} of {len(numbers)} {by}s in {TRAIN!r} leaves no "
                f"question in {part!r}: choose another --train"
            )
    return replace(
        pool, questions=replace(q, split=_names(questions)), candidates=replace(c, split=_names(candidates))
    )


def _labels(pool: PoolRows, groups: Ints, by_text: bool) -> Ints:
    """Return one label for each cluster: equal where clusters share a key, a group, or a text."""
    q, c = pool.questions, pool.candidates
    question, candidate = pool.relevant
    pairs = [f"question {row}" for row in question.tolist()]
    clusters = [q.cluster, q.cluster[question], c.cluster[candidate]]
    names = [*groups.tolist(), *pairs, *pairs]
    for part in (q, c) if by_text else ():
        rows = [row for row, text in enumerate(part.text) if text.strip()]
        clusters.append(part.cluster[rows])
        names += [f"text {pool.languages[part.language[row]]} {part.text[row].strip()}" for row in rows]
    size = 1 + int(max(q.cluster.max(), c.cluster.max()))
    return joined(np.concatenate(clusters), names, size=size)


def _names(train: np.ndarray) -> list[str]:
    return [TRAIN if chosen else TEST for chosen in train]
