"""Requests of `validate` and `calibrate`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from xlingual.requests.presets import Preset
from xlingual.requests.ranking import ExactRanking
from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import (
    PAPER,
    AsJson,
    Cluster,
    Form,
    Highlight,
    ImageEncoding,
    Keeping,
    ManifestOptions,
    Output,
    PaperPreset,
    Samples,
    SeedShown,
    TextEncoders,
    TextSimilarity,
)


class ManySamples(Samples, frozen=True, kw_only=True):
    """Languages and samples of a validation: 25 samples by default."""

    seeds: Annotated[int | None, option("Number of samples drawn.", otherwise="25, or those of --splits")] = (
        None
    )


class ValidateBackretrievalRequest(Request, frozen=True, kw_only=True):
    """Check how well Backretrieval agrees with true retrieval."""

    command = "validate backretrieval"
    presets: ClassVar[Mapping[str, Preset]] = {"paper": PAPER}

    data: ManifestOptions
    text_encoders: TextEncoders
    preset: PaperPreset = None
    keeping: Keeping
    sampling: ManySamples
    images: ImageEncoding
    measure: Annotated[str, option("Measure R@k of BkR and XLR.", metavar="NAME")] = "R@10"
    both_directions: Annotated[bool, option("Add the reverse of each language pair.")] = False
    family: Annotated[
        str | None,
        option(
            "Count encoders of one family as one: REGEX, or its first group, matches the family's name.",
            metavar="REGEX",
        ),
    ] = None
    degrade: Annotated[
        str | None,
        option(
            "Repeat with weakened image vectors: 'dims=2,8,32;noise=0.5,1;shuffle'.",
            names=("--degrade-images",),
            metavar="LEVELS",
        ),
    ] = None
    similarity: TextSimilarity = "cosine"
    cluster: Cluster = "declared"
    ranking: ExactRanking
    output: Output
    highlight: Highlight = ()
    seed_shown: SeedShown = "mean"


class CalibrateRequest(Request, frozen=True, kw_only=True):
    """Estimate true retrieval (XLR) from Backretrieval."""

    command = "calibrate"

    validations: Annotated[
        tuple[Path, ...], argument("VALIDATION…", "Files validation.json, or their folders.")
    ]
    out: Annotated[Path, option("Write the calibration to FILE.", metavar="FILE", run=True)]
    family: Annotated[
        str | None,
        option(
            "Family of an encoder: the part of its name that REGEX, or its first group, matches.",
            metavar="REGEX",
            otherwise="as in the validations",
        ),
    ] = None
    level: Annotated[float, option("Level of the prediction intervals.")] = 0.9
    with_sim: Annotated[bool, option("Use SIM beside BkR.", names=("--sim",))] = False
    form: Form = "table"
    as_json: AsJson = False
    quiet: Annotated[bool, option("Print nothing but errors.", run=True)] = False
