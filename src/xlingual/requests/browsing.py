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
        str, option("Which queries: failed, answered or all.", metavar="failed|answered|all", run=True)
    ] = "failed"
    source: Annotated[
        str | None, option("Language of the queries.", metavar="LANG", otherwise="any", run=True)
    ] = None
    target: Annotated[
        str | None, option("Language of the retrieved texts.", metavar="LANG", otherwise="any", run=True)
    ] = None
    kind: Annotated[
        str | None,
        option("Kind of error, such as hub.", metavar="KIND", otherwise="any", run=True),
    ] = None
    slice: Annotated[
        str | None,
        option(
            "Only texts of this slice, such as 'category: shoes'.", metavar="SLICE", otherwise="any", run=True
        ),
    ] = None
    rank: Annotated[
        str | None,
        option(
            "Only queries with this rank of the answer, such as 2-10 or 101-.",
            metavar="A-B",
            otherwise="any",
            run=True,
        ),
    ] = None
    most: Annotated[Positive, option("Largest number of queries in the file.", metavar="N", run=True)] = 500


class BrowseRequest(Request, frozen=True, kw_only=True):
    """Browse queries, their nearest texts and a map of the vectors in a web page."""

    command = "browse"

    results: ResultsFolder
    manifest: EvaluatedManifest = None
    encoders: Annotated[
        tuple[str, ...],
        option(
            "An encoder to show; give a second one to compare the two side by side.",
            names=("--encoder",),
            metavar="NAME",
            otherwise="all, the best first",
            run=True,
        ),
    ] = ()
    measure: Annotated[
        str | None,
        option(
            "The measure that decides whether a query fails, such as R@10.",
            metavar="NAME",
            otherwise="the first measure of the results with values from 0 to 1",
            run=True,
        ),
    ] = None
    text_encoders: Annotated[
        tuple[str, ...],
        option(
            "Encode the texts, and queries that you type, with this encoder; repeat for several.",
            names=("--text-encoder",),
            metavar="NAME=SPEC",
            otherwise="vectors of files and of the store only",
            run=True,
        ),
    ] = ()
    image_encoder: Annotated[
        str | None,
        option(
            "Encode the images with this encoder, for the second step of Backretrieval.",
            metavar="SPEC",
            otherwise="that of the results, if its vectors are stored",
            run=True,
        ),
    ] = None
    slices: Annotated[bool, option("Search for slices; this takes minutes for 100,000 texts.", run=True)] = (
        True
    )
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
