"""Ways back where few sources are asked: only what these queries need is ranked, not every target picture.

The reductions are those of `SideRanks`; what they see is cut down to the asked sources against all target
pictures (the oracle), and to the pictures that some way starts from against all source pictures (the ranks).
"""

from __future__ import annotations

import numpy as np

from xlingual.arrays import distinct_values
from xlingual.evaluation.nearest import tie_cap
from xlingual.evaluation.setup import Tally
from xlingual.evaluation.side_ranks import SideRanks
from xlingual.ranking import Counts, PictureScores, Progress, Ranker, Top, TopK, Transposed
from xlingual.records import Ints


def rank_asked(ranks: SideRanks, ranker: Ranker, progress: Progress | None, tally: Tally | None) -> None:
    """Find the oracle of the asked sources, then the ranks on all ways back; nothing is listed.

    The pictures must have vectors (`PicturePass.has_vectors`).
    """
    ranks.asked_alone = True
    ranks.oracle = _oracle(ranks, ranker, progress, tally)
    used = distinct_values(np.concatenate([ranks.counts.query, ranks.oracle.candidate]))
    similarity = ranks.over.among(used, np.arange(ranks.over.similarity.shape[1]))
    assert similarity is not None
    row, column = np.divmod(ranks.pairs, ranks.over.similarity.shape[1])
    ranks.counts = Counts(
        np.searchsorted(used, row), column, ranks.counts.keys_given, weights=ranks.source_weights
    )
    ranks.deep = Counts.of(
        similarity,
        np.searchsorted(used, ranks.oracle.candidate),
        ranks.oracle.query,
        weights=ranks.source_weights,
    )
    ranker.scan(similarity, [ranks.counts, ranks.deep], progress=progress)
    _add(tally, similarity)


def _oracle(ranks: SideRanks, ranker: Ranker, progress: Progress | None, tally: Tally | None) -> TopK:
    """Return the nearest target pictures of the asked sources."""
    asked = distinct_values(np.concatenate([ranks.source_columns(task) for task in ranks.sides.tasks]))
    height = ranks.over.similarity.shape[0]
    similarity = ranks.over.among(np.arange(height), asked)
    assert similarity is not None
    top = Top(1, (len(asked), height), weights=ranks.target_weights, cap=tie_cap(len(asked)))
    ranker.scan(similarity, [Transposed(top)], progress=progress)
    _add(tally, similarity)
    return _numbered(top.result(), asked)


def _numbered(found: TopK, query: Ints) -> TopK:
    """Return the lines with the queries' own numbers; `unlisted` stays in the order of those that asked."""
    return TopK(query[found.query], found.candidate, found.weight, found.above, found.tied, found.unlisted)


def _add(tally: Tally | None, similarity: PictureScores) -> None:
    if tally is not None:
        tally.add(similarity)
