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
        "New path of the evaluated manifest or pool, if it has moved.",
        metavar="MANIFEST",
        otherwise="the path in the results",
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
            "The measure that decides whether a query fails, such as R@10.",
            metavar="NAME",
            otherwise="the first measure of the results with values from 0 to 1",
        ),
    ] = None
    image_encoder: Annotated[
        str | None,
        option(
            "Image encoder whose clusters of images are also used as slices: vectors:PATH, pixels, hf:MODEL "
            "…",
            metavar="SPEC",
            otherwise="that of the results, if any",
        ),
    ] = None
    seed: Annotated[Natural, option("Seed of the clusters and of the shuffles of the test.")] = 0
    failures: Annotated[
        Path | None,
        option(
            "Write all failed queries, with texts, ranks and slices, to a .csv or .parquet file.",
            metavar="FILE",
            run=True,
        ),
    ] = None
    static: Annotated[
        Path | None,
        option(
            "Write the worst 500 failed queries of the best encoder to one HTML page that sorts and searches "
            "offline.",
            metavar="FILE",
            run=True,
        ),
    ] = None
    table: Annotated[
        Path | None,
        option(
            "Write all queries to a .parquet file for viewers such as embedding-atlas and Spotlight.",
            metavar="FILE",
            run=True,
        ),
    ] = None
    text_encoders: Annotated[
        tuple[str, ...],
        option(
            "An encoder of the results, whose vectors place the queries of --table (x, y); repeat for "
            "several.",
            names=("--text-encoder",),
            metavar="NAME=SPEC",
            run=True,
        ),
    ] = ()
    out: Annotated[
        Path | None, option("Write inspection.json and a page to the folder DIR.", metavar="DIR", run=True)
    ] = None
    examples: Annotated[bool, option("Show texts and thumbnails as examples.", run=True)] = True
    keeping: Keeping
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False
