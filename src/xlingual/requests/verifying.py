"""The request of `verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import AsJson, Form, Quiet


class VerifyRequest(Request, frozen=True, kw_only=True):
    """Make a result again and compare."""

    command = "verify"

    result: Annotated[Path, argument("RESULT", "A folder of results, or a file in it.")]
    allow: Annotated[
        tuple[str, ...],
        option(
            "A folder below which the record may read files, or a scheme of encoders that it may use, such "
            "as st; repeat for several.",
            metavar="DIR|SCHEME",
            otherwise="the current folder, and schemes that run no code and send nothing",
        ),
    ] = ()
    inputs_only: Annotated[bool, option("Compare the digests of files only; compute nothing.")] = False
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False
