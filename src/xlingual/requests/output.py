"""What is written and printed, in requests; it changes no number."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from xlingual.requests.record import Record, option

Quiet: TypeAlias = Annotated[bool, option("Print nothing but warnings and errors.", run=True)]

Form: TypeAlias = Annotated[
    Literal["table", "markdown", "latex", "csv", "json"],
    option("The form in which the findings are printed.", names=("--format",), run=True),
]
AsJson: TypeAlias = Annotated[bool, option("Print JSON, as --format json does.", names=("--json",), run=True)]


class Output(Record, frozen=True, kw_only=True):
    """What an evaluation writes and prints."""

    heading = "Output"

    out: Annotated[Path | None, option("Write the results to the folder DIR.", metavar="DIR", run=True)] = (
        None
    )
    report: Annotated[bool, option("Write a report to DIR/report.html too.", run=True)] = False
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False
