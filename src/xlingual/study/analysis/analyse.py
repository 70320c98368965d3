"""From ratings to a verdict: the analysis of a study, as docs/reference/study.md defines it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xlingual.errors import InputError, listed
from xlingual.results.study import LEFT_OUT, OF_PLANNED, RaterScores, StudyAnalysis
from xlingual.streams import stream
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
) -> StudyAnalysis:
    """Analyse the ratings of a study.

    Args:
        study: What was shown.
        key: Which system made what.
        ratings: The ratings, in any order; of several of one suggestion the last one counts.
        level: Of all intervals; 1 − level is the error of tests, over all pairs of systems (Holm).
        seed: Of resampling.
        replicates: How often queries (and raters) are resampled, and labels swapped.

    Raises:
        InputError: No ratings, or none of a whole page; ratings or key of another study; fewer than two
            systems.

    """
    if not 0 < level < 1 or replicates < 1:
        raise InputError(
            f"level {level:g}, replicates {replicates}: expected a level between 0 and 1, and 1 or more "
            "replicates"
        )
    given = last_ratings(study, key, ratings)
    if len(key.systems) < 2:
        raise InputError(f"the study has {len(key.systems)} system: two or more are needed to compare them")
    scores = scores_of(study, key, given)
    pairs = pairs_of(scores)
    resampled = resample(scores, pairs, stream(seed, "study bootstrap"), replicates)
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
        n_ratings=len(_counted(key, given)),
        n_raters=len(scores.raters),
        raters_resampled=len(scores.raters) >= FEWEST_RATERS,
        systems=system_scores(scores, resampled, mean_bkr(scores, key), level),
        pairs=pair_differences(scores, resampled, level=level, seed=seed, replicates=replicates),
        raters=raters,
        agreement=agreement_of(key, given, level=level, seed=seed, replicates=replicates),
        level=level,
        bkr=[row for row in beside if row is not None],
        conditions={
            "raters planned": str(study.raters),
            "suggestions of each system": str(study.per_system),
            **key.conditions,
        },
        warnings=_warnings(study, key, scores, given, raters),
        seed=seed,
        replicates=replicates,
    )


def _counted(key: StudyKey, ratings: Mapping[Where, Rating]) -> list[Rating]:
    """Return the ratings that count in scores: first ones, of what systems suggested."""
    return [r for r in ratings.values() if not r.occasion and key.credits.get(r.suggestion)]


def _warnings(
    study: Study,
    key: StudyKey,
    scores: RatedPages,
    ratings: Mapping[Where, Rating],
    raters: Sequence[RaterScores],
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
    given = _counted(key, ratings)
    complete = {(scores.raters[r], scores.queries[q]) for r, q in np.argwhere(scores.seen)}
    begun = {(rating.rater, rating.query) for rating in given}
    if part := begun - complete:
        names = listed(sorted({rater for rater, _ in part}))
        sentences.append(f"{LEFT_OUT}: {len(part)} of {len(begun)} begun, of raters {names}.")
    if missing := len(study.queries) - len(scores.queries):
        sentences.append(f"{missing} of {len(study.queries)} queries have no page that is rated in full.")
    suggested = sum(bool(key.credits.get(text.id)) for query in study.queries for text in query.suggestions)
    if len(given) < (planned := suggested * study.raters):
        sentences.append(
            f"{len(given)} of {planned} {OF_PLANNED}: who stops as soon as a difference is found "
            "finds false ones more often than the level says."
        )
    flagged = [row.rater for row in raters if row.flagged]
    if flagged:
        sentences.append(
            f"Raters who look inattentive ({listed(flagged)}) are counted all the same: whom to leave out is "
            "to be decided without knowing what it does to the result."
        )
    return sentences
