"""The request of `run`: a file that says what is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from xlingual.requests.record import Request, argument, option


class RunRequest(Request, frozen=True, kw_only=True):
    """Run the commands or the suite of a TOML file."""

    command = "run"

    file: Annotated[Path | None, argument("[FILE]", "A TOML file: a suite, or one command or several.")] = (
        None
    )
    dry_run: Annotated[
        bool,
        option("Print which steps of a suite would be computed and why; run nothing.", run=True),
    ] = False
    only: Annotated[
        tuple[str, ...],
        option(
            "Only these data sets, tasks, comparisons, gates or steps, by name; repeat for several.",
            metavar="NAME",
        ),
    ] = ()
    over: Annotated[
        tuple[str, ...],
        option(
            "Set an option of the suite's evaluations, in place of the file's value; repeat for several.",
            names=("--set",),
            metavar="OPTION=VALUE",
        ),
    ] = ()
    out: Annotated[
        Path | None,
        option(
            "Write a suite's results to the folder DIR.",
            metavar="DIR",
            otherwise="as in the file",
            run=True,
        ),
    ] = None
    schema: Annotated[
        str | None,
        option(
            "Print the JSON Schema of the options of COMMAND, and run nothing.",
            metavar="COMMAND",
            run=True,
        ),
    ] = None
