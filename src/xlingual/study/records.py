"""What a study is made of. What raters may see is here; which system made what is in `key.Key` alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BEST, WORST = 1, 4  # scores: "very relevant" to "not relevant", as in the Backretrieval paper
LABELS = ("Very relevant", "Relevant", "Hardly relevant", "Not relevant")


@dataclass(frozen=True)
class Shown:
    """A text that raters see, with the picture that belongs to it.

    `id` is drawn at random and says nothing of the text's place in any file or list. `image` is the name of a
    file in the study's folder of pictures, or None.
    """

    id: str
    text: str
    language: str  # a BCP-47 tag, from which the page takes the direction of the text
    image: str | None = None


@dataclass(frozen=True)
class Query:
    """A query, and the suggestions that are judged for it: those of all systems, each once, in no order."""

    shown: Shown
    suggestions: tuple[Shown, ...]
    stratum: str | None = None  # the label by which queries were drawn, where they were


@dataclass(frozen=True)
class Page:
    """One page as a rater sees it: a query with its suggestions in their order.

    `occasion` is 0, or 1 where a query is asked again to see how steady a rater is.
    """

    query: str  # id of the query
    suggestions: tuple[str, ...]  # ids
    occasion: int = 0


@dataclass(frozen=True)
class Study:
    """All that a server needs: texts and orders, and nothing that tells systems apart.

    `orders[i]` are the pages of the rater with number i, modulo their number. `key_digest` is the SHA-256 of
    the key file, by which an analysis sees that it was not changed.
    """

    id: str
    title: str
    created: str  # ISO 8601, UTC
    source: str
    target: str
    queries: tuple[Query, ...]
    orders: tuple[tuple[Page, ...], ...]
    per_system: int
    raters: int  # that were planned
    seed: int
    key_digest: str
    labels: tuple[str, ...] = LABELS
    by: str | None = None  # the column that queries were stratified by


@dataclass(frozen=True)
class Credit:
    """That a system made a suggestion: at which place of its list (from 1 on), with which cosine."""

    system: str
    rank: int
    cosine: float


@dataclass(frozen=True)
class Key:
    """Which system made what: the key file. A server never opens it.

    `credits` and `controls` go by the id of a suggestion; a control's value is the score that an attentive
    rater gives it, BEST or WORST. `bkr` is BkR of each query's nearest text, by system and query id.
    """

    study: str  # its id
    systems: Mapping[str, str]  # name → signature of the encoder
    credits: Mapping[str, tuple[Credit, ...]]
    controls: Mapping[str, int] = field(default_factory=dict)
    bkr: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    bkr_measure: str | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)  # data, sample, candidates: for the record


@dataclass(frozen=True)
class Rating:
    """A rater's score of a suggestion; the last one given counts."""

    rater: str  # a number or name that the organiser chose; nothing personal is asked for
    query: str
    suggestion: str
    occasion: int
    score: int  # BEST … WORST
    at: str  # ISO 8601, UTC
    seconds: float | None = None  # since the page was shown or the score before, where that is known
