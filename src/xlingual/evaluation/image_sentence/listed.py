"""Runs of search engines in image–sentence ranking: names of sentences and images, searches, and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError
from xlingual.evaluation.image_sentence.captions import ShownImages, Slice
from xlingual.evaluation.image_sentence.directions import both_ways
from xlingual.evaluation.listed import check_reach
from xlingual.evaluation.numbers import Subject
from xlingual.evaluation.rankings import IMAGE
from xlingual.measures import RankMeasure
from xlingual.ranking.listed import Lists
from xlingual.records import RankCounts, TargetCounts
from xlingual.systems import Names, RunSystem, Search
from xlingual.systems.names import AMBIGUOUS, UNKNOWN, escaped


class TextAndImageNames(Names):
    """Names of the N texts of a manifest, and of its images, whose rows begin at N.

    A text is "language:id". An image is "image:language:id" by any row that shows it. An id alone is that of
    a text, or of an image where `images` says so.
    """

    def __init__(self, manifest: Manifest, shown: ShownImages, *, images: bool) -> None:
        tags = manifest.languages
        super().__init__([tags[code] for code in manifest.language.tolist()], manifest.ids)
        self._code, self._n_images, self._images = shown.code.tolist(), len(shown.first_row), images

    def __len__(self) -> int:
        return len(self._ids) + self._n_images

    def _row(self, name: str, language: str | None) -> int:
        if (row := self._shown.get(name)) is not None:
            return row
        if self._images if language is None else language == IMAGE:
            return self._whole.get(name, self._images_alone.get(name, UNKNOWN))
        return super()._row(name, language)

    @cached_property
    def _shown(self) -> dict[str, int]:
        rows = zip(self._languages, self._ids, self._code, strict=True)
        n = len(self._ids)
        return {f"{IMAGE}:{escaped(f'{tag}:{own}')}": n + code for tag, own, code in rows if code >= 0}

    @cached_property
    def _images_alone(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for own, code in zip(self._ids, self._code, strict=True):
            row = len(self._ids) + code
            for name in {own, escaped(own)} if code >= 0 else ():
                found[name] = row if found.setdefault(name, row) == row else AMBIGUOUS
        return found


@dataclass(frozen=True)
class ListedSystem:
    """A search engine's run, and the directions in which it has results: sentence → image, or back."""

    name: str
    run: RunSystem
    subjects: tuple[Subject, ...]
    image_name: None = None

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of which it has a direction."""
        tags = (subject.target if subject.source == IMAGE else subject.source for subject in self.subjects)
        return tuple(dict.fromkeys(tags))


class Searches:
    """The searches of slices of a manifest, both ways."""

    def __init__(self, manifest: Manifest, shown: ShownImages) -> None:
        self._names = [TextAndImageNames(manifest, shown, images=images) for images in (False, True)]
        self._n = len(manifest)

    def of(self, subject: Subject, one: Slice) -> Search:
        """Return the search of a direction: queries among the candidates of a slice."""
        texts, images = self._names
        rows = one.texts, self._n + one.images
        pair = subject.source, subject.target, subject.seed
        if subject.target == IMAGE:
            return Search(texts, images, *rows, *pair)
        return Search(texts, texts, *rows[::-1], *pair)

    def directions(self, run: RunSystem, languages: Sequence[str], slices: Sequence[Slice]) -> list[Subject]:
        """Return the directions in which a run has results, of the languages with a slice each."""
        pairs = zip(languages, slices, strict=True)
        return [
            subject
            for language, one in pairs
            for subject in both_ways(language)
            if run.answers(self.of(subject, one))
        ]

    def lists(self, run: RunSystem, subject: Subject, one: Slice, who: str) -> Lists:
        """Return the lists of a direction; raise InputError where they hold none of its candidates."""
        lists = run.lists(self.of(subject, one))
        if not len(lists.query):
            example = f"{IMAGE}:language:id" if subject.target == IMAGE else f"{subject.target}:id"
            raise InputError(
                f"system {who!r}: none of its results for {subject.source}-{subject.target} is one of the "
                f"candidates: name {'images' if subject.target == IMAGE else 'sentences'} {example}"
            )
        return lists


def listed_counts(
    lists: Lists, query: Ints, candidate: Ints, measures: Sequence[RankMeasure], who: str
) -> RankCounts:
    """Return where the best relevant candidate of each query stands, of relevant pairs in any order."""
    check_reach(lists, measures, who, "Success")
    order = np.argsort(query, kind="stable")
    above, tied = lists.counts(query[order], candidate[order])
    pool = np.full(len(lists), lists.n_candidates)
    return TargetCounts(query[order], above, tied, pool).best()
