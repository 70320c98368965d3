"""One text as it is looked at: its neighbours in each language by one encoder, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from xlingual.arrays import Vectors
from xlingual.browsing.looking import Looking
from xlingual.browsing.queries import Near, Queries
from xlingual.browsing.vectors import MANY, Space
from xlingual.data.thumbnails import cut
from xlingual.languages import direction, name_of
from xlingual.results.inspection import KINDS

FEW = 5  # neighbours in a language that is not looked at, and images on the way back
KIND_WORDS = {
    "near-duplicate": "found a near-duplicate of the answer",
    "hub": "found a hub",
    "near": "the answer was close behind",
    "nothing near": "nothing was near",
    "other": "found another text",
}


@dataclass(frozen=True)
class Card:
    """A text as it is shown."""

    row: int
    id: str
    text: str
    language: str
    slot: int  # of its image, -1 for none
    score: float | None = None
    right: bool = False  # it is of the query's own item
    hub: int = 0  # queries of which it is the nearest, where they are very many

    @property
    def dir(self) -> str:
        """The direction of its language."""
        return direction(self.language)


@dataclass(frozen=True)
class WayBack:
    """From the nearest text back: the nearest images or texts of the query's language, and its own rank."""

    what: str  # images, or texts
    cards: list[Card]
    rank: int | None
    among: int


@dataclass(frozen=True)
class Section:
    """Neighbours in one language."""

    language: str
    name: str
    cards: list[Card]
    among: str  # in words: what they are nearest of
    back: WayBack | None = None
    here: bool = False  # the language that is looked at


@dataclass(frozen=True)
class Outcome:
    """How a query came out."""

    failed: bool
    value: float
    rank: int | None
    kind: str | None
    hub: bool


@dataclass(frozen=True)
class Side:
    """What one encoder finds."""

    encoder: str
    outcome: Outcome | None
    sections: list[Section]
    note: str = ""  # why there is less than there could be
    way: list[int] = field(default_factory=list)  # rows: the query, its nearest, the nearest of that


