"""The core: reductions over similarities, never the matrix.

`scan` computes each tile of a similarity once and hands it to reductions: `Top` (the k best with their ties),
`Counts` (how many candidates are above and tied with a target) and `GroupCounts` (the same for several
targets of a query, split by group of candidates); `pairs` gives single scores. Float32 tiles only screen;
whatever lies within a band of a threshold is decided in float64, so that every tiling, thread count and back
end gives exactly the same answer. `top` and `counts` are the one-call forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Ints
from xlingual.ranking.banks import Bank, Banked
from xlingual.ranking.corrections import Csls, InvertedSoftmax
from xlingual.ranking.counts import Counts
from xlingual.ranking.cpu import Cpu
from xlingual.ranking.equal import identical_rows
from xlingual.ranking.given import GivenScores
from xlingual.ranking.group_counts import GroupCounts
from xlingual.ranking.kinds import TextPool, TextRows, TextSimilarity, rows_of, similarity_of
from xlingual.ranking.offsets import Adjusted, Offsets, adjusted
from xlingual.ranking.ranked import TopK
from xlingual.ranking.ranker import Ranker
from xlingual.ranking.scan import Part, Progress, Reduction, Tile, Transposed, one_library_thread, scan
from xlingual.ranking.similarity import UNIT, Cosine, ImageScores, Similarity, as_scores, pairs
from xlingual.ranking.sparse import SparseRows, SparseScores
from xlingual.ranking.tokens import MaxSim, TokenRows
from xlingual.ranking.top import Top
from xlingual.ranking.vectors import Pool, UnitVectors

__all__ = [
    "CPU",
    "UNIT",
    "Adjusted",
    "Bank",
    "Banked",
    "Cosine",
    "Counts",
    "Cpu",
    "Csls",
    "GivenScores",
    "GroupCounts",
    "ImageScores",
    "InvertedSoftmax",
    "MaxSim",
    "Offsets",
    "Part",
    "Pool",
    "Progress",
    "Ranker",
    "Reduction",
    "Similarity",
    "SparseRows",
    "SparseScores",
    "TextPool",
    "TextRows",
    "TextSimilarity",
    "Tile",
    "TokenRows",
    "Top",
    "TopK",
    "Transposed",
    "UnitVectors",
    "adjusted",
    "as_scores",
    "counts",
    "group_weights",
    "identical_rows",
    "one_library_thread",
    "pairs",
    "rows_of",
    "scan",
    "similarity_of",
    "top",
]

CPU = Cpu()  # one thread of this machine
Groups: TypeAlias = np.ndarray  # int [m]: one code per candidate; or bool [m, g]: membership, may overlap


def top(
    similarity: Similarity,
    k: int,
    *,
    groups: Groups | None = None,
    ranker: Ranker = CPU,
    cap: int = 1000,
    seed: int = 0,
) -> list[TopK]:
    """Return the k best candidates of every query with all ties of the k-th, one `TopK` for each group."""
    reductions = [
        Top(k, similarity.shape, weights=weights, cap=cap, seed=seed)
        for weights in group_weights(groups, similarity.shape[1])
    ]
    ranker.scan(similarity, reductions)
    return [reduction.result() for reduction in reductions]


def counts(
    similarity: Similarity,
    query: Ints,
    target: Ints,
    *,
    groups: Groups | None = None,
    ranker: Ranker = CPU,
) -> tuple[Ints, Ints]:
    """Return (above, tied), int64 [p, groups], for the pairs (query[i], target[i])."""
    keys = similarity.exact(query, target)
    reductions = [
        Counts(query, target, keys, weights=weights) for weights in group_weights(groups, similarity.shape[1])
    ]
    ranker.scan(similarity, reductions)
    return (
        np.stack([reduction.above for reduction in reductions], axis=1),
        np.stack([reduction.tied for reduction in reductions], axis=1),
    )


def group_weights(groups: Groups | None, size: int) -> Sequence[Ints | None]:
    """Return, for each group, how often it holds each candidate (None: every candidate once)."""
    if groups is None:
        return [None]
    if groups.ndim == 1:
        groups = groups[:, None] == np.arange(groups.max() + 1)
    if groups.shape[0] != size:
        raise ValueError(f"groups describe {groups.shape[0]} candidates, expected {size}")
    return [column.astype(np.int64) for column in groups.T]
