"""The requests of `train pivot` and `data pivot-pairs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from xlingual.requests.ranking import Ranking
from xlingual.requests.record import Request, option
from xlingual.requests.shared import AsJson, Form, Keeping, ManifestOptions, Quiet, SkipBroken
from xlingual.requests.values import AtLeastZero, Natural, Positive, comma_list

Image: TypeAlias = Annotated[
    str,
    option("Image encoder that finds the similar images: vectors:PATH, pixels, hf:MODEL …", metavar="SPEC"),
]
Languages: TypeAlias = Annotated[
    tuple[str, ...] | None,
    option("Only texts in these languages.", metavar="en,de,…", otherwise="all", reads=comma_list),
]
PairsFrom: TypeAlias = Annotated[
    Literal["near", "same", "both"],
    option("Pairs of different items with near images, of texts of the same item or image, or both kinds."),
]
Most: TypeAlias = Annotated[
    Positive, option("Largest number of items of a language; from more items a sample is drawn.", metavar="N")
]


class PivotRequest(Request, frozen=True, kw_only=True):
    """Align the languages of an encoder with images alone."""

    command = "train pivot"
    first = ("text_encoder", "image_encoder", "out", "pairs_from", "languages")

    data: ManifestOptions
    text_encoder: Annotated[str, option("Text encoder to align. See: xlingual encoders.", metavar="SPEC")]
    image_encoder: Image
    languages: Languages = None
    pairs_from: PairsFrom = "both"
    map: Annotated[
        Literal["chosen", "none", "centre", "ridge", "procrustes", "cca"],
        option("Kind of map; chosen: the kind that ranks held-out image pairs best, or no map."),
    ] = "chosen"
    penalty: Annotated[
        AtLeastZero | None,
        option(
            "Strength of the regularisation towards the identity; for cca, of the shrinkage of covariances.",
            metavar="X",
            otherwise="chosen",
        ),
    ] = None
    rounds: Annotated[
        Positive, option("Number of rounds in which pairs are searched again, by texts and images.")
    ] = 5
    to: Annotated[
        str | None,
        option(
            "Target language of the maps; it is only centred.",
            metavar="LANG",
            otherwise="the one with the most texts",
        ),
    ] = None
    jointly: Annotated[
        bool,
        option(
            "Fit the maps on the pairs of all languages jointly, or on pairs with the target language only.",
            names=("--jointly/--to-one",),
        ),
    ] = True
    held_out: Annotated[
        AtLeastZero,
        option("Share of the items to hold out for the test; 0: fit on all items.", metavar="SHARE"),
    ] = 0.3
    judge: Annotated[
        str | None,
        option(
            "Another image encoder, to measure Backretrieval with; it must differ from the one that finds "
            "the pairs.",
            metavar="SPEC",
            otherwise="none",
        ),
    ] = None
    most: Most = 20_000
    seed: Annotated[Natural, option("Seed of the parts, folds and samples.")] = 0
    skip_broken: SkipBroken = False
    keeping: Keeping
    ranking: Ranking
    out: Annotated[Path, option("Folder of the model.", metavar="MODEL", run=True)]
    force: Annotated[bool, option("Replace the model that MODEL holds.", run=True)] = False
    report: Annotated[bool, option("Also write a report to MODEL/report.html.", run=True)] = False
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False


class PivotPairsRequest(Request, frozen=True, kw_only=True):
    """Write pairs of texts in two languages whose images are alike, to train on."""

    command = "data pivot-pairs"

    data: ManifestOptions
    image_encoder: Image
    text_encoder: Annotated[
        str | None,
        option(
            "Text encoder: pairs are chosen by texts too, after an image pivot of this encoder.",
            metavar="SPEC",
            otherwise="images alone choose",
        ),
    ] = None
    languages: Languages = None
    pairs_from: PairsFrom = "both"
    most: Most = 20_000
    seed: Annotated[Natural, option("Seed of the sample, and of the map's choice.")] = 0
    skip_broken: SkipBroken = False
    keeping: Keeping
    ranking: Ranking
    out: Annotated[Path, option("Write the pairs: .parquet or .jsonl.", metavar="PAIRS", run=True)]
    force: Annotated[bool, option("Replace PAIRS where it is there already.", run=True)] = False
    quiet: Quiet = False
