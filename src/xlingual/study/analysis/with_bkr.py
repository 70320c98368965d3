"""Whether people and Backretrieval prefer the same system, on the same queries."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats
from xlingual.results import Interval
from xlingual.results.study import WithBkr
from xlingual.stats.dependent import fisher_interval
from xlingual.stats.paired import paired_test
from xlingual.stats.paired_queries import Paired
from xlingual.streams import stream
from xlingual.study.analysis.scores import RatedPages
from xlingual.study.records import StudyKey

FEWEST_QUERIES = 5  # for intervals


def mean_bkr(scores: RatedPages, key: StudyKey) -> dict[str, float]:
    """Return each system's mean BkR over the queries that were rated, where it is known of all of them."""
    found = {}
    for system in scores.systems:
        values = key.bkr.get(system, {})
        if all(query in values for query in scores.queries):
            found[system] = float(np.mean([values[query] for query in scores.queries]))
    return found


def with_bkr(
    scores: RatedPages, key: StudyKey, pair: tuple[int, int], *, level: float, seed: int, replicates: int
) -> WithBkr | None:
    """Return BkR's difference beside people's, over the queries that have both; None where there are none."""
    first, second = (scores.systems[place] for place in pair)
    known = [key.bkr.get(system, {}) for system in (first, second)]
    places = [q for q, query in enumerate(scores.queries) if all(query in values for values in known)]
    if not places:
        return None
    a, b = (np.array([values[scores.queries[q]] for q in places], dtype=np.float64) for values in known)
    relevant = scores.query_means(scores.relevant)[places]
    people = relevant[:, pair[0]] - relevant[:, pair[1]]
    difference, liked = float(np.mean(a - b)), float(np.mean(people))
    correlation, correlation_ci, note = _correlation(a - b, people, level)
    some = f"BkR is known of {len(places)} of {len(scores.queries)} queries"
    notes = [some if len(places) < len(scores.queries) else None, note]
    ci = None
    if (n := len(places)) >= FEWEST_QUERIES:
        paired = Paired(a, b, np.full(n, 1 / n), np.arange(n))
        ci = paired_test(paired, rng=stream(seed, "study bkr"), replicates=replicates).interval(level)
    return WithBkr(
        first=first,
        second=second,
        measure=key.bkr_measure or "BkR",
        difference=difference,
        ci=ci,
        correlation=correlation,
        correlation_ci=correlation_ci,
        same_direction=None if abs(difference * liked) < 1e-12 else difference * liked > 0,
        note="; ".join(filter(None, notes)) or None,
    )


def _correlation(
    bkr: Floats, people: Floats, level: float
) -> tuple[float | None, Interval | None, str | None]:
    """Return Pearson's correlation over queries, its interval (Fisher's) and why one of them is missing."""
    if np.ptp(bkr) < 1e-12 or np.ptp(people) < 1e-12:
        which = "BkR" if np.ptp(bkr) < 1e-12 else "people's"
        return None, None, f"the {which} difference is the same on all queries, so nothing correlates with it"
    r = float(np.clip(np.corrcoef(bkr, people)[0, 1], -1, 1))
    try:
        return r, fisher_interval(r, len(bkr), level), None
    except ValueError as error:
        return r, None, f"no interval of the correlation: {error}"
