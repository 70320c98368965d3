"""An image pivot: which map images alone chose, and what it changes on items held apart."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from xlingual.results.document import FolderDocument
from xlingual.results.repair import BETTER, UNCHANGED, UNDECIDED, WORSE
from xlingual.results.values import (
    Conditions,
    Count,
    Interval,
    Level,
    Number,
    Share,
    Size,
    Timings,
    Warnings,
    about,
    among,
)

UNTESTED = "untested"  # an outcome, beside those of a repair


class PivotPairs(Struct, frozen=True):
    """The pairs of two languages that the map was fitted on."""

    source: Annotated[str, about("One language.")]
    target: Annotated[str, about("The other.")]
    near: Annotated[Count, about("Pairs of different items whose images, and texts, are each other's best.")]
    same: Annotated[Count, about("Pairs of one item or one image.")]


class PivotTried(Struct, frozen=True):
    """A map that was tried, and how it ranks image pairs of items that it was not fitted on."""

    map: Annotated[str, about("Kind and penalty; none for the encoder as it is.")]
    fall: Annotated[
        Number, about("How far the mean log rank of held-out image pairs falls; below zero it rises.")
    ]
    standard_error: Annotated[Number, about("Its standard error over the pairs.")]
    pairs: Annotated[Count, about("Held-out image pairs, over all folds.")]
    image_fall: Annotated[Number, about("The fall of the pairs that images find without any text.")] = 0.0
    image_error: Annotated[Number, about("Its standard error.")] = 0.0
    related: Annotated[
        Number,
        about("How far the log rank of these is below that of their texts at random, in standard errors."),
    ] = 0.0


class PivotChange(Struct, frozen=True):
    """A measure on items held apart, before and after."""

    task: Annotated[str, about("The task: crosslingual-retrieval, backretrieval or multilingual-pool.")]
    measure: Annotated[str, about("Canonical name of the measure.")]
    source: Annotated[str | None, about("Language of the queries; null for all pairs.")]
    target: Annotated[str | None, about("Language of the candidates; null for all pairs.")]
    before: Annotated[Number, about("Value of the encoder as it is.")]
    after: Annotated[Number, about("Value of the encoder with the map.")]
    difference: Annotated[Number, about("The second less the first.")]
    ci: Annotated[Interval | None, about("Paired interval of the difference; null for too few clusters.")]
    n_queries: Annotated[Count, about("Queries.")]


class PivotKept(Struct, frozen=True):
    """What the map keeps of a language's own neighbourhoods."""

    language: Annotated[str, about("The language.")]
    share: Annotated[
        Share, about("Overlap of the 10 nearest texts of the same language with those of the encoder.")
    ]
    texts: Annotated[Size, about("Texts of items held apart that were compared.")]


class Pivot(FolderDocument, frozen=True, tag="xlingual/pivot/1"):
    """Which map of an encoder's vectors images alone found, and what it changes."""

    made_by = "xlingual train pivot … --out DIR"
    file = "pivot.json"

    encoder: Annotated[str, about("Name of the text encoder.")]
    spec: Annotated[str | None, about("Its spec; null for an object.")]
    image_encoder: Annotated[str, about("Name of the image encoder whose neighbours are the pairs.")]
    dim: Annotated[Size, about("Dimensions of the text vectors.")]
    languages: Annotated[dict[str, int], about("Texts of each language with an image, fitted on.")]
    items: Annotated[Size, about("Items that were fitted on.")]
    to: Annotated[str, about("The language that is only centred; the others come to it.")]
    pairs_from: Annotated[str, among("near", "same", "both"), about("Where pairs come from.")]
    pairs: Annotated[list[PivotPairs], about("The pairs of each two languages.")]
    chosen: Annotated[str, about("The map; none where the encoder stays as it is.")]
    given: Annotated[bool, about("Whether the map was asked for, not chosen.")]
    alpha: Annotated[Level, about("One less the level of the intervals.")]
    outcome: Annotated[
        str,
        among(BETTER, WORSE, UNDECIDED, UNCHANGED, UNTESTED),
        about("What the test says of all language pairs together."),
    ]
    tried: Annotated[list[PivotTried], about("All that was tried, the best first.")]
    changes: Annotated[
        list[PivotChange], about("What changes on items held apart; the first is what the outcome is of.")
    ] = field(default_factory=list)
    kept: Annotated[list[PivotKept], about("What stays within languages.")] = field(default_factory=list)
    tested_items: Annotated[Count, about("Items held apart.")] = 0
    judge: Annotated[str | None, about("The other image encoder that Backretrieval was measured with.")] = (
        None
    )
    signature: Annotated[str, about("What the numbers depend on.")] = ""
    conditions: Conditions = field(default_factory=dict)
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)
    n_texts: Annotated[Count, about("Texts that were encoded.")] = 0
    near_duplicates: Annotated[
        Count, about("Items with near-equal texts or images in others; each family stands in one part.")
    ] = 0

    @property
    def main(self) -> PivotChange | None:
        """The change over all language pairs that the outcome is of; None where nothing was tested."""
        return self.changes[0] if self.changes else None

    def problem(self) -> str | None:
        """Return the first inconsistency between fields; None where there is none."""
        if self.chosen not in {one.map for one in self.tried}:
            return f"chosen is {self.chosen!r}, which was not tried"
        return None
