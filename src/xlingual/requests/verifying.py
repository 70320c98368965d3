"""The requests of `verify` and `cite`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import AsJson, EncodersOfResults, Form, Quiet
from xlingual.requests.values import Positive


class VerifyRequest(Request, frozen=True, kw_only=True):
    """Make a result again and compare, or check a claim."""

    command = "verify"

    result: Annotated[
        str, argument("RESULT|CLAIM", "A file of results, its folder, or a line of `xlingual cite`.")
    ]
    within: Annotated[
        Path,
        option("Look for the result of a claim in DIR and its folders.", names=("--in",), metavar="DIR"),
    ] = Path()
    sample: Annotated[
        Positive | None,
        option("Compute only N random queries again.", metavar="N", otherwise="all"),
    ] = None
    inputs_only: Annotated[bool, option("Compare the digests of files only; compute nothing.")] = False
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False


class CiteRequest(Request, frozen=True, kw_only=True):
    """Print numbers as claims: lines that `verify` checks."""

    command = "cite"

    results: Annotated[Path, argument("RESULTS", "A folder of results, as `xlingual evaluate` writes it.")]
    encoders: EncodersOfResults = ()
    measure: Annotated[
        str | None, option("The measure, such as R@10.", metavar="NAME", otherwise="the first")
    ] = None
    pair: Annotated[
        str | None,
        option("A language pair, such as en-de.", metavar="PAIR", otherwise="the mean over pairs"),
    ] = None
