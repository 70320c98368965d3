"""Ways back where few sources are asked: only what these queries need is ranked, not every target picture.

The reductions are those of `SideRanks`; what they see is cut down to the asked sources against all target
pictures (the oracle), and to the pictures that some way starts from against all source pictures (the ranks).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from xlingual.arrays import distinct_values
from xlingual.evaluation.setup import Tally
from xlingual.evaluation.side_ranks import SideRanks
from xlingual.ranking import Counts, PictureScores, Progress, Ranker, Top, TopK, Transposed
from xlingual.records import Ints


def rank_asked(ranks: SideRanks, ranker: Ranker, progress: Progress | None, tally: Tally | None) -> None:
    """Find the oracle of the asked sources, then the ranks on all ways back; nothing is listed.

    The pictures must have vectors (`PicturePass.has_vectors`).
    """
    ranks.asked_alone = True
    asked = distinct_values(np.concatenate([ranks.source_columns(task) for task in ranks.sides.tasks]))
    ranks.oracle = nearest_targets(ranks, asked, ranker, progress, tally)
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


def nearest_targets(
    ranks: SideRanks, columns: Ints, ranker: Ranker, progress: Progress | None, tally: Tally | None
) -> TopK:
    """Return the nearest target pictures of source columns (sorted), ties drawn as where all are asked.

    The pictures must have vectors (`PicturePass.has_vectors`).
    """
    height = ranks.over.similarity.shape[0]
    similarity = ranks.over.among(np.arange(height), columns)
    assert similarity is not None
    cap = ranks.nearest_target.cap
    top = Top(1, (len(columns), height), weights=ranks.target_weights, cap=cap)
    ranker.scan(similarity, [Transposed(top)], progress=progress)
    _add(tally, similarity)
    found = top.result()
    return replace(found, query=columns[found.query])


def _add(tally: Tally | None, similarity: PictureScores) -> None:
    if tally is not None:
        tally.add(similarity)
