"""How far raters agree: Krippendorff's alpha of their scores of what systems made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from xlingual.results import Interval
from xlingual.results.study import Agreement
from xlingual.stats.krippendorff import coincidences, ordinal_alpha
from xlingual.streams import stream
from xlingual.study.analysis.scores import Where
from xlingual.study.records import WORST, Key, Rating

FEWEST_QUERIES = 5  # of which an interval can be made


def agreement_of(
    key: Key, ratings: Mapping[Where, Rating], *, level: float, seed: int, replicates: int
) -> Agreement:
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
        return Agreement(
            None, None, n, "no two raters have scored the same suggestions, so nothing is known of agreement"
        )
    names, query = np.unique(
        [unit[0] for unit, both in zip(units, shared, strict=True) if both], return_inverse=True
    )
    together = np.zeros((len(names), WORST, WORST))
    np.add.at(together, query, coincidences(counts[shared]))
    alpha = float(ordinal_alpha(together.sum(axis=0)))
    if np.isnan(alpha):
        return Agreement(None, None, n, "all scores are the same, so agreement cannot be told from chance")
    if len(names) < FEWEST_QUERIES:
        return Agreement(alpha, None, n, f"too few queries for an interval: {len(names)}")
    drawn = stream(seed, "study agreement").multinomial(
        len(names), np.full(len(names), 1 / len(names)), replicates
    )
    alphas = ordinal_alpha(np.tensordot(drawn.astype(np.float64), together, axes=1))
    alphas = alphas[np.isfinite(alphas)]
    low, high = np.quantile(alphas, [(1 - level) / 2, (1 + level) / 2])
    method = f"percentile bootstrap over {len(names)} queries"
    return Agreement(alpha, Interval(float(min(low, alpha)), float(max(high, alpha)), level, method), n)
