"""A repair chosen without translations: what was tried and chosen, and criteria on data held apart."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Struct, field

from xlingual.results.document import FolderDocument
from xlingual.results.repair import LeftOut
from xlingual.results.values import Conditions, Count, Number, Share, Size, Timings, Warnings, about


class TextsOfPart(Struct, frozen=True):
    """What a part of the data holds."""

    clusters: Annotated[Size, about("Clusters of texts.")]
    texts: Annotated[Size, about("Texts with a vector other than zero.")]


Value: TypeAlias = Annotated[
    Number, about("neighbourhoods_kept / max(1, own_share): what the choice goes by.")
]
OwnShare: TypeAlias = Annotated[
    Number, about("Share of a text's own language among its 10 nearest, over its share of all other texts.")
]
Kept: TypeAlias = Annotated[
    Share, about("Overlap of the 10 nearest texts of the same language with those of the encoder.")
]


class Criteria(Struct, frozen=True):
    """What vectors and the languages of their texts say, without translations."""

    value: Value
    own_share: OwnShare
    neighbourhoods_kept: Kept
    language_id: Annotated[
        Share | None,
        about("Share of held-out texts whose language a linear model finds; null for too few clusters."),
    ]
    language_id_chance: Annotated[Share | None, about("The share of the commonest language among them.")]
    hub_skewness: Annotated[Number, about("Skewness of how often texts are among the 10 nearest of others.")]
    mutual_neighbours: Annotated[
        Share, about("Texts that are the nearest of their nearest in another language.")
    ]


class TriedUnlabelled(Struct, frozen=True):
    """A transform that was tried, and what the choice goes by, on the part for choosing."""

    spec: Annotated[str, about("The transforms without fit=, the last applied first; none for none.")]
    value: Value
    own_share: OwnShare
    neighbourhoods_kept: Kept


class UnlabelledRepair(FolderDocument, frozen=True, tag="xlingual/unlabelled_repair/1"):
    """Which transform label-free criteria choose. Without translations nothing is tested for retrieval."""

    made_by = "xlingual repair … --out DIR"
    file = "unlabelled_repair.json"

    encoder: Annotated[str, about("Name of the encoder.")]
    spec: Annotated[str | None, about("Its spec; null for an object.")]
    dim: Annotated[Size, about("Dimensions of its vectors.")]
    criterion: Annotated[str, about("What the choice goes by.")]
    languages: Annotated[dict[str, int], about("Texts of each language.")]
    fit: Annotated[TextsOfPart, about("The part that transforms are fitted on.")]
    choose: Annotated[TextsOfPart, about("The part on which one is chosen.")]
    test: Annotated[TextsOfPart, about("The part on which criteria are compared, once.")]
    tried: Annotated[list[TriedUnlabelled], about("All that was tried, the best first.")]
    left_out: Annotated[list[LeftOut], about("What could not be fitted.")]
    chosen: Annotated[str, about("The transforms that were chosen; none where nothing is better.")]
    similarity: Annotated[str, about("How vectors are compared with it.")]
    before: Annotated[Criteria, about("Of the encoder as it is, on the third part.")]
    after: Annotated[Criteria, about("Of the repaired encoder, on the third part.")]
    model: Annotated[str | None, about("Folder of the transform, below the folder of this file.")] = None
    parts: Annotated[
        str | None,
        about("The data with the part of each row as its split: fit, choose, test; below the same folder."),
    ] = None
    signature: Annotated[str, about("What the criteria of the encoder as it is depend on.")] = ""
    conditions: Conditions = field(default_factory=dict)
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)
    n_texts: Annotated[Count, about("Texts that were encoded.")] = 0

    def problem(self) -> str | None:
        """Return the first inconsistency between fields; None where there is none."""
        if self.chosen not in {one.spec for one in self.tried}:
            return f"chosen is {self.chosen!r}, which was not tried"
        return None
