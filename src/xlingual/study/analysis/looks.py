"""Looking at a study before its end: each look has its own level, so that the error over all looks stays.

A look is taken when a fraction of the planned ratings was given: the first ones by the time they were
given. So each later analysis finds the same looks, and nothing depends on when somebody ran it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.errors import InputError
from xlingual.results.study import NOT_REACHED, InterimLook
from xlingual.stats.corrections import holm
from xlingual.stats.sequential import CLOSEST, levels, spent
from xlingual.study.analysis.pairs import pairs_of, permutation_ps
from xlingual.study.analysis.scores import RatedPages, Where, scores_of
from xlingual.study.records import Rating, Study, StudyKey

_MOST = 4_000_000  # signs to swap: the small p that an early look needs takes many replicates


@dataclass(frozen=True)
class Looks:
    """Looks at a study, and the pairs for which one of them found a difference, with its sign."""

    rows: list[InterimLook]
    apart: dict[tuple[int, int], int]


def planned_ratings(study: Study, key: StudyKey) -> int:
    """Return how many ratings were planned: of each rater, all suggestions that systems made, once."""
    made = sum(bool(key.credits.get(each.id)) for query in study.queries for each in query.suggestions)
    return made * study.raters


def counted(key: StudyKey, ratings: Mapping[Where, Rating]) -> list[Rating]:
    """Return the ratings that count in scores, by the time they were given."""
    rows = [r for (_, _, s, occasion), r in ratings.items() if occasion == 0 and key.credits.get(s)]
    return sorted(rows, key=lambda rating: (rating.at, rating.rater, rating.query, rating.suggestion))


def looks_of(
    study: Study,
    key: StudyKey,
    ratings: Mapping[Where, Rating],
    fractions: Sequence[float],
    planned: int,
    *,
    level: float,
    seed: int,
    replicates: int,
) -> Looks:
    """Return the looks at these fractions, which rise from above 0 to 1; InputError where they do not."""
    alpha = 1 - level
    tests_at = _levels(fractions, alpha)
    rows: list[InterimLook] = []
    apart: dict[tuple[int, int], int] = {}
    first = counted(key, ratings)
    for number, (fraction, at) in enumerate(zip(fractions, tests_at, strict=True), start=1):
        n, note, passed = round(fraction * planned), None, dict[tuple[int, int], int]()
        if len(first) < n:
            note = f"{NOT_REACHED}: {len(first)} of {n} ratings"
        else:
            taken = {(r.rater, r.query, r.suggestion, r.occasion): r for r in first[:n]}
            try:
                passed = _passed(scores_of(study, key, taken), at, seed, replicates)
            except InputError:
                note = "no page was rated in full"
        apart = passed | apart  # what an earlier look found stays found
        if passed:
            names = list(key.systems)
            note = f"passed by {', '.join(f'{names[a]} against {names[b]}' for a, b in passed)}"
        rows.append(InterimLook(number, fraction, spent(fraction, alpha), at, bool(passed), note))
    return Looks(rows, apart)


def _levels(fractions: Sequence[float], alpha: float) -> list[float]:
    try:
        if fractions[-1] != 1:
            raise ValueError("the end of the study is a look, too")
        return levels(fractions, alpha)
    except ValueError as error:
        named = ", ".join(f"{fraction:g}" for fraction in fractions)
        raise InputError(
            f"looks at {named}: expected fractions of the planned ratings that rise from above 0 to 1, by "
            f"{CLOSEST:g} at least, such as 0.5 and 1"
        ) from error


def _passed(scores: RatedPages, at: float, seed: int, replicates: int) -> dict[tuple[int, int], int]:
    pairs = pairs_of(scores)
    enough = max(replicates, min(int(20 * len(pairs) / at), _MOST // len(scores.queries)) if at > 0 else 0)
    p = holm(np.array([each[0] for each in permutation_ps(scores, pairs, seed, enough)]))
    means = scores.query_means(scores.relevant).mean(axis=0)
    return {
        pair: 1 if means[pair[0]] > means[pair[1]] else -1
        for pair, each in zip(pairs, p, strict=True)
        if each <= at and means[pair[0]] != means[pair[1]]
    }
