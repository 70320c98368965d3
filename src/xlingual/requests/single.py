"""Requests of commands of one word: `embed`, `encoders`, `demo`, `report`, `export` and `nearest`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from xlingual.requests.ranking import Ranking
from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import (
    AsJson,
    Form,
    Keeping,
    ManifestOptions,
    PoolLanguages,
    Quiet,
)
from xlingual.requests.values import Positive


class EmbedRequest(Request, frozen=True, kw_only=True):
    """Compute the vectors of texts and images, and write them to files."""

    command = "embed"

    data: ManifestOptions
    languages: PoolLanguages = None
    text_encoders: Annotated[
        tuple[str, ...],
        option("Encoder of the texts; repeat for several.", names=("--text-encoder",), metavar="SPEC"),
    ] = ()
    image_encoder: Annotated[str | None, option("Encoder of the images.", metavar="SPEC")] = None
    candidate_text: Annotated[
        Literal["sentence", "sentence+context"], option("Text of a pool's candidates that is encoded.")
    ] = "sentence"
    out: Annotated[Path, option("Write the files to the folder DIR.", metavar="DIR", run=True)]
    half: Annotated[bool, option("Use half precision in the files.")] = False
    offsets: Annotated[
        bool,
        option(
            "Also write candidates for a search index; one more dimension holds the hub correction of "
            "model:DIR::SPEC."
        ),
    ] = False
    keeping: Keeping
    quiet: Quiet = False


class EncodersRequest(Request, frozen=True, kw_only=True):
    """List the kinds of encoders and the packages that they need."""

    command = "encoders"

    name: Annotated[str | None, argument("[NAME]", "The scheme that is shown.")] = None
    form: Form = "table"
    as_json: AsJson = False


class DemoRequest(Request, frozen=True, kw_only=True):
    """Make built-in data, evaluate encoders of rising quality, and write a report."""

    command = "demo"

    out: Annotated[
        Path, option("Write data, results and report to the folder DIR.", metavar="DIR", run=True)
    ] = Path("xlingual-demo")
    ranking: Ranking
    quiet: Quiet = False


class ReportRequest(Request, frozen=True, kw_only=True):
    """Make one report from folders of results."""

    command = "report"

    folders: Annotated[tuple[Path, ...], argument("DIR…", "Folders of results, written with --out.")]
    out: Annotated[
        Path | None, option("Write the report to the HTML file FILE.", metavar="FILE", run=True)
    ] = None
    form: Annotated[
        Literal["table", "markdown", "latex", "csv"] | None,
        option("Print the report in this format.", names=("--format",), run=True),
    ] = None
    title: Annotated[str | None, option("Title of the page.")] = None
    quiet: Annotated[bool, option("Print nothing but errors.", run=True)] = False


class NearestRequest(Request, frozen=True, kw_only=True):
    """Show the texts nearest to any text."""

    command = "nearest"

    data: ManifestOptions
    encoder: Annotated[str, argument("ENCODER", "Encoder of the texts. See: xlingual encoders.")]
    text: Annotated[str, argument("TEXT", "The text whose neighbours are shown.")]
    language: Annotated[
        str | None, option("Language of TEXT.", metavar="LANG", otherwise="the first of the data")
    ] = None
    k: Annotated[Positive, option("Number of texts of each language.", names=("--top",), metavar="N")] = 10
    keeping: Keeping
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False
