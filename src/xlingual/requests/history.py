"""The request of `history`, which shows what other commands recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import AsJson, EncodersOfResults, Form, Quiet
from xlingual.requests.values import Natural, Positive, pair_list


class HistoryRequest(Request, frozen=True, kw_only=True):
    """Show how results changed over time or between versions."""

    command = "history"

    history: Annotated[
        Path, argument("FILE", "A history: the file that other commands wrote with --record FILE.")
    ]
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
            names=("--pairs", "--pair"),
            metavar="LIST",
            otherwise="the mean over all pairs is tested",
            reads=pair_list,
        ),
    ] = ()
    per_pair: Annotated[bool, option("Also test every language pair.")] = False
    by: Annotated[Literal["time", "label"], option("Order of the records: by date, or by label.")] = "time"
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
    import_from: Annotated[
        tuple[Path, ...],
        option(
            "First add this folder of results to the history, with its own date; repeat for several.",
            names=("--import",),
            metavar="FOLDER",
            run=True,
        ),
    ] = ()
    label: Annotated[
        str | None, option("Label of the imported folder, if there is only one.", metavar="TEXT", run=True)
    ] = None
    out: Annotated[Path | None, option("Write a page to FILE.html.", metavar="FILE", run=True)] = None
    export: Annotated[
        Path | None,
        option("Write all values to FILE.csv or FILE.parquet, one a row.", metavar="FILE", run=True),
    ] = None
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False