class Viewer:
    """Makes what pages show of texts."""

    def __init__(self, looking: Looking) -> None:
        self.looking, self.data = looking, looking.data
        self._only: dict[int, np.ndarray] = {}
        self._shown: dict[int, dict[int, int]] = {}

    def card(
        self,
        row: int,
        score: float | None = None,
        query: int | None = None,
        hubs: dict[int, int] | None = None,
    ) -> Card:
        """Return a text; of a query's item it is right."""
        data = self.data
        return Card(
            row,
            data.ids[row],
            cut(data.text[row]),
            data.languages[data.language[row]],
            int(data.image[row]),
            score,
            query is not None and row != query and int(data.item[row]) == int(data.item[query]),
            (hubs or {}).get(row, 0),
        )

    def outcome(self, encoder: str, row: int, target: str) -> Outcome | None:
        """Return how a text came out as a query, None where it was none."""
        one = self.looking.queries.get(encoder)
        line = None if one is None else self._line(one, row, target)
        return None if one is None or line is None else outcome_of(one, line)

    def answer(self, row: int, target: str) -> Card | None:
        """Return the right answer of a text in a language, None where there is none."""
        if not self.looking.matching or target not in self.data.languages:
            return None
        key = int(self.data.item[row]), self.data.languages.index(target)
        found = [other for other in self.looking.answers.get(key, []) if other != row]
        return self.card(found[0]) if found else None

    def side(self, encoder: str, row: int, target: str, *, computed: bool = False) -> Side:
        """Return what an encoder finds for a text; `computed`: among all texts, where there are vectors."""
        space = self.looking.spaces.texts.get(encoder)
        language = self.data.languages[self.data.language[row]]
        vector = None if space is None else space.asks(row, language)
        sections = list(self._sections(encoder, row, target, vector, computed))
        note = self._note(encoder, vector)
        first = next((one for one in sections if one.here and one.cards), None)
        way = [row]
        if first is not None:
            way += [first.cards[0].row]
            way += [first.back.cards[0].row] if first.back and first.back.cards else []
        return Side(encoder, self.outcome(encoder, row, target), sections, note, way)

    def typed(self, encoder: str, text: str, language: str) -> Side:
        """Return what an encoder finds for a typed text."""
        space = self.looking.spaces.texts.get(encoder)
        vector = None if space is None else space.asks(text, language)
        if space is None or vector is None:
            note = (
                f"A typed text has no vector by {encoder}: give the encoder with --text-encoder "
                f"{encoder}=SPEC, or pick one of the texts below."
            )
            return Side(encoder, None, [], note)
        source = self.data.languages.index(language)
        groups = range(len(self.data.languages))
        sections = list(self._computed(encoder, space, vector, [*groups], source, None, ""))
        return Side(encoder, None, sections)

    def _line(self, one: Queries, row: int, target: str) -> int | None:
        pair = (self.data.languages[self.data.language[row]], target)
        return one.line(row, self.looking.pairs.index(pair)) if pair in self.looking.pairs else None

    def _note(self, encoder: str, vector: Vectors | None) -> str:
        if vector is not None:
            return ""
        why = self.looking.spaces.without.get(encoder, "this text has no vector at hand")
        return f"Only what the results keep is shown: {why}."

    def _sections(
        self, encoder: str, row: int, target: str, vector: Vectors | None, computed: bool
    ) -> Iterator[Section]:
        """Yield the languages, the one that is looked at first: as evaluated, or else computed."""
        one, space = self.looking.queries.get(encoder), self.looking.spaces.texts.get(encoder)
        order = sorted(range(len(self.data.languages)), key=lambda code: self.data.languages[code] != target)
        source = int(self.data.language[row])
        stored = {}
        for code in order:
            line = None if one is None else self._line(one, row, self.data.languages[code])
            if one is not None and line is not None and not (computed and vector is not None):
                stored[code] = (one, line)
        others = [code for code in order if code not in stored]
        made = {}
        if space is not None and vector is not None:
            found = self._computed(encoder, space, vector, others, source, row, target)
            made = {self.data.languages.index(section.language): section for section in found}
        for code in order:
            if code in stored:
                yield self._stored(code, row, target, *stored[code])
            elif code in made:
                yield made[code]

    def _stored(self, code: int, row: int, target: str, one: Queries, line: int) -> Section:
        tag = self.data.languages[code]
        here = tag == target
        near = one.neighbours(line)[: MANY if here else FEW]
        cards = [self.card(each.row, each.score, row, one.hubs) for each in near]
        words = "of the candidates that were evaluated" if one.kept else "as evaluated; no others were kept"
        return Section(tag, name_of(tag) or tag, cards, words, self._way_back(one.encoder, row, near), here)

    def _computed(
        self,
        encoder: str,
        space: Space,
        vector: Vectors,
        codes: list[int],
        source: int,
        row: int | None,
        target: str,
    ) -> Iterator[Section]:
        one = self.looking.queries.get(encoder)
        for code in codes:
            if not space.size(code):
                continue
            tag = self.data.languages[code]
            here = tag == target
            found = space.nearest(vector, code, MANY if here else FEW, without=row)
            near = [Near(*each) for each in zip(found.rows, found.scores, strict=True)]
            cards = [self.card(each.row, each.score, row, one.hubs if one else None) for each in near]
            name = name_of(tag) or tag
            words = f"of {found.among:,} texts in {name}, computed now"
            back = None if row is None else self._way_back(encoder, row, near)
            yield Section(tag, name, cards, words, back, here)

    def _way_back(self, encoder: str, row: int, near: list[Near]) -> WayBack | None:
        """Return the way back from the nearest text: to images, where their vectors are at hand, or texts."""
        if not near:
            return None
        source = int(self.data.language[row])
        images, slot, own = (
            self.looking.spaces.images,
            int(self.data.image[near[0].row]),
            int(self.data.image[row]),
        )
        if images is not None and slot >= 0 and images.has(slot):
            found = images.nearest(
                images.vector(slot), 0, FEW, only=self._images_of(source, images), own=[own]
            )
            shown = self._showing(source)
            cards = [
                self.card(row if each == own else shown[each], score)
                for each, score in zip(found.rows, found.scores, strict=True)
            ]
            return WayBack("images", cards, found.rank, found.among)
        space = self.looking.spaces.texts.get(encoder)
        tag = self.data.languages[self.data.language[near[0].row]]
        back = None if space is None else space.asks(near[0].row, tag)
        if space is None or back is None or not space.size(source):
            return None
        found = space.nearest(back, source, FEW, without=near[0].row, own=[row])
        cards = [self.card(*each) for each in zip(found.rows, found.scores, strict=True)]
        return WayBack("texts", cards, found.rank, found.among)

    def _showing(self, code: int) -> dict[int, int]:
        """Return the first row of a language that shows each image."""
        if code not in self._shown:
            rows = np.flatnonzero((self.data.language == code) & (self.data.image >= 0))[::-1]
            self._shown[code] = dict(zip(self.data.image[rows].tolist(), rows.tolist(), strict=True))
        return self._shown[code]

    def _images_of(self, code: int, images: Space) -> np.ndarray:
        """Return which lines are images of a language."""
        if code not in self._only:
            rows = np.flatnonzero(self.data.language == code)
            self._only[code] = np.isin(images.rows, self.data.image[rows])
        return self._only[code]


def outcome_of(one: Queries, line: int) -> Outcome:
    """Return how a query came out."""
    kind, rank = int(one.kind[line]), int(one.rank[line])
    return Outcome(
        bool(one.failed[line]),
        float(one.value[line]),
        rank if rank > 0 else None,
        KINDS[kind] if kind >= 0 else None,
        bool(one.hub[line]),
    )
