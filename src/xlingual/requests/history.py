"""The request of `history`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import AsJson, EncodersOfResults, Form, Quiet
from xlingual.requests.values import Natural, Positive, pair_list


class HistoryRequest(Request, frozen=True, kw_only=True):
    """Show how results changed over time or between versions."""

    command = "history"

    folder: Annotated[Path, argument("FOLDER", "A folder that holds a folder of results for each version.")]
    task: Annotated[str | None, option("Only this task.", metavar="NAME", otherwise="all")] = None
    measures: Annotated[
        tuple[str, ...],
        option(
            "A measure, such as R@10 or SIM; repeat for several.",
            names=("--measure",),
            metavar="NAME",
            otherwise="the first of each task",
        ),
    ] = ()
    encoders: EncodersOfResults = ()
    pairs: Annotated[
        tuple[str, ...],
        option(
            "Show and test these language pairs one by one: en-de,de-en.",
            metavar="LIST",
            otherwise="the mean over all pairs is tested",
            reads=pair_list,
        ),
    ] = ()
    per_pair: Annotated[bool, option("Also test every language pair.")] = False
    by: Annotated[
        Literal["time", "label"],
        option("Order of the records: by date, or by label (their folder's name)."),
    ] = "time"
    alpha: Annotated[float, option("Significance level of the changes, after Holm's correction.")] = 0.05
    replicates: Annotated[
        Positive | None,
        option(
            "Resamples of each test.",
            metavar="N",
            otherwise="1999, or more if the correction is for many tests",
        ),
    ] = None
    seed: Annotated[Natural, option("Seed of the random numbers.")] = 0
    out: Annotated[
        Path | None, option("Write history.json and report.html to the folder DIR.", metavar="DIR", run=True)
    ] = None
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False
