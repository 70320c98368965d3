"""How far raters agree: Krippendorff's alpha of their scores of what systems made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np

from xlingual.arrays import Floats
from xlingual.results import Interval
from xlingual.results.study import RaterAgreement
from xlingual.stats.intervals import t_quantile
from xlingual.stats.krippendorff import coincidences, ordinal_alpha
from xlingual.streams import stream
from xlingual.study.analysis.scores import Where
from xlingual.study.records import WORST, Rating, StudyKey

FEWEST_QUERIES = 5  # for an interval
_NEARLY = 1 - 1e-9  # 1 would be infinitely far when stretched


def agreement_of(
    key: StudyKey, ratings: Mapping[Where, Rating], *, level: float, seed: int, replicates: int
) -> RaterAgreement:
    """Return alpha over suggestions that two raters or more scored; queries are resampled for its interval.

    Suggestions of one query hang together, so that resampling them one by one would promise too much.
    Controls and repeats do not count.
    """
    counted = Counter(
        ((q, s), rating.score)
        for (_, q, s, occasion), rating in ratings.items()
        if occasion == 0 and key.credits.get(s)
    )
    units = sorted({unit for unit, _ in counted})
    counts = np.array([[counted[unit, score] for score in range(1, WORST + 1)] for unit in units])
    counts = counts.reshape(-1, WORST)
    shared = counts.sum(axis=1) >= 2
    n = int(shared.sum())
    if n < 2:
        return RaterAgreement(
            None, None, n, "no two raters have scored the same suggestions, so nothing is known of agreement"
        )
    names, query = np.unique(np.array([unit[0] for unit in units])[shared], return_inverse=True)
    together = np.zeros((len(names), WORST, WORST))
    np.add.at(together, query, coincidences(counts[shared]))
    alpha = float(ordinal_alpha(together.sum(axis=0)))
    if np.isnan(alpha):
        return RaterAgreement(
            None, None, n, "all scores are the same, so agreement cannot be distinguished from chance"
        )
    if len(names) < FEWEST_QUERIES:
        return RaterAgreement(alpha, None, n, f"too few queries for an interval: {len(names)}")
    n_queries, rng = len(names), stream(seed, "study agreement")
    weights = rng.multinomial(n_queries, np.full(n_queries, 1 / n_queries), replicates).astype(np.float64)
    drawn = ordinal_alpha(np.tensordot(weights, together, axes=1))
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) == 0 or np.ptp(drawn) == 0:
        return RaterAgreement(alpha, None, n, "all queries show the same agreement, which leaves no interval")
    return RaterAgreement(alpha, _interval(alpha, drawn, len(names), level), n)


def _interval(alpha: float, drawn: Floats, queries: int, level: float) -> Interval:
    """Return tanh(atanh α ± t·error), the error that of resampled atanh α (percentiles cover 82-93 %)."""
    error = float(np.std(_stretched(drawn))) * math.sqrt(queries / (queries - 1))
    reach = t_quantile(level, queries - 1) * error
    centre = float(_stretched(np.array(alpha)))
    low, high = (math.tanh(centre + sign * reach) for sign in (-1, 1))
    method = f"t of atanh, bootstrap over {queries} queries"
    return Interval(min(low, alpha), max(high, alpha), level, method)


def _stretched(alpha: Floats) -> Floats:
    found: Floats = np.arctanh(np.clip(alpha, -_NEARLY, _NEARLY))
    return found
