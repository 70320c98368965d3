"""The core: questions to similarities, never the matrix.

`rank` makes one pass over a similarity, tile by tile, for any number of watchers: `Top` (the k best with
their ties, of queries or of candidates) and `Counts` (how many candidates are above and tied with a pair, by
group); `pairs` gives single scores. Float32 tiles only screen; pairs within a band of each other are decided
in float64, so that every tiling, thread count and ranker gives exactly the same answer. `top` and `counts`
are the one-call forms.
"""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Ints
from xlingual.ranking.counts import Counts
from xlingual.ranking.hubs import Bank, Banked, Corrected, Correction, Csls, InvertedSoftmax, Offsets
from xlingual.ranking.passes import Blocks, Part, Progress, Ranker, Watcher, rank
from xlingual.ranking.pools import Pool, TextRows, TextSimilarity, identical_rows, rows_of, similarity_of
from xlingual.ranking.rankers import CPU, Cpu, Torch, one_library_thread
from xlingual.ranking.similarity import UNIT, Cosine, Similarity, as_scores, pairs
from xlingual.ranking.sparse import SparseRows, SparseScores
from xlingual.ranking.tiles import Tile
from xlingual.ranking.tokens import MaxSim, TokenRows
from xlingual.ranking.top import Top, TopK
from xlingual.ranking.vectors import UnitVectors

__all__ = [
    "CPU",
    "UNIT",
    "Bank",
    "Banked",
    "Blocks",
    "Corrected",
    "Correction",
    "Cosine",
    "Counts",
    "Cpu",
    "Csls",
    "InvertedSoftmax",
    "MaxSim",
    "Offsets",
    "Part",
    "Pool",
    "Progress",
    "Ranker",
    "Similarity",
    "SparseRows",
    "SparseScores",
    "TextRows",
    "TextSimilarity",
    "Tile",
    "TokenRows",
    "Top",
    "TopK",
    "Torch",
    "UnitVectors",
    "Watcher",
    "as_scores",
    "counts",
    "identical_rows",
    "one_library_thread",
    "pairs",
    "rank",
    "rows_of",
    "similarity_of",
    "top",
]


def top(
    similarity: Similarity,
    k: int,
    *,
    groups: Ints | None = None,
    ranker: Ranker = CPU,
    cap: int = 1000,
    seed: int = 0,
) -> list[TopK]:
    """Rank the k best candidates of each query, in all or in each group; `groups` [m] are codes."""
    shape = similarity.shape
    masks = (
        [None] if groups is None else [(groups == code).astype(np.int64) for code in range(groups.max() + 1)]
    )
    watchers = [Top(k, shape, weights=mask, cap=cap, seed=seed) for mask in masks]
    rank(similarity, watchers, ranker)
    return [watcher.result() for watcher in watchers]


def counts(
    similarity: Similarity,
    query: Ints,
    candidate: Ints,
    *,
    groups: np.ndarray | None = None,
    ranker: Ranker = CPU,
) -> tuple[Ints, Ints]:
    """Count (above, tied), int64 [p, groups], for the pairs (query[i], candidate[i])."""
    watcher = Counts.of(similarity, query, candidate, groups=groups)
    rank(similarity, [watcher], ranker)
    n_pairs = len(query)
    return watcher.above.reshape(n_pairs, -1), watcher.tied.reshape(n_pairs, -1)
