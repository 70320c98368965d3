"""From ratings to a verdict: the analysis of a study, as docs/reference/study.md defines it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from xlingual.errors import InputError, listed
from xlingual.results.study import LEFT_OUT, OF_PLANNED, PairDifference, RaterScores, StudyAnalysis
from xlingual.streams import stream
from xlingual.study.analysis.looks import Looks, counted, looks_of, planned_ratings
from xlingual.study.analysis.needed import more_needed
from xlingual.study.analysis.pairs import pair_differences, pairs_of, system_scores
from xlingual.study.analysis.raters import agreement_of, rater_scores
from xlingual.study.analysis.resampling import FEWEST_RATERS, resample
from xlingual.study.analysis.scores import RatedPages, Where, last_ratings, scores_of
from xlingual.study.analysis.with_bkr import mean_bkr, with_bkr
from xlingual.study.records import Rating, Study, StudyKey

LEVEL, REPLICATES = 0.95, 4999


def analyse(
    study: Study,
    key: StudyKey,
    ratings: Sequence[Rating],
    *,
    level: float = LEVEL,
    seed: int = 0,
    replicates: int = REPLICATES,
    looks: Sequence[float] | None = None,
    planned: int | None = None,
) -> StudyAnalysis:
    """Analyse the ratings of a study.

    Args:
        study: What was shown.
        key: Which system made what.
        ratings: The ratings, in any order; of several of one suggestion the last one counts.
        level: Of all intervals; 1 − level is the error of tests, over all pairs of systems (Holm).
        seed: Of resampling.
        replicates: How often queries (and raters) are resampled, and labels swapped.
        looks: Fractions of the planned ratings at which the study was, or will be, looked at, the last one 1;
            None: once, at its end.
        planned: How many ratings of systems' suggestions were planned, for looks; by default what the study
            was made for.

    Raises:
        InputError: No ratings, or none of a whole page; ratings or key of another study; fewer than two
            systems; looks that do not rise.

    """
    if not 0 < level < 1 or replicates < 1 or (planned is not None and planned < 1):
        raise InputError(
            f"level {level:g}, replicates {replicates}, planned ratings {planned}: expected a level between "
            "0 and 1, and 1 or more of the others"
        )
    given = last_ratings(study, key, ratings)
    if len(key.systems) < 2:
        raise InputError(f"the study has {len(key.systems)} system: two or more are needed to compare them")
    scores = scores_of(study, key, given)
    planned = planned_ratings(study, key) if planned is None else planned
    seen = (
        looks_of(study, key, given, looks, planned, level=level, seed=seed, replicates=replicates)
        if looks
        else None
    )
    pairs = pairs_of(scores)
    resampled = resample(scores, pairs, stream(seed, "study bootstrap"), replicates)
    differences = pair_differences(scores, resampled, level=level, seed=seed, replicates=replicates)
    raters = rater_scores(study, key, given)
    beside = [with_bkr(scores, key, pair, level=level, seed=seed, replicates=replicates) for pair in pairs]
    return StudyAnalysis(
        study=study.id,
        title=study.title,
        source=study.source,
        target=study.target,
        labels=list(study.labels),
        n_queries=len(scores.queries),
        n_planned=len(study.queries),
        n_ratings=len(counted(key, given)),
        n_raters=len(scores.raters),
        raters_resampled=len(scores.raters) >= FEWEST_RATERS,
        systems=system_scores(scores, resampled, mean_bkr(scores, key), level),
        pairs=_at_looks(differences, pairs, seen),
        raters=raters,
        agreement=agreement_of(key, given, level=level, seed=seed, replicates=replicates),
        level=level,
        looks=seen.rows if seen else [],
        needed=[more_needed(scores, pair, (1 - level) / len(pairs)) for pair in pairs],
        bkr=[row for row in beside if row is not None],
        conditions={
            "raters planned": str(study.raters),
            "suggestions of each system": str(study.per_system),
            **key.conditions,
        },
        warnings=_warnings(study, key, scores, given, raters, seen, planned),
        seed=seed,
        replicates=replicates,
    )


def _at_looks(
    differences: list[PairDifference], pairs: Sequence[tuple[int, int]], looks: Looks | None
) -> list[PairDifference]:
    """Return the differences with the outcomes that looks allow: one is found where a look passed."""
    if looks is None:
        return differences
    words = {1: "better", -1: "worse"}
    return [
        replace(row, outcome=words.get(looks.apart.get(pair, 0), "no difference found"))
        for row, pair in zip(differences, pairs, strict=True)
    ]


def _warnings(
    study: Study,
    key: StudyKey,
    scores: RatedPages,
    ratings: Mapping[Where, Rating],
    raters: Sequence[RaterScores],
    looks: Looks | None,
    planned: int,
) -> list[str]:
    """Return the warnings that a reader of the numbers needs, each in a sentence."""
    sentences = []
    n = len(scores.raters)
    if n < FEWEST_RATERS:
        who = "one rater" if n == 1 else f"{n} raters"
        sentences.append(
            f"Intervals and tests are about {who} on other queries, not about other raters: with fewer than "
            f"{FEWEST_RATERS} raters only queries are resampled."
        )
    given = counted(key, ratings)
    complete = {(scores.raters[r], scores.queries[q]) for r, q in np.argwhere(scores.seen)}
    begun = {(rating.rater, rating.query) for rating in given}
    if part := begun - complete:
        names = listed(sorted({rater for rater, _ in part}))
        sentences.append(f"{LEFT_OUT}: {len(part)} of {len(begun)} begun, of raters {names}.")
    if missing := len(study.queries) - len(scores.queries):
        sentences.append(f"{missing} of {len(study.queries)} queries have no page that is rated in full.")
    if looks is None and len(given) < planned:
        sentences.append(
            f"{len(given)} of {planned} {OF_PLANNED}: who stops as soon as a difference is found "
            "finds false ones more often than the level says; name the looks (--looks) in advance."
        )
    if looks is not None and not any(look.reached for look in looks.rows):
        sentences.append("No planned look is reached yet, so no difference can be called found.")
    flagged = [row.rater for row in raters if row.flagged]
    if flagged:
        sentences.append(
            f"Raters who look inattentive ({listed(flagged)}) are counted all the same: whom to leave out is "
            "to be decided without knowing what it does to the result."
        )
    return sentences
