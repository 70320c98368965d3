"""The ranks of the best candidates of each query, from the table in which they were collected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.ragged import groups
from xlingual.ranking.lines import OTHERS, Lines


@dataclass(frozen=True)
class TopK:
    """The best candidates of each query, ordered by query, then best first; parallel arrays.

    `above` candidates (with multiplicity) score higher, `tied` score the same, itself included. Where more
    candidates tie with the k-th than the cap, those kept are a sample and `unlisted` counts the others.
    """

    query: Ints  # [e]
    candidate: Ints  # [e]
    weight: Ints  # [e] multiplicity of the candidate
    above: Ints  # [e]
    tied: Ints  # [e]
    unlisted: Ints  # [n queries]


def ranked(lines: Lines, n: int) -> TopK:
    """Turn ordered lines into ranks: equal keys of one query are one level."""
    if len(lines) == 0:
        nothing = np.empty(0, dtype=np.int64)
        return TopK(nothing, nothing, nothing, nothing, nothing, np.zeros(n, dtype=np.int64))
    starts, size = groups(lines.query)
    new_level = np.ones(len(lines), dtype=bool)
    new_level[1:] = (np.diff(lines.query) != 0) | (np.diff(lines.key) != 0)
    level = np.cumsum(new_level) - 1
    tied = np.bincount(level, lines.weight).astype(np.int64)
    total = np.cumsum(lines.weight)
    before_query = np.repeat(total[starts] - lines.weight[starts], size)
    before_level = (total - lines.weight)[new_level]
    others = lines.candidate == OTHERS
    unlisted = np.bincount(lines.query[others], lines.weight[others], n).astype(np.int64)
    above = before_level[level] - before_query
    listed = ~others
    return TopK(
        lines.query[listed],
        lines.candidate[listed],
        lines.weight[listed],
        above[listed],
        tied[level][listed],
        unlisted,
    )
