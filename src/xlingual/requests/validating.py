"""Requests of the validation of Backretrieval: of one data set, and the table of several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from xlingual.requests.ranking import Ranking
from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import (
    ImageEncoding,
    Keeping,
    ManifestOptions,
    Output,
    Samples,
    TextEncoders,
)
from xlingual.tasks import TASKS

MeasureOf: TypeAlias = Annotated[str, option("Measure R@k of BkR and XLR.", metavar="NAME")]
Family: TypeAlias = Annotated[
    str | None,
    option(
        "Treat encoders of one family as one; REGEX, or its first group, matches the name of the family.",
        metavar="REGEX",
    ),
]


class ManySamples(Samples, frozen=True, kw_only=True):
    """Languages and samples of a validation: 25 samples by default."""

    seeds: Annotated[
        int | None, option("Number of samples drawn.", otherwise="25, or those of --sample FILE")
    ] = None


class ValidateRequest(Request, frozen=True, kw_only=True):
    """Check how well Backretrieval agrees with true retrieval."""

    command = "papers backretrieval validate"
    refused = TASKS["distance-correlation"].refused()

    data: ManifestOptions
    text_encoders: TextEncoders
    keeping: Keeping
    sampling: ManySamples
    images: ImageEncoding
    measure: MeasureOf = "R@10"
    both_directions: Annotated[bool, option("Also validate the reverse of each language pair.")] = False
    family: Family = None
    ranking: Ranking
    output: Output


class Table1Request(Request, frozen=True, kw_only=True):
    """Put validations of several data sets into the paper's Table 1."""

    command = "papers backretrieval table1"

    paths: Annotated[
        tuple[Path, ...],
        argument(
            "PATH…",
            "A TOML file of data sets, or folders of validations, or of results of one data set (evaluate "
            "backretrieval, crosslingual-retrieval, distance-correlation).",
        ),
    ]
    measure: MeasureOf = "R@10"
    family: Family = None
    output: Output
