"""Where encoders fail and why: slices of queries, kinds of error, hubs; with examples."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from xlingual.results.document import FolderDocument
from xlingual.results.values import (
    Amount,
    Count,
    Interval,
    Note,
    Number,
    Share,
    Size,
    Timings,
    Warnings,
    about,
    among,
)

KIND_WORDS = {  # what happened in place of the answer
    "near-duplicate": "found a near-duplicate of the answer",
    "hub": "found a hub",
    "near": "the answer was close behind",
    "nothing near": "nothing was near",
    "other": "found another text",
}
POOL_KIND_WORDS = {  # what ranked above an answer
    "near-duplicate": "a near-duplicate of an answer",
    "context": "another part of the same context",
    "hub": "a hub",
    "own language": "a wrong candidate in the question's language",
    "near": "the answer was close behind",
    "nothing near": "nothing was near",
    "other": "another candidate",
}
KINDS, POOL_KINDS = tuple(KIND_WORDS), tuple(POOL_KIND_WORDS)


class ShownText(Struct, frozen=True):
    """A text of an example, with its image."""

    id: Annotated[str, about("Its id.")]
    language: Annotated[str, about("Its language.")]
    text: Annotated[str, about("The text, or its beginning.")]
    picture: Annotated[str | None, about("Its image as JPEG, in base64; null where there is none.")] = None


class FailedQuery(Struct, frozen=True):
    """A query that failed, and what was found in place of the answer."""

    query: Annotated[ShownText, about("The query.")]
    target: Annotated[str, about("Language of the candidates.")]
    retrieved: Annotated[
        ShownText | None, about("The nearest candidate; null where several tie or none is known.")
    ]
    rank: Annotated[
        Count | None,
        about("Rank of the answer: of the query's own image on the way back, or of its own item's text."),
    ]
    value: Annotated[Share, about("Value of the query.")]
    answer: Annotated[ShownText | None, about("The answer; null where it is an image.")] = None
    beside: Annotated[
        list[ShownText], about("Of a pool: what else stood above the answer, after `retrieved`.")
    ] = field(default_factory=list)


class Condition(Struct, frozen=True):
    """A feature of texts, and which of its parts."""

    feature: Annotated[str, about("Column of the manifest, or what was found in texts and images.")]
    part: Annotated[str, about("The part: a value of the column, a range, a cluster.")]


class OverlappingSlice(Struct, frozen=True):
    """A slice that is worse than the rest only as far as it shares texts with another."""

    conditions: Annotated[list[Condition], about("One or two; texts that meet both.")]
    n: Annotated[Size, about("Texts in it.")]
    shared: Annotated[Share, about("Share of them that the other holds too.")]


class WeakSlice(Struct, frozen=True):
    """Texts that an encoder serves worse than the rest."""

    conditions: Annotated[list[Condition], about("One or two; texts that meet both.")]
    n: Annotated[Size, about("Texts in it.")]
    n_clusters: Annotated[Size, about("Clusters of dependent texts among them.")]
    value: Annotated[Share, about("Mean value of its texts as queries.")]
    difference: Annotated[Number, about("To the rest, at the same language pairs.")]
    ci: Annotated[Interval, about("Interval of the difference, for this slice alone.")]
    p: Annotated[Share, about("Chance that the worst of all slices is as bad where features say nothing.")]
    of_texts: Annotated[Share, about("Share of all texts.")]
    of_errors: Annotated[Share, about("Share of all errors: of the sum of 1 − value.")]
    overlaps: Annotated[list[OverlappingSlice], about("Slices that are as bad for the same texts.")]
    n_overlaps: Annotated[Count, about("How many there are; those listed share most.")]
    examples: Annotated[list[FailedQuery], about("Queries that failed.")]


class ErrorKind(Struct, frozen=True):
    """Queries that failed in the same way."""

    kind: Annotated[str, among(*POOL_KINDS), about("What happened.")]
    n: Annotated[Count, about("Queries.")]
    by_pair: Annotated[
        dict[str, Count],
        about("Queries of each language pair, as en-de; of a pool en->de: questions, and answers, in …"),
    ]
    examples: Annotated[list[FailedQuery], about("Some of them.")]


class HubFound(Struct, frozen=True):
    """A text that is the nearest of very many queries."""

    text: Annotated[ShownText, about("The text.")]
    source: Annotated[str, about("Language of the queries.")]
    n: Annotated[Count, about("Queries of which it is the nearest.")]
    failed: Annotated[Count, about("Those of them that failed.")]


class HubsOfEncoder(Struct, frozen=True):
    """What hubs and texts that nothing finds cost."""

    largest: Annotated[list[HubFound], about("The largest hubs, those that cost most first.")]
    n: Annotated[Count, about("Hubs over all language pairs.")]
    of_errors: Annotated[Share | None, about("Share of the failed queries whose nearest text is a hub.")]
    never: Annotated[Share | None, about("Share of the targets among no query's ten nearest.")]
    never_by_chance: Annotated[Share | None, about("The same by chance.")]
    unfound: Annotated[list[ShownText], about("Some of these.")]
    note: Note = None


class InspectedEncoder(Struct, frozen=True):
    """Where one encoder fails."""

    encoder: Annotated[str, about("Name of the encoder.")]
    value: Annotated[Share, about("Mean value of the queries.")]
    n_queries: Annotated[
        Size,
        about(
            "Queries of the first sample of each language pair; of a pool answers that are looked for: of "
            "each question one in each language that has any."
        ),
    ]
    n_failed: Annotated[
        Count, about("Those worth less than ½; of a pool those with ten wrong candidates above them.")
    ]
    n_texts: Annotated[Size, about("Different texts among the queries of all samples.")]
    n_slices: Annotated[Count, about("Slices that were tested.")]
    fixed: Annotated[Share, about("Share of the texts that no other can change places with, in the test.")]
    slices: Annotated[list[WeakSlice], about("Slices that are worse than the rest, the clearest first.")]
    kinds: Annotated[list[ErrorKind], about("Kinds of error, the commonest first.")]
    hubs: Annotated[HubsOfEncoder, about("Hubs.")]
    by_pair: Annotated[dict[str, Count], about("Of `n_queries`, those of each pair.")] = field(
        default_factory=dict
    )


class Inspection(FolderDocument, frozen=True, kw_only=True, tag="xlingual/inspection/1"):
    """Where encoders fail, and why."""

    made_by = "xlingual inspect RESULTS --out DIR"
    file = "inspection.json"

    task: Annotated[str, about("Task of the results.")]
    measure: Annotated[str, about("Measure by which queries fail.")]
    data: Annotated[str, about("Name of the manifest.")]
    encoders: Annotated[list[InspectedEncoder], about("One entry per encoder, the best first.")]
    features: Annotated[dict[str, int], about("Features that made slices, with their numbers of parts.")]
    images: Annotated[str | None, about("Image encoder whose clusters made slices; null for none.")] = None
    alpha: Annotated[Amount, about("Chance that any slice is listed where features say nothing.")] = 0.05
    near: Annotated[Size | None, about("Rank up to which an answer counts as near.")] = None
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)
