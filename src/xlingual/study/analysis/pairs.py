"""Systems, and one against another: very relevant suggestions, mean scores, queries won."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from xlingual.results import Interval
from xlingual.results.study import PairDifference, SystemScores
from xlingual.stats.corrections import holm
from xlingual.streams import stream
from xlingual.study.analysis.intervals import apart, mean_interval, ratio_of, score_interval, win_interval
from xlingual.study.analysis.resampling import Replicates, permutation_p, won
from xlingual.study.analysis.scores import RatedPages
from xlingual.study.records import BEST, WORST


def pairs_of(scores: RatedPages) -> list[tuple[int, int]]:
    """Return all pairs of systems, by their places."""
    return list(combinations(range(len(scores.systems)), 2))


def system_scores(
    scores: RatedPages, resampled: Replicates, bkr: dict[str, float], level: float
) -> list[SystemScores]:
    """Return the ratings of each system in numbers."""
    found = []
    for s, system in enumerate(scores.systems):
        relevant, mean = (scores.query_means(values)[:, s] for values in (scores.relevant, scores.mean))
        most = float(scores.made[:, s].max())
        found.append(
            SystemScores(
                system=system,
                very_relevant=float(relevant.mean()),
                very_relevant_ci=mean_interval(
                    scores, scores.relevant[..., s], resampled.relevant[:, s], (0.0, most), level
                ),
                share=float((relevant / scores.made[:, s]).mean()),
                mean_score=float(mean.mean()),
                mean_score_ci=mean_interval(
                    scores, scores.mean[..., s], resampled.mean[:, s], (float(BEST), float(WORST)), level
                ),
                counts=[int(n) for n in scores.counts[s]],
                n_suggestions=int(scores.made[:, s].sum()),
                bkr=bkr.get(system),
            )
        )
    return found


def pair_differences(
    scores: RatedPages, resampled: Replicates, *, level: float, seed: int, replicates: int
) -> list[PairDifference]:
    """Return each pair of systems, p corrected over them (Holm)."""
    pairs = pairs_of(scores)
    rng = stream(seed, "study permutation")
    both = (scores.relevant, scores.mean)
    p = np.array(
        [[permutation_p(apart(v, *pair), scores.seen, rng, replicates) for v in both] for pair in pairs]
    )
    p = np.column_stack([p, holm(p[:, 0])])
    return [
        _difference(scores, resampled, place, pair, p[place].tolist(), level)
        for place, pair in enumerate(pairs)
    ]


def _difference(
    scores: RatedPages,
    resampled: Replicates,
    place: int,
    pair: tuple[int, int],
    p: Sequence[float],  # of relevant suggestions, of mean scores, the first one adjusted
    level: float,
) -> PairDifference:
    first, second = pair
    relevant, mean = scores.query_means(scores.relevant), scores.query_means(scores.mean)
    wins = won(relevant, mean, first, second)
    ratio, ratio_ci, note = ratio_of(scores, resampled, pair, level)
    if ratio_ci is not None and p[0] > 1 - level:  # an interval does not exclude what the test does not
        ratio_ci = Interval(min(ratio_ci.low, 1.0), max(ratio_ci.high, 1.0), level, ratio_ci.method)
    lead = relevant[:, first].mean() - relevant[:, second].mean()
    outcome = "no difference found" if p[2] > 1 - level or lead == 0 else "better" if lead > 0 else "worse"
    return PairDifference(
        first=scores.systems[first],
        second=scores.systems[second],
        ratio=ratio,
        ratio_ci=ratio_ci,
        score_difference=float(mean[:, first].mean() - mean[:, second].mean()),
        score_ci=score_interval(scores, resampled, pair, level),
        wins=int(np.sum(wins == 1)),
        ties=int(np.sum(wins == 0.5)),
        losses=int(np.sum(wins == 0)),
        win_rate=float(wins.mean()),
        win_ci=win_interval(scores, pair, wins, resampled.wins[:, place], level),
        p_permutation=p[0],
        p_score=p[1],
        p_adjusted=p[2],
        outcome=outcome,
        ratio_note=note,
    )
