"""Ratings as tables: what each rater said of each system's suggestions to each query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.study.answers import by_number
from xlingual.study.records import BEST, WORST, Rating, Study, StudyKey

Bools: TypeAlias = NDArray[np.bool_]
Where: TypeAlias = tuple[str, str, str, int]  # rater, query, suggestion, occasion


@dataclass(frozen=True)
class RatedPages:
    """Pages that were rated in full: R raters, Q queries, S systems, in the orders of the study and the key.

    A page is in full where all suggestions that systems made are scored; `relevant` and `mean` are 0 on
    others. A suggestion of several systems counts for each of them.
    """

    raters: tuple[str, ...]
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    relevant: Floats  # [R, Q, S] suggestions of score 1
    mean: Floats  # [R, Q, S] mean score
    seen: Bools  # [R, Q] whether the page was rated in full
    made: Ints  # [Q, S] suggestions that each system made
    counts: Ints  # [S, 4] ratings of each score, on pages in full

    def query_means(self, values: Floats) -> Floats:
        """Return means over raters [Q, S] of values [R, Q, S]."""
        found: Floats = values.sum(axis=0) / self.seen.sum(axis=0)[:, None]
        return found


def mean_seen(values: Floats, seen: Bools, axis: int) -> Floats:
    """Return means along an axis of values [R, Q] where seen."""
    found: Floats = np.sum(values * seen, axis=axis) / np.maximum(seen.sum(axis=axis), 1)
    return found


def last_ratings(study: Study, key: StudyKey, ratings: Sequence[Rating]) -> dict[Where, Rating]:
    """Return the rating that counts of each suggestion: the last one given.

    Raise InputError where there are none, or one is of something that the study does not have.
    """
    if key.study != study.id:
        raise InputError(
            f"the key is of study {key.study!r}, not of {study.id!r}: give the folder as it was made"
        )
    if not ratings:
        raise InputError(
            f"the study {study.title!r} has no ratings yet: hand out sheets (xlingual study sheets "
            "STUDY), and collect what raters save (xlingual study collect STUDY FILE…)"
        )
    shown = {query.shown.id: {each.id for each in query.suggestions} for query in study.queries}
    found: dict[Where, Rating] = {}
    for rating in sorted(ratings, key=lambda rating: rating.at):
        if rating.suggestion not in shown.get(rating.query, ()):
            raise InputError(
                f"a rating of rater {rating.rater} is of suggestion {rating.suggestion!r} to query "
                f"{rating.query!r}, which the study does not have: collect only answers to this study"
            )
        if not BEST <= rating.score <= WORST:
            raise InputError(
                f"a rating of rater {rating.rater} has the score {rating.score}: expected {BEST} to {WORST}"
            )
        found[rating.rater, rating.query, rating.suggestion, rating.occasion] = rating
    return found


def scores_of(study: Study, key: StudyKey, ratings: Mapping[Where, Rating]) -> RatedPages:
    """Return the tables of first occasions; queries and raters without a page in full are left out.

    Suggestions that no system made (controls) do not count. InputError where nothing is left.
    """
    systems = tuple(key.systems)
    raters = tuple(dict.fromkeys(sorted((where[0] for where in ratings), key=by_number)))
    queries = tuple(query.shown.id for query in study.queries)
    shape = (len(raters), len(queries), len(systems))
    relevant, mean, seen = np.zeros(shape), np.zeros(shape), np.zeros(shape[:2], dtype=bool)
    made = np.zeros(shape[1:], dtype=np.int64)
    counts = np.zeros((len(systems), WORST), dtype=np.int64)
    for q, query in enumerate(study.queries):
        credit = _credits(query.shown.id, [each.id for each in query.suggestions], key)  # [suggestions, S]
        ids = list(credit)
        by_system = np.array([credit[each] for each in ids])
        made[q] = by_system.sum(axis=0)
        for r, rater in enumerate(raters):
            given = [ratings.get((rater, queries[q], each, 0)) for each in ids]
            score = np.array([rating.score for rating in given if rating is not None])
            if len(score) < len(ids):
                continue
            seen[r, q] = True
            relevant[r, q] = (score == BEST) @ by_system
            mean[r, q] = score @ by_system / made[q]
            counts += by_system.T @ (score[:, None] == np.arange(BEST, WORST + 1))
    if not seen.any():
        raise InputError(
            "no rater has rated all suggestions of any query yet: analyse when whole pages are rated"
        )
    some_r, some_q = seen.any(axis=1), seen.any(axis=0)
    return RatedPages(
        tuple(np.array(raters, dtype=object)[some_r]),
        tuple(np.array(queries, dtype=object)[some_q]),
        systems,
        relevant[some_r][:, some_q],
        mean[some_r][:, some_q],
        seen[some_r][:, some_q],
        made[some_q],
        counts,
    )


def _credits(query: str, suggestions: Sequence[str], key: StudyKey) -> dict[str, list[int]]:
    """Return, of each suggestion that systems made, 1 for those that did and 0 for others."""
    found = {}
    for suggestion in suggestions:
        makers = {credit.system for credit in key.credits.get(suggestion, ())}
        if makers:
            found[suggestion] = [int(system in makers) for system in key.systems]
    for place, system in enumerate(key.systems):
        if not any(made[place] for made in found.values()):
            raise InputError(
                f"the key has no suggestion of system {system!r} to query {query!r}: the study or its key is "
                "incomplete; make it again with xlingual study new"
            )
    return found
