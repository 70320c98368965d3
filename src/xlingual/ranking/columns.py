"""A correction of hubs as one more dimension of the candidates, for any search by inner product.

With unit vectors x and y and the offset o of a correction s·cos(x, y) − o(y), candidates are ordered as by
[x, 1]·[y, −o(y)/s].
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from xlingual.arrays import Floats
from xlingual.errors import InputError
from xlingual.forms import AnyVectors
from xlingual.ranking.banks import Banked, Correction
from xlingual.ranking.corrections import LocalScaling, MutualProximity, QbNorm
from xlingual.ranking.kinds import TextPool, similarity_of
from xlingual.ranking.offsets import Offsets
from xlingual.ranking.ranker import Ranker
from xlingual.ranking.scan import Progress
from xlingual.ranking.similarity import UNIT

_WHY_NOT: Mapping[type, str] = {
    QbNorm: "it corrects the scores of some queries, and leaves those of others as they are",
    LocalScaling: "it divides by a scale of the candidate, and takes nothing off",
    MutualProximity: "it depends on what is near to the query, too, and is no sum",
}


def check_column(correction: Correction) -> None:
    """Raise InputError where a correction is not one number that is taken off for each candidate."""
    why = _WHY_NOT.get(type(correction))
    if why is not None:
        raise InputError(
            f"{correction.name} cannot be one more dimension of the vectors: {why}; csls and "
            "inverted-softmax can"
        )


def column(
    repair: Banked, candidates: AnyVectors, ranker: Ranker, progress: Progress | None = None
) -> Floats:
    """Return the number that each candidate has in one more dimension, float64 [m]."""
    check_column(repair.correction)
    pool = TextPool.of(candidates)
    similarity = similarity_of(repair.bank.vectors, pool.vectors)
    once = (np.ones(size, dtype=np.int64) for size in similarity.shape)
    (found,) = repair.adjustments(similarity, [(next(once), next(once))], ranker, progress)
    if not isinstance(found, Offsets) or found.gate is not None:
        raise InputError(f"{repair.correction.name} takes no number off for each candidate")
    numbers: Floats = found.candidates[pool.code].astype(np.float64)
    return numbers * (-UNIT / found.scale)
