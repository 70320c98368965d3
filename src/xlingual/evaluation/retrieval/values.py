"""The value of a measure for each query, from where its judged candidates stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.measures import (
    NDCG,
    Bpref,
    JudgedAt,
    RetrievalMeasure,
    TargetMeasure,
)
from xlingual.records import JudgedCounts


def per_query(measure: RetrievalMeasure, counts: JudgedCounts, least: int) -> Floats:
    """Return the values of a measure, float64 [n]; a grade of at least `least` is relevant.

    A query without a relevant candidate has 0. What a system did not return adds nothing.
    """
    if isinstance(measure, JudgedAt):
        return measure.per_query(counts)
    rows, counts = _with_relevant(counts, 1 if isinstance(measure, NDCG) else least)
    values = np.zeros(rows.size)
    values[rows] = _values(measure, counts, least)
    return values


def best_places(counts: JudgedCounts, least: int) -> tuple[Ints, Ints]:
    """Return how many candidates are above the best relevant one, and tie with it; -1 where there is none."""
    rows, counts = _with_relevant(counts, least)
    found = counts.relevant(least).best()
    above, tied = np.full((2, rows.size), -1, dtype=np.int64)
    above[rows], tied[rows] = found.above, found.tied
    return above, tied


def n_tied(counts: JudgedCounts, least: int) -> int:
    """Return how many queries have a relevant candidate that ties with one of another grade, or unjudged."""
    kept = (counts.grade >= least) & (counts.above < counts.pool[counts.query])
    keys = np.stack([counts.query[kept], counts.above[kept], counts.grade[kept]])
    _, place, size = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    shared = counts.tied[kept] > size[place.reshape(-1)]
    return len(np.unique(keys[0][shared]))


def _values(measure: RetrievalMeasure, counts: JudgedCounts, least: int) -> Floats:
    if isinstance(measure, Bpref):
        return replace(measure, least=least).per_query(counts)
    if isinstance(measure, NDCG):
        return measure.per_query(counts)
    assert not isinstance(measure, JudgedAt)
    targets = counts.relevant(least)
    if isinstance(measure, TargetMeasure):
        return measure.per_query(targets)
    return measure.per_query(targets.best())


def _with_relevant(counts: JudgedCounts, least: int) -> tuple[np.ndarray, JudgedCounts]:
    """Return which queries have a relevant candidate, bool [n], and the counts of these alone."""
    right = np.bincount(counts.query[counts.grade >= least], minlength=len(counts)) > 0
    if right.all():
        return right, counts
    lines, place = right[counts.query], np.cumsum(right) - 1
    above, tied, grade = (column[lines] for column in (counts.above, counts.tied, counts.grade))
    query, pool, listed = place[counts.query[lines]], counts.pool[right], counts.listed[right]
    kept = JudgedCounts(query, above, tied, grade, pool, listed)
    return right, kept
