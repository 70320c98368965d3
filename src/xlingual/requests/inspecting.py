"""The request of `inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import AsJson, EncodersOfResults, Form, Keeping, Quiet
from xlingual.requests.values import Natural

ResultsFolder: TypeAlias = Annotated[
    Path, argument("RESULTS", "A folder of results, as xlingual evaluate … --out DIR wrote it.")
]
EvaluatedManifest: TypeAlias = Annotated[
    Path | None,
    option(
        "The data that were evaluated, a manifest or a pool, where they have moved.",
        metavar="MANIFEST",
        otherwise="as the results say",
        run=True,
    ),
]


class InspectRequest(Request, frozen=True, kw_only=True):
    """Say where encoders fail, and why."""

    command = "inspect"

    results: ResultsFolder
    manifest: EvaluatedManifest = None
    encoders: EncodersOfResults = ()
    measure: Annotated[
        str | None,
        option(
            "The measure by which queries fail, such as R@10.",
            metavar="NAME",
            otherwise="the first of the results between 0 and 1",
        ),
    ] = None
    image_encoder: Annotated[
        str | None,
        option(
            "Image encoder whose clusters of images are slices too: vectors:PATH, pixels, hf:MODEL …",
            metavar="SPEC",
            otherwise="that of the results, if any",
        ),
    ] = None
    seed: Annotated[Natural, option("Seed of the clusters and of the shuffles of the test.")] = 0
    failures: Annotated[
        Path | None,
        option(
            "Write all queries that failed, with texts, ranks and slices: .csv, .parquet or .xlsx.",
            metavar="FILE",
            run=True,
        ),
    ] = None
    out: Annotated[
        Path | None, option("Write inspection.json and a page to the folder DIR.", metavar="DIR", run=True)
    ] = None
    examples: Annotated[bool, option("Keep texts and thumbnails.", run=True)] = True
    keeping: Keeping
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False
