"""Requests of `run` and `init`: files that say what is computed."""

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
        option(
            "Print what a suite would compute, with estimated time, memory and cost; run nothing.", run=True
        ),
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
            "Print the JSON Schema of the options of COMMAND, or of a suite, and run nothing.",
            metavar="COMMAND|suite",
            run=True,
        ),
    ] = None


class InitRequest(Request, frozen=True, kw_only=True):
    """Write a suite for data, with comments."""

    command = "init"

    data: Annotated[
        Path | None, argument("[DATA]", "A manifest, a pool, or a file of sentence pairs with scores.")
    ] = None
    name: Annotated[
        str | None, option("Name of the data set.", metavar="NAME", otherwise="that of its file or folder")
    ] = None
    tasks: Annotated[
        tuple[str, ...],
        option(
            "A task: bkr, xlr, lareqa …; repeat for several.",
            names=("--task",),
            metavar="NAME",
            otherwise="those that the data allow",
        ),
    ] = ()
    text_encoders: Annotated[
        tuple[str, ...],
        option("Text encoder; repeat for several.", names=("--text-encoder",), metavar="[NAME=]SPEC"),
    ] = ()
    image_encoder: Annotated[str | None, option("Encoder of the images.", metavar="SPEC")] = None
    candidate: Annotated[
        str | None,
        option("Add a gate that decides whether this encoder may replace the baseline.", metavar="NAME"),
    ] = None
    baseline: Annotated[str | None, option("The encoder in use, for the gate.", metavar="NAME")] = None
    margin: Annotated[float, option("Largest acceptable loss of the candidate.", metavar="M")] = 0.01
    language: Annotated[
        str | None, option("Language of sentence pairs.", names=("--lang",), metavar="TAG")
    ] = None
    out: Annotated[Path, option("Write the suite to FILE.", metavar="FILE", run=True)] = Path("suite.toml")
    force: Annotated[bool, option("Replace FILE if it is there.", run=True)] = False
    ask: Annotated[bool, option("Ask for what is not given, if standard input is a terminal.", run=True)] = (
        True
    )
