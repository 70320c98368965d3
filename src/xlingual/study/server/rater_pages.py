"""The pages of a rater in their order, and how far the rater has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlingual.study.records import Query, Rating, Shown, Study

Scores = Mapping[tuple[str, str, int], int]  # (query, suggestion, occasion) → score


@dataclass(frozen=True)
class RaterPage:
    """A page of a rater: its number (from 1), the query and its suggestions in this rater's order."""

    number: int
    query: Query
    suggestions: tuple[Shown, ...]
    occasion: int

    def scores(self, scores: Scores) -> dict[str, int]:
        """Return the scores that were given on this page, by suggestion."""
        found = {one.id: scores.get((self.query.shown.id, one.id, self.occasion)) for one in self.suggestions}
        return {name: score for name, score in found.items() if score is not None}

    def done(self, scores: Scores) -> bool:
        """Return whether every suggestion has a score."""
        return len(self.scores(scores)) == len(self.suggestions)


def course(study: Study, rater: int) -> tuple[RaterPage, ...]:
    """Return the pages of the rater with a number; orders begin anew after the last."""
    queries = {query.shown.id: query for query in study.queries}
    places = []
    for number, page in enumerate(study.orders[rater % len(study.orders)], 1):
        query = queries[page.query]
        shown = {one.id: one for one in query.suggestions}
        places.append(
            RaterPage(number, query, tuple(shown[name] for name in page.suggestions), page.occasion)
        )
    return tuple(places)


def scores_of(ratings: Sequence[Rating]) -> Scores:
    """Return one rater's scores by what they are of."""
    return {(one.query, one.suggestion, one.occasion): one.score for one in ratings}


def first_open(places: Sequence[RaterPage], scores: Scores) -> RaterPage | None:
    """Return the first page that lacks a score, or None where all is done."""
    return next((place for place in places if not place.done(scores)), None)


def given(places: Sequence[RaterPage], scores: Scores) -> int:
    """Return how many scores of these pages there are."""
    return sum(len(place.scores(scores)) for place in places)


def asked(places: Sequence[RaterPage]) -> int:
    """Return how many scores are asked for."""
    return sum(len(place.suggestions) for place in places)
