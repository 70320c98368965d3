"""The records of a study. `Study` has what raters may see; only `StudyKey` says which system made what."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct, field

from xlingual.results.document import Answer, Document
from xlingual.results.values import Share, Size, Whole, about

STUDY_SCHEMA, KEY_SCHEMA = "xlingual/study/1", "xlingual/study_key/1"
ANSWERS_SCHEMA = "xlingual/study_answers/1"
MADE_BY = "xlingual study new MANIFEST … --out STUDY"

BEST, WORST = 1, 4  # scores: "very relevant" to "not relevant", as in the Backretrieval paper
LABELS = ("Very relevant", "Relevant", "Hardly relevant", "Not relevant")

Id: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-z]{1,40}$")]
RaterName: TypeAlias = Annotated[str, Meta(pattern="^[0-9A-Za-z_-]{1,40}$")]  # also the name of a file
Digest: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Shown(Struct, frozen=True):
    """A text that raters see, with the image that belongs to it.

    `id` is drawn at random and says nothing of the text's place in any file or list. `image` is the name of a
    file in the study's folder of images, or None.
    """

    id: Annotated[Id, about("Drawn at random; says nothing of the text's place in any list.")]
    text: Annotated[str, about("The text.")]
    language: Annotated[str, about("Language tag.")]
    image: Annotated[
        Annotated[str, Meta(pattern=r"^[0-9a-z]{1,40}\.(webp|jpg|png)$")] | None,
        about("Plain name of a file in images/; null: no image."),
    ] = None


class Query(Struct, frozen=True):
    """A query, and the suggestions that are judged for it: those of all systems, each once, in no order."""

    shown: Annotated[Shown, about("The query itself.")]
    suggestions: Annotated[tuple[Shown, ...], about("Of all systems, each once, in the order of their ids.")]
    stratum: Annotated[str | None, about("The label by which queries were drawn; null: none was.")] = None


class StudyPage(Struct, frozen=True):
    """One page as a rater sees it: a query with its suggestions in their order.

    `occasion` is 0, or 1 where a query is asked again to see how steady a rater is.
    """

    query: Annotated[Id, about("Id of the query.")]
    suggestions: Annotated[tuple[Id, ...], about("Ids of all its suggestions, in the order shown.")]
    occasion: Annotated[int, Meta(ge=0, le=1), about("1 where the query is asked again, else 0.")] = 0


class Study(Document, frozen=True, tag=STUDY_SCHEMA):
    """All that sheets need: texts and orders, and nothing that shows which system made a text.

    `orders[i]` are the pages of rater i + 1, modulo their number. `key_digest` is the SHA-256 of
    the key file, by which an analysis sees that it was not changed.
    """

    made_by = MADE_BY

    id: Annotated[Id, about("Names the study, in its key and in the files of answers.")]
    title: Annotated[str, about("Question of the study; pages show title.md.")]
    created: Annotated[str, about("When it was made: ISO 8601, UTC.")]
    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the suggestions.")]
    queries: Annotated[tuple[Query, ...], about("Texts.")]
    orders: Annotated[tuple[tuple[StudyPage, ...], ...], about("Pages of rater i + 1, modulo their number.")]
    per_system: Annotated[Size, about("Suggestions of each system for each query.")]
    raters: Annotated[Size, about("How many were planned.")]
    seed: Annotated[Whole, about("Of the draw and of all orders.")]
    key_digest: Annotated[Digest, about("SHA-256 of secret/key.json, by which a changed key is found out.")]
    labels: Annotated[
        tuple[str, ...], Meta(min_length=4, max_length=4), about("What the scores 1 to 4 are called.")
    ] = LABELS
    by: Annotated[str | None, about("Column that queries were stratified by; null: none.")] = None

    def order_of(self, rater: int) -> tuple[StudyPage, ...]:
        """Return the pages of a rater, counted from 1; after the last order they begin anew."""
        return self.orders[(rater - 1) % len(self.orders)]


class Credit(Struct, frozen=True):
    """That a system made a suggestion: at which place of its list (from 1 on), with which cosine, if any."""

    system: Annotated[str, about("Name of the system.")]
    rank: Annotated[Size, about("Place in its list, from 1 on.")]
    cosine: Annotated[
        Annotated[float, Meta(ge=-1.000001, le=1.000001)] | None,
        about("Cosine to the query; null for a search engine's run."),
    ] = None


class StudyKey(Answer, frozen=True, tag=KEY_SCHEMA):
    """Which system made what: the key file. The analysis alone opens it.

    `credits` and `controls` go by the id of a suggestion; a control's value is the score that an attentive
    rater gives it, BEST or WORST. `bkr` is BkR of each query's nearest text, by system and query id.
    """

    made_by = MADE_BY

    study: Annotated[Id, about("Id of the study that it is the key of.")]
    systems: Annotated[
        Mapping[str, str],
        about("Name of a system → what names its encoder and everything that changes its vectors."),
    ]
    credits: Annotated[
        Mapping[str, Annotated[tuple[Credit, ...], Meta(min_length=1)]],
        about("Id of a suggestion → who made it."),
    ]
    controls: Annotated[
        Mapping[str, Annotated[int, Meta(ge=1, le=4)]],
        about("Id of a control → the score that an attentive rater gives it."),
    ] = field(default_factory=dict)
    bkr: Annotated[Mapping[str, Mapping[str, Share]], about("System → id of a query → its BkR.")] = field(
        default_factory=dict
    )
    bkr_measure: Annotated[
        str | None, about("The measure of `bkr`, such as R@10; null: none was computed.")
    ] = None
    conditions: Annotated[Mapping[str, str], about("Data, candidates and sample, for the record.")] = field(
        default_factory=dict
    )


class Rating(Struct, frozen=True):
    """A rater's score of a suggestion; of several the last one counts."""

    rater: Annotated[RaterName, about("Number of the rater's sheet; nothing personal is asked for.")]
    query: Annotated[Id, about("Id of the query.")]
    suggestion: Annotated[Id, about("Id of the suggestion.")]
    occasion: Annotated[int, Meta(ge=0, le=1), about("1 where the query was asked again, else 0.")]
    score: Annotated[int, Meta(ge=BEST, le=WORST), about("1 best, 4 worst.")]
    at: Annotated[datetime, Meta(tz=True), about("When it was given.")]
    seconds: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        about("Since the page was shown, or the score before it; null: not known."),
    ] = None


class Answers(Document, frozen=True, tag=ANSWERS_SCHEMA):
    """Ratings of a study: what a sheet saves, and what `study collect` keeps of each rater."""

    made_by = "a rater's sheet"

    study: Annotated[Id, about("Id of the study.")]
    ratings: Annotated[tuple[Rating, ...], about("The ratings, in any order.")]
