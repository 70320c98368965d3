"""Raters: how attentively and steadily each rates, and how far they agree.

The first is told by repeats and controls, which count in no score; the second is Krippendorff's alpha of the
scores of what systems made.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from xlingual.arrays import Floats
from xlingual.results import Interval
from xlingual.results.study import RaterAgreement, RaterScores
from xlingual.stats.intervals import t_quantile
from xlingual.stats.krippendorff import coincidences, ordinal_alpha
from xlingual.streams import stream
from xlingual.study.analysis.scores import Where
from xlingual.study.answers import by_number
from xlingual.study.records import WORST, Rating, Study, StudyKey

FEWEST_QUERIES = 5  # for an interval of agreement
_NEARLY = 1 - 1e-9  # 1 would be infinitely far when stretched
LEAST_FAILED, LEAST_REPEATS, LEAST_RATINGS = 2, 10, 20  # below, nothing is said against a rater
LEAST_PASSED = 0.75  # of controls
LEAST_KAPPA = 0.2  # of repeats; up to it agreement is called slight
LEAST_SECONDS = 1.0  # a rating, in the middle


def rater_scores(study: Study, key: StudyKey, ratings: Mapping[Where, Rating]) -> list[RaterScores]:
    """Return each rater's row, in the order of their names."""
    by_rater: dict[str, dict[Where, Rating]] = {}
    for where, rating in ratings.items():
        by_rater.setdefault(rating.rater, {})[where] = rating
    wanted_pairs = {(query.shown.id, each.id) for query in study.queries for each in query.suggestions}
    return [_row(rater, by_rater[rater], wanted_pairs, key) for rater in sorted(by_rater, key=by_number)]


def _row(
    rater: str, ratings: Mapping[Where, Rating], wanted_pairs: set[tuple[str, str]], key: StudyKey
) -> RaterScores:
    first = {(q, s): rating.score for (_, q, s, occasion), rating in ratings.items() if occasion == 0}
    again = {(q, s): rating.score for (_, q, s, occasion), rating in ratings.items() if occasion > 0}
    twice = np.array([(first[at], score) for at, score in again.items() if at in first]).reshape(-1, 2)
    steps = np.abs(twice[:, 0] - twice[:, 1])
    controls = [abs(score - key.controls[s]) <= 1 for (_, s), score in first.items() if s in key.controls]
    scored = [score for (_, s), score in first.items() if key.credits.get(s)]
    times = [rating.seconds for rating in ratings.values() if rating.seconds is not None]
    seconds = float(median(times)) if times else None
    return RaterScores(
        rater=rater,
        n_ratings=len(first),
        n_missing=len(wanted_pairs - first.keys()),
        mean_score=float(np.mean(scored or list(first.values()) or list(again.values()))),
        repeats=len(twice),
        repeats_equal=float(np.mean(steps == 0)) if len(twice) else None,
        repeats_near=float(np.mean(steps <= 1)) if len(twice) else None,
        controls=len(controls),
        controls_passed=float(np.mean(controls)) if controls else None,
        seconds=seconds,
        flagged=_flag(twice, controls, list(first.values()), seconds),
    )


def _flag(
    twice: np.ndarray, controls: Sequence[bool], scores: Sequence[int], seconds: float | None
) -> str | None:
    """Return the signs of an inattentive rater, None where there are none or too little is known."""
    against = []
    failed = len(controls) - sum(controls)
    if failed >= LEAST_FAILED and np.mean(controls) < LEAST_PASSED:
        against.append(f"{failed} of {len(controls)} obvious suggestions got a score far from the right one")
    kappa = weighted_kappa(twice) if len(twice) >= LEAST_REPEATS else None
    if kappa is not None and kappa < LEAST_KAPPA:
        against.append(
            f"repeated suggestions got scores that are hardly steadier than chance (kappa {kappa:.2f})"
        )
    if len(scores) >= LEAST_RATINGS and len(set(scores)) == 1:
        against.append(f"all {len(scores)} ratings are {scores[0]}")
    if len(scores) >= LEAST_RATINGS and seconds is not None and seconds < LEAST_SECONDS:
        against.append(f"half of the ratings took less than {seconds:.1f} seconds")
    return "; ".join(against) or None


def weighted_kappa(twice: np.ndarray) -> float | None:
    """Return Cohen's kappa with squared weights of two occasions [n, 2]: 1 as steady as can be, 0 chance.

    1 − mean of (a_i − b_i)² / mean of (a_i − b_j)² over all i and j; None where all scores are equal.
    J. Cohen. Weighted kappa. Psychological Bulletin 70, 1968.
    """
    a, b = twice[:, 0].astype(float), twice[:, 1].astype(float)
    expected = np.mean((a[:, None] - b[None, :]) ** 2)
    return None if expected == 0 else float(1 - np.mean((a - b) ** 2) / expected)


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
