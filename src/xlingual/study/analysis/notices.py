"""What a reader of a study's numbers must know: how many raters, what is unfinished, who was inattentive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xlingual.errors import listed
from xlingual.results.study import LEFT_OUT, OF_PLANNED, RaterScores
from xlingual.study.analysis.looks import Looks, counted
from xlingual.study.analysis.resampling import FEWEST_RATERS
from xlingual.study.analysis.scores import Scores, Where
from xlingual.study.records import Key, Rating, Study


def warnings_of(
    study: Study,
    key: Key,
    scores: Scores,
    ratings: Mapping[Where, Rating],
    raters: Sequence[RaterScores],
    looks: Looks | None,
    planned: int,
) -> list[str]:
    """Return what a reader of the numbers must know, each in a sentence."""
    said = []
    n = len(scores.raters)
    if n < FEWEST_RATERS:
        who = "one rater" if n == 1 else f"{n} raters"
        said.append(
            f"Intervals and tests are about {who} on other queries, not about other raters: with fewer than "
            f"{FEWEST_RATERS} raters only queries are resampled."
        )
    said += _unfinished(study, key, scores, ratings)
    count = len(counted(key, ratings))
    if looks is None and count < planned:
        said.append(
            f"{count} of {planned} {OF_PLANNED}: to stop when a look pleases finds differences "
            "that are none more often than the level says; name the looks (--looks) before."
        )
    if looks is not None and not any(look.reached for look in looks.rows):
        said.append("No planned look is reached yet, so no difference can be called found.")
    flagged = [row.rater for row in raters if row.flagged]
    if flagged:
        said.append(
            f"Raters who look inattentive ({listed(flagged)}) are counted all the same: whom to leave out is "
            "to be decided without knowing what it does to the result."
        )
    return said


def _unfinished(study: Study, key: Key, scores: Scores, ratings: Mapping[Where, Rating]) -> list[str]:
    """Return a sentence on pages that are left out since they were begun and not rated in full."""
    whole = {
        (rater, query)
        for r, rater in enumerate(scores.raters)
        for q, query in enumerate(scores.queries)
        if scores.seen[r, q]
    }
    begun = {(rating.rater, rating.query) for rating in counted(key, ratings)}
    said = []
    if begun - whole:
        names = listed(sorted({rater for rater, _ in begun - whole}))
        said.append(f"{LEFT_OUT}: {len(begun - whole)} of {len(begun)} begun, of raters {names}.")
    if len(scores.queries) < len(study.queries):
        missing = len(study.queries) - len(scores.queries)
        said.append(f"{missing} of {len(study.queries)} queries have no page that is rated in full.")
    return said
