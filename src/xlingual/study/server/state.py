"""What a running server knows: the study, its ratings and pictures, and when each rater did something."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from xlingual.errors import InputError, listed
from xlingual.study.database import Rater, Ratings
from xlingual.study.folder import IMAGES
from xlingual.study.links import Link
from xlingual.study.records import Rating, Study
from xlingual.study.server.limits import Buckets, Limits
from xlingual.study.server.rater_pages import RaterPage, Scores, course, scores_of
from xlingual.study.server.title import Title, read_title
from xlingual.study.tables import now

_LONGEST_S = 3600.0  # between two answers; after that the rater was away
_SEEN_S = 30.0  # a rater's "last seen" is written no more often than this


class StudyState:
    """A study being served.

    Args:
        study: what raters may see.
        folder: the study's folder; nothing in `secret/` is looked at.
        limits: how often raters and strangers may ask.
        url: what links begin with; None: the address that a page was asked by.
        clock: seconds that never go back.

    Raises:
        InputError: a picture is missing from the folder, or its name leads out of it; the title page
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
        self.looks = Buckets(limits.pictures, clock)
        self.pictures = _pictures(study, folder)
        self.fresh_link: Link | None = None  # made by the organiser, shown once
        self._clock = clock
        self._title = read_title(folder, study.title)
        self._acted: dict[str, float] = {}
        self._seen: dict[int, float] = {}
        self._courses = [course(study, number) for number in range(len(study.orders))]

    def places(self, rater: Rater) -> tuple[RaterPage, ...]:
        """Return a rater's pages."""
        return self.places_of(rater.number)

    def places_of(self, number: int) -> tuple[RaterPage, ...]:
        """Return the pages of the rater with a number."""
        return self._courses[number % len(self._courses)]

    def scores(self, rater: Rater) -> Scores:
        """Return a rater's scores by query, suggestion and occasion."""
        return scores_of(self.ratings.of(rater.name))

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

    def rate(self, rater: Rater, place: RaterPage, answers: Mapping[str, int]) -> int:
        """Keep the answers of a page, by suggestion; return how many were new. They are then on the disk."""
        before = place.scores(self.scores(rater))
        fresh = {name: score for name, score in answers.items() if before.get(name) != score}
        seconds = (
            self._since(rater) if len(fresh) == 1 else None
        )  # several at once: nobody knows how long each
        query, at = place.query.shown.id, now()
        return self.ratings.add_all(
            [
                Rating(rater.name, query, name, place.occasion, score, at, seconds)
                for name, score in fresh.items()
            ]
        )

    def _since(self, rater: Rater) -> float | None:
        moment = self._clock()
        before = self._acted.get(rater.name)
        self._acted[rater.name] = moment
        if before is None or moment - before > _LONGEST_S:
            return None
        return round(moment - before, 2)


def _pictures(study: Study, folder: Path) -> dict[str, Path]:
    """Return the file of each shown text that has a picture, by its id: requests choose from these alone."""
    shown = [one for query in study.queries for one in (query.shown, *query.suggestions)]
    named = {one.id: one.image for one in shown if one.image is not None}
    strange = [name for name in named.values() if Path(name).name != name or name in ("", ".", "..")]
    if strange:
        raise InputError(
            f"{folder}: {strange[0]!r} is no name of a picture in {IMAGES}/: make the study again"
        )
    files = {key: folder / IMAGES / name for key, name in named.items()}
    missing = sorted({path.name for path in files.values() if not path.is_file()})
    if missing:
        raise InputError(
            f"{folder / IMAGES}: missing {listed(missing, 3)} ({len(missing)} of {len(set(files.values()))}"
            " pictures): copy the study's folder as a whole"
        )
    return files
