"""The request of `browse`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from xlingual.requests.inspecting import EvaluatedManifest, ResultsFolder
from xlingual.requests.record import Record, Request, option
from xlingual.requests.shared import Keeping, Quiet
from xlingual.requests.values import Positive


class Chosen(Record, frozen=True, kw_only=True):
    """Which queries a file of --static holds."""

    heading = "Queries of --static"

    outcome: Annotated[
        str, option("Queries that failed, were answered, or all.", metavar="failed|answered|all", run=True)
    ] = "failed"
    source: Annotated[
        str | None, option("Language of the queries.", metavar="LANG", otherwise="any", run=True)
    ] = None
    target: Annotated[
        str | None, option("Language of what they found.", metavar="LANG", otherwise="any", run=True)
    ] = None
    kind: Annotated[
        str | None,
        option("Kind of error, such as hub.", metavar="KIND", otherwise="any", run=True),
    ] = None
    slice: Annotated[
        str | None,
        option("Texts of a slice, such as 'category: shoes'.", metavar="SLICE", otherwise="any", run=True),
    ] = None
    rank: Annotated[
        str | None,
        option("Ranks of the answer, such as 2-10 or 101-.", metavar="A-B", otherwise="any", run=True),
    ] = None
    most: Annotated[Positive, option("The most queries of the file.", metavar="N", run=True)] = 500


class BrowseRequest(Request, frozen=True, kw_only=True):
    """Look at queries, neighbours and a map in the browser."""

    command = "browse"

    results: ResultsFolder
    manifest: EvaluatedManifest = None
    encoders: Annotated[
        tuple[str, ...],
        option(
            "An encoder to look at; a second one stands beside it.",
            names=("--encoder",),
            metavar="NAME",
            otherwise="all, the best first",
            run=True,
        ),
    ] = ()
    measure: Annotated[
        str | None,
        option(
            "The measure by which queries fail, such as R@10.",
            metavar="NAME",
            otherwise="the first of the results between 0 and 1",
            run=True,
        ),
    ] = None
    text_encoders: Annotated[
        tuple[str, ...],
        option(
            "Encode all texts, and typed ones, with this encoder; repeat for several.",
            names=("--text-encoder",),
            metavar="NAME=SPEC",
            otherwise="vectors of files and of the store only",
            run=True,
        ),
    ] = ()
    image_encoder: Annotated[
        str | None,
        option(
            "Encode all images with this encoder, for the way back.",
            metavar="SPEC",
            otherwise="that of the results, where its vectors are kept",
            run=True,
        ),
    ] = None
    slices: Annotated[bool, option("Search slices: of 100,000 texts it takes minutes.", run=True)] = True
    marks: Annotated[
        Path | None,
        option("File of marks and notes.", metavar="FILE", otherwise="RESULTS/marks.json", run=True),
    ] = None
    host: Annotated[str, option("Address to listen on; only this machine may reach it.", run=True)] = (
        "127.0.0.1"
    )
    port: Annotated[
        Annotated[int, Meta(ge=0, le=65535)], option("Port to listen on; 0 takes a free one.", run=True)
    ] = 8090
    opens: Annotated[
        bool, option("Open the page in a browser too.", names=("--open/--no-open",), run=True)
    ] = False
    static: Annotated[
        Path | None,
        option(
            "Write one HTML file of the chosen queries instead; it needs no server.", metavar="FILE", run=True
        ),
    ] = None
    chosen: Chosen
    keeping: Keeping
    quiet: Quiet = False
