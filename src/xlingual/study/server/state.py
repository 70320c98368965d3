"""The state of a running server: the study, its ratings and images, and when each rater was active."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from xlingual.errors import InputError, listed
from xlingual.serving.limits import Buckets, Limits
from xlingual.study.database import Rater, Ratings
from xlingual.study.folder import IMAGES
from xlingual.study.links import Link
from xlingual.study.records import Query, Rating, Shown, Study
from xlingual.study.server.title import Title, read_title
from xlingual.study.tables import now

_LONGEST_S = 3600.0  # between two answers; after that the rater was away
_SEEN_S = 30.0  # a rater's "last seen" is written no more often than this


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


def pages_of_rater(study: Study, rater: int) -> tuple[RaterPage, ...]:
    """Return the pages of the rater with a number; orders begin anew after the last."""
    queries = {query.shown.id: query for query in study.queries}
    shown = {one.id: one for query in study.queries for one in query.suggestions}
    order = study.orders[rater % len(study.orders)]
    return tuple(
        RaterPage(number, queries[page.query], tuple(shown[name] for name in page.suggestions), page.occasion)
        for number, page in enumerate(order, 1)
    )


def first_open(pages: Sequence[RaterPage], scores: Scores) -> RaterPage | None:
    """Return the first page that lacks a score, or None where all is done."""
    return next((page for page in pages if not page.done(scores)), None)


def scores_given(pages: Sequence[RaterPage], scores: Scores) -> int:
    """Return how many scores of these pages there are."""
    return sum(len(page.scores(scores)) for page in pages)


def scores_expected(pages: Sequence[RaterPage]) -> int:
    """Return how many scores these pages ask for."""
    return sum(len(page.suggestions) for page in pages)


class StudyState:
    """A study being served.

    Args:
        study: what raters may see.
        folder: the study's folder; nothing in `secret/` is looked at.
        limits: how often raters and strangers may ask.
        url: the beginning of links; None: the address that a page was asked by.
        clock: a clock in seconds that never goes back.

    Raises:
        InputError: an image is missing from the folder, or its name leads out of it; the title page
            cannot be read.

    """

    def __init__(
        self,
        study: Study,
        folder: Path,
        limits: Limits,
        url: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.study, self.folder, self.url = study, folder, url
        self.ratings = Ratings(folder)
        self.tokens, self.strangers = Buckets(limits.token, clock), Buckets(limits.not_found, clock)
        self.image_requests = Buckets(limits.images, clock)
        self.images = _images(study, folder)
        self.fresh_link: Link | None = None  # made by the organiser, shown once
        self._clock = clock
        self._title = read_title(folder, study.title)
        self._acted: dict[str, float] = {}
        self._seen: dict[int, float] = {}
        self._pages = [pages_of_rater(study, number) for number in range(len(study.orders))]

    def pages(self, rater: Rater) -> tuple[RaterPage, ...]:
        """Return a rater's pages."""
        return self.pages_of(rater.number)

    def pages_of(self, number: int) -> tuple[RaterPage, ...]:
        """Return the pages of the rater with a number."""
        return self._pages[number % len(self._pages)]

    def scores(self, rater: Rater) -> Scores:
        """Return a rater's scores by query, suggestion and occasion."""
        given = self.ratings.of(rater.name)
        return {(one.query, one.suggestion, one.occasion): one.score for one in given}

    def title(self) -> Title:
        """Return title and instructions as they are now; while they cannot be read, those from before."""
        with suppress(InputError):
            self._title = read_title(self.folder, self.study.title)
        return self._title

    def opened(self, rater: Rater) -> None:
        """Note that a rater opened a page: seconds count from now."""
        moment = self._clock()
        self._acted[rater.name] = moment
        due = moment - self._seen.get(rater.number, -_SEEN_S) >= _SEEN_S
        if due and self.ratings.note_seen(rater.number):
            self._seen[rater.number] = moment

    def rate(self, rater: Rater, page: RaterPage, answers: Mapping[str, int]) -> int:
        """Keep the answers of a page, by suggestion; return how many were new. They are then on the disk."""
        before = page.scores(self.scores(rater))
        fresh = {name: score for name, score in answers.items() if before.get(name) != score}
        seconds = None
        if len(fresh) == 1:  # of several at once nobody knows how long each took
            moment = self._clock()
            passed = moment - self._acted.get(rater.name, -math.inf)
            self._acted[rater.name] = moment
            seconds = round(passed, 2) if passed <= _LONGEST_S else None
        query, at = page.query.shown.id, now()
        given = [(name, page.occasion, score, at, seconds) for name, score in fresh.items()]
        return self.ratings.add_all([Rating(rater.name, query, *one) for one in given])


def _images(study: Study, folder: Path) -> dict[str, Path]:
    """Return the file of each shown text that has an image, by its id: requests choose from these alone."""
    shown = [one for query in study.queries for one in (query.shown, *query.suggestions)]
    named = {one.id: one.image for one in shown if one.image is not None}
    strange = [name for name in named.values() if Path(name).name != name or name in ("", ".", "..")]
    if strange:
        raise InputError(
            f"{folder}: {strange[0]!r} is no name of an image in {IMAGES}/: make the study again"
        )
    files = {key: folder / IMAGES / name for key, name in named.items()}
    missing = sorted({path.name for path in files.values() if not path.is_file()})
    if missing:
        raise InputError(
            f"{folder / IMAGES}: missing {listed(missing, 3)} ({len(missing)} of {len(set(files.values()))}"
            " images): copy the study's folder as a whole"
        )
    return files
