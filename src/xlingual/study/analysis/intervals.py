"""Intervals of ratings: of means, of differences, of win rates, of ratios."""

from __future__ import annotations

import math

import numpy as np

from xlingual.arrays import Floats
from xlingual.results import Interval
from xlingual.stats.intervals import rule_of_three, wilson
from xlingual.study.analysis.resampling import FEWEST_RATERS, Replicates, VarianceParts
from xlingual.study.analysis.scores import RatedPages, mean_seen
from xlingual.study.records import BEST, WORST

_NEVER_SEEN = 1 / 0.5  # variance of log ½, as of a Poisson count
FEW = 5  # very relevant suggestions below which the interval of a ratio is rough


def mean_interval(
    scores: RatedPages, values: Floats, drawn: Floats, bounds: tuple[float, float], level: float
) -> Interval:
    """Return Wilson's interval of a mean of values [R, Q] within bounds."""
    spread = VarianceParts.of(values, scores.seen)
    low, width = bounds[0], bounds[1] - bounds[0]
    centre = (float(mean_seen(values, scores.seen, 0).mean()) - low) / width
    clusters = max(spread.freedom + 1, 2.0)
    ends = wilson(centre, (spread.error(drawn) / width) ** 2, clusters, level)
    return Interval(low + ends[0] * width, low + ends[1] * width, level, _method(scores, "Wilson"))


def score_interval(
    scores: RatedPages, resampled: Replicates, pair: tuple[int, int], level: float
) -> Interval:
    """Return the interval of the difference in mean score, first minus second."""
    values = apart(scores.mean, *pair)
    estimate = float(apart(scores.query_means(scores.mean), *pair).mean())
    spread = VarianceParts.of(values, scores.seen)
    reach = spread.reach(apart(resampled.mean, *pair), level)
    span = float(WORST - BEST)
    if reach <= 0:
        return rule_of_three(estimate, len(scores.queries), span, level, "queries alike")
    low, high = max(estimate - reach, -span), min(estimate + reach, span)
    return Interval(low, high, level, _method(scores, "difference ± t·error"))


def win_interval(
    scores: RatedPages, pair: tuple[int, int], wins: Floats, drawn: Floats, level: float
) -> Interval:
    """Return Wilson's interval of a win rate.

    The effective number of queries is that of the sample or that of resampled studies, the smaller one.
    Resampled raters are fewer different ones, who separate the systems less well: win rates are nearer to one
    half there, so that their variance counts in proportion to w(1 − w).
    """
    n, rate, usual = len(wins), float(wins.mean()), float(drawn.mean())
    variance = float(np.var(wins, ddof=1) / n) if n > 1 else 0.0
    if 0 < usual < 1:
        variance = max(variance, float(np.var(drawn)) * rate * (1 - rate) / (usual * (1 - usual)))
    clusters = max(VarianceParts.of(apart(scores.relevant, *pair), scores.seen).freedom + 1, 2.0)
    low, high = wilson(rate, variance, clusters, level)
    return Interval(low, high, level, _method(scores, "Wilson"))


def ratio_of(
    scores: RatedPages, resampled: Replicates, pair: tuple[int, int], level: float
) -> tuple[float | None, Interval | None, str | None]:
    """Return the ratio of very relevant suggestions, first over second, its interval and a note.

    exp(log ratio ± t·error). Where either has none at all, half a suggestion is added to both sums, also in
    resampled studies, and 1/½ to the variance: what was never seen does not vary in any sample, but half a
    suggestion is known no better than half an event that was counted. Where both have none there is no ratio.
    """
    half = 0.5 / len(scores.queries)  # of a suggestion, in a mean over queries
    means = scores.query_means(scores.relevant)[:, list(pair)].mean(axis=0)
    if not means.any():
        return None, None, "no suggestion of either system was called very relevant, so there is no ratio"
    note = None
    if not means.all():
        none = scores.systems[pair[int(np.argmin(means))]]
        note = (
            f"no suggestion of {none} was called very relevant: half a suggestion was added to both sums for "
            "the ratio, which is rough"
        )
    elif (means * len(scores.queries)).min() < FEW:
        note = f"a system has fewer than {FEW} very relevant suggestions a rater: the interval is rough"
    padded = means + half * (not means.all())
    ratio = float(padded[0] / padded[1])
    drawn = resampled.relevant[:, list(pair)]
    drawn = drawn + half * (drawn <= 0).any(axis=1, keepdims=True)
    influence = scores.relevant[..., pair[0]] / padded[0] - scores.relevant[..., pair[1]] / padded[1]
    spread, logs = VarianceParts.of(influence, scores.seen), np.log(drawn[:, 0] / drawn[:, 1])
    alike = spread.error(logs) <= 0
    widest = _never_varied(scores, pair, padded, level) if alike else (math.inf, 0.0)
    if alike and means.all():
        return ratio, Interval(*widest, level, _method(scores, "rule of three")), note
    reach = spread.reach(logs, level, 0.0 if means.all() else _NEVER_SEEN)
    low, high = (ratio * math.exp(sign * min(reach, 500.0)) for sign in (-1, 1))
    low, high = min(low, widest[0]), max(high, widest[1])
    return ratio, Interval(low, high, level, _method(scores, "log ratio ± t·error")), note


def _never_varied(
    scores: RatedPages, pair: tuple[int, int], means: Floats, level: float
) -> tuple[float, float]:
    """Return the ends of the ratio where all queries are alike: so many could still not show others.

    With the share of queries that may be different, either system might have none or all suggestions there.
    """
    share = 1 - (1 - level) ** (1 / len(scores.queries))
    most = scores.made[:, list(pair)].max(axis=0)
    low, high = means * (1 - share), means * (1 - share) + most * share
    return float(low[0] / high[1]), float(high[0] / low[1])


def apart(values: Floats, first: int, second: int) -> Floats:
    """Return the first system's values less the second's, [...] of [..., S]."""
    found: Floats = values[..., first] - values[..., second]
    return found


def _method(scores: RatedPages, kind: str) -> str:
    raters = f" and {len(scores.raters)} raters" if len(scores.raters) >= FEWEST_RATERS else ""
    return f"{kind}, bootstrap over {len(scores.queries)} queries{raters}"
