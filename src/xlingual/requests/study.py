"""Requests of `study`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

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
    raters: Annotated[int, option("Number of raters that are planned.", metavar="N")] = 3
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


class StudySheetsRequest(Request, frozen=True, kw_only=True):
    """Write one HTML file for each rater."""

    command = "study sheets"

    study: Study
    raters: Annotated[
        Positive | None,
        option("Number of raters.", metavar="N", otherwise="--raters of study new", run=True),
    ] = None
    out: Annotated[
        Path | None,
        option("Write the sheets to the folder DIR.", metavar="DIR", otherwise="STUDY/sheets", run=True),
    ] = None
    quiet: Quiet = False


class CollectStudyRequest(Request, frozen=True, kw_only=True):
    """Read the answers that raters saved."""

    command = "study collect"

    study: Study
    files: Annotated[
        tuple[Path, ...], argument("FILE…", "Files that sheets saved, or folders of such files.")
    ]
    as_json: AsJson = False
    quiet: Quiet = False


class AnalyseStudyRequest(Request, frozen=True, kw_only=True):
    """Compare the systems by the ratings."""

    command = "study analyse"

    study: Study
    out: Annotated[Path | None, option("Write analysis.json to the folder DIR.", metavar="DIR", run=True)] = (
        None
    )
    report: Annotated[bool, option("Also write DIR/report.html.", run=True)] = False
    level: Annotated[Share, option("Level of the intervals; tests err in 1 − level.")] = 0.95
    replicates: Annotated[Positive, option("Number of resamples.", metavar="N")] = 4999
    seed: Annotated[Natural, option("Seed of the random numbers.")] = 0
    form: Form = "table"
    as_json: AsJson = False
    quiet: Annotated[bool, option("Print nothing but errors.", run=True)] = False
