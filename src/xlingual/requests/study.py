"""Requests of `study`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from xlingual.requests.ranking import Ranking
from xlingual.requests.record import Record, Request, argument, option
from xlingual.requests.shared import SYSTEMS, AsJson, Form, Keeping, ManifestOptions, Quiet, Runs
from xlingual.requests.values import Natural, Positive, Share

Study: TypeAlias = Annotated[Path, argument("STUDY", "Folder of the study.")]
Part: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


class Layout(Record, frozen=True, kw_only=True):
    """How a study is laid out. Shares are of the queries, 0 to 1."""

    queries: Annotated[int, option("Number of queries.", metavar="N")] = 20
    per_system: Annotated[int, option("Number of suggestions of each system.", metavar="N")] = 5
    raters: Annotated[
        int, option("Number of raters' links to create now; more can be added later.", metavar="N")
    ] = 3
    by: Annotated[
        str | None,
        option("Draw queries from each label of this column, in proportion.", metavar="COLUMN"),
    ] = None
    repeats: Annotated[
        Part, option("Share of the queries that each rater rates twice.", metavar="SHARE", otherwise="0")
    ] = 0.0
    controls: Annotated[
        Part,
        option(
            "Share of the queries that also show one obviously wrong and one obviously right text.",
            metavar="SHARE",
            otherwise="0",
        ),
    ] = 0.0
    exclude_own: Annotated[bool, option("Never suggest the texts of a query's own item.")] = False
    pictures: Annotated[
        bool,
        option(
            "Show images, where the manifest has any.",
            names=("--images/--no-images",),
            old_names=("--pictures/--no-pictures",),
        ),
    ] = True
    title: Annotated[
        str | None,
        option("Heading of the title page; STUDY/title.md can be edited.", metavar="TEXT"),
    ] = None
    seed: Annotated[int, option("Seed of the draw and of all orders.")] = 0


class NewStudyRequest(Request, frozen=True, kw_only=True):
    """Draw queries and suggestions, and write a study."""

    command = "study new"
    one_of = SYSTEMS

    data: ManifestOptions
    source: Annotated[str, option("Language of the queries.", metavar="LANG")]
    target: Annotated[str, option("Language of the suggestions.", metavar="LANG")]
    text_encoders: Annotated[
        tuple[str, ...],
        option(
            "A text encoder, or an engine's run (run:FILE), whose suggestions are judged; repeat for each. "
            "See: xlingual encoders.",
            names=("--system",),
            metavar="NAME=SPEC",
        ),
    ] = ()
    runs: Runs = ()
    image_encoder: Annotated[
        str | None,
        option(
            "Image encoder: also measure Backretrieval (R@10) of the queries, to compare it with the "
            "ratings.",
            metavar="SPEC",
        ),
    ] = None
    layout: Layout
    out: Annotated[Path, option("Write the study to the folder STUDY.", metavar="STUDY", run=True)]
    keeping: Keeping
    ranking: Ranking
    quiet: Quiet = False


class ServeStudyRequest(Request, frozen=True, kw_only=True):
    """Show a study to raters in their browsers."""

    command = "study serve"

    study: Study
    host: Annotated[str, option("Address to listen on; 0.0.0.0 for all.", run=True)] = "127.0.0.1"
    port: Annotated[
        Annotated[int, Meta(ge=0, le=65535)], option("Port to listen on; 0 takes a free one.", run=True)
    ] = 8080
    url: Annotated[
        str | None,
        option("Beginning of raters' links, if the server is behind a proxy.", metavar="URL", run=True),
    ] = None
    trust_proxy: Annotated[
        str | None,
        option(
            "Proxies to trust (addresses with commas between): their X-Forwarded-For gives the raters' "
            "addresses.",
            metavar="ADDRESS",
            otherwise="none",
            run=True,
            secret=True,
        ),
    ] = None


class AnalyseStudyRequest(Request, frozen=True, kw_only=True):
    """Compare the systems by the ratings."""

    command = "study analyse"

    study: Study
    out: Annotated[Path | None, option("Write analysis.json to the folder DIR.", metavar="DIR", run=True)] = (
        None
    )
    report: Annotated[bool, option("Also write DIR/report.html.", run=True)] = False
    looks: Annotated[
        str | None,
        option(
            "Fractions of the planned ratings at which you analyse: 0.5,1. Tests are corrected for it.",
            metavar="LIST",
        ),
    ] = None
    planned: Annotated[
        Positive | None,
        option(
            "Planned number of ratings of systems' suggestions.",
            metavar="N",
            otherwise="of all --raters of study new",
        ),
    ] = None
    level: Annotated[Share, option("Level of the intervals; tests err in 1 − level.")] = 0.95
    replicates: Annotated[Positive, option("Number of resamples.", metavar="N")] = 4999
    seed: Annotated[Natural, option("Seed of the random numbers.")] = 0
    form: Form = "table"
    as_json: AsJson = False
    quiet: Annotated[bool, option("Print nothing but errors.", run=True)] = False


class ExportStudyRequest(Request, frozen=True, kw_only=True):
    """Write ratings to a table, or make an offline sheet."""

    command = "study export"

    study: Study
    out: Annotated[
        Path | None,
        option("Write the ratings to FILE, a .csv or .parquet.", metavar="FILE", run=True),
    ] = None
    with_key: Annotated[bool, option("Add the system of each suggestion: the table is no longer blind.")] = (
        False
    )
    sheet: Annotated[
        Path | None,
        option("Write one HTML file to rate with, without a network.", metavar="FILE", run=True),
    ] = None
    rater: Annotated[
        str | None, option("Rater whose sheet it is; a name that is new becomes a rater.", metavar="NAME")
    ] = None
    quiet: Quiet = False


class ImportStudyRequest(Request, frozen=True, kw_only=True):
    """Add ratings of tables and sheets."""

    command = "study import"

    study: Study
    files: Annotated[tuple[Path, ...], argument("FILE…", "Tables and sheets of ratings.")]
    prefer: Annotated[
        Literal["file", "study"] | None,
        option("Which score counts if the study and the file have different scores.", otherwise="refuse"),
    ] = None
    quiet: Quiet = False
