"""A correction of hubs as one more dimension of the candidates, for any search by inner product.

With unit vectors x and y and the offset o of a correction s·cos(x, y) − o(y), candidates are ordered as by
[x, 1]·[y, −o(y)/s].
"""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats
from xlingual.forms import AnyVectors
from xlingual.ranking.banks import Banked
from xlingual.ranking.kinds import TextPool, similarity_of
from xlingual.ranking.ranker import Ranker
from xlingual.ranking.scan import Progress
from xlingual.ranking.similarity import UNIT


def column(
    repair: Banked, candidates: AnyVectors, ranker: Ranker, progress: Progress | None = None
) -> Floats:
    """Return the number that each candidate has in one more dimension, float64 [m]."""
    pool = TextPool.of(candidates)
    similarity = similarity_of(repair.bank.vectors, pool.vectors)
    found = repair.offsets(similarity, ranker, progress)
    numbers: Floats = found.candidates[pool.code].astype(np.float64)
    return numbers * (-UNIT / found.scale)
