"""Runs of search engines in image–sentence ranking: names of sentences and images, searches, and ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.data.names import AMBIGUOUS, UNKNOWN, escaped
from xlingual.errors import InputError
from xlingual.evaluation.hubs import HUBS_OF, listed_places
from xlingual.evaluation.image_sentence.captions import ShownImages, Slice, both_ways
from xlingual.evaluation.image_sentence.ranks import RankedWay
from xlingual.evaluation.listed import check_reach
from xlingual.evaluation.numbers import Subject
from xlingual.evaluation.rankings import IMAGE, Ranking, images_of, texts_of
from xlingual.measures import RankMeasure
from xlingual.ranking.listed import Lists
from xlingual.systems import Names, RunSystem, Search


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
        rows = zip(self.languages, self._ids, self._code, strict=True)
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
    """The searches of slices of a manifest, both ways, and what runs answer; `captions` by language."""

    def __init__(self, manifest: Manifest, shown: ShownImages, captions: Mapping[str, Ints]) -> None:
        self._names = [TextAndImageNames(manifest, shown, images=images) for images in (False, True)]
        self._manifest, self._shown, self._captions = manifest, shown, captions
        # queries without results, by (system, source, target, seed): of all slices
        self.unanswered: Counter[tuple[str, str, str, int]] = Counter()

    def of(self, subject: Subject, one: Slice) -> Search:
        """Return the search of a direction: queries among the candidates of a slice."""
        texts, images = self._names
        sentences, shown = one.texts, len(self._manifest) + one.images
        if subject.target == IMAGE:
            return Search(texts, images, sentences, shown, subject.source, subject.target, subject.seed)
        return Search(texts, texts, shown, sentences, subject.source, subject.target, subject.seed)

    def covered(self, name: str, run: RunSystem) -> ListedSystem:
        """Return a run with the directions in which it has results; raise InputError where it has none."""
        subjects = tuple(
            subject
            for language, one in self._whole.items()
            for subject in both_ways(language)
            if run.answers(self.of(subject, one))
        )
        if not subjects:
            raise InputError(
                f"system {name!r}: none of its queries is a sentence or an image of {self._manifest.source}: "
                "name them language:id and image:language:id"
            )
        return ListedSystem(name, run, subjects)

    def counts(
        self, system: ListedSystem, measures: Sequence[RankMeasure], language: str, one: Slice
    ) -> dict[Subject, RankedWay]:
        """Return where the best relevant candidates stand, in the directions of a language that a run has."""
        found = {}
        for subject in (way for way in both_ways(language) if way in system.subjects):
            lists = self._lists(system, subject, one)
            who = f"{system.name!r}, {subject.source}-{subject.target}"
            check_reach(lists, measures, who, "Success")
            if missing := int((lists.lengths == 0).sum()):
                self.unanswered[system.name, *subject.place] += missing
            query, candidate = (one.text, one.image) if subject.target == IMAGE else (one.image, one.text)
            order = np.argsort(query, kind="stable")
            counts = lists.targets(query[order], candidate[order]).best()
            found[subject] = RankedWay(counts, listed_places(lists, min(HUBS_OF, lists.n_candidates)))
        return found

    def rankings(self, system: ListedSystem) -> Iterator[Ranking]:
        """Yield the lists of a run in the directions that it has."""
        for subject in system.subjects:
            one = self._whole[subject.source if subject.target == IMAGE else subject.target]
            given = self._lists(system, subject, one)
            sentences = texts_of(self._manifest, one.texts)
            images = images_of(self._manifest, self._shown.first_row[one.images])
            who = system.name, *subject.pair, subject.seed
            if subject.target == IMAGE:
                yield Ranking(*who, sentences, images, (one.text, one.image), given=given)
            else:
                yield Ranking(*who, images, sentences, (one.image, one.text), given=given)

    def _lists(self, system: ListedSystem, subject: Subject, one: Slice) -> Lists:
        """Return the lists of a direction; raise InputError where they hold none of its candidates."""
        lists = system.run.lists(self.of(subject, one))
        if not len(lists.query):
            example = f"{IMAGE}:language:id" if subject.target == IMAGE else f"{subject.target}:id"
            raise InputError(
                f"system {system.name!r}: none of its results for {subject.source}-{subject.target} is one "
                f"of the candidates: name {'images' if subject.target == IMAGE else 'sentences'} {example}"
            )
        return lists

    @cached_property
    def _whole(self) -> dict[str, Slice]:
        """The captions and images of each language as one pool."""
        slices = self._shown.slices
        return {tag: slices(self._manifest, rows, None, tag)[0] for tag, rows in self._captions.items()}
