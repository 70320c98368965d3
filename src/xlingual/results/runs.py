"""A number of a system that was trained or tuned several times, and its difference to another system's."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from xlingual.results.values import Amount, Interval, Number, Share, about


class Gain(Struct, frozen=True):
    """The value of one system less that of the reference, on the same queries."""

    value: Annotated[Number, about("Difference, mean over runs.")]
    ci: Annotated[Interval | None, about("Interval for other queries and other runs; null without a test.")]
    p: Annotated[Share | None, about("Two-sided p of no difference; null without a test.")]
    p_adjusted: Annotated[
        Share | None, about("p corrected by Holm over the differences of the table; null without a test.")
    ] = None


class OfRuns(Struct, frozen=True):
    """A measure of one system, mean over its runs."""

    value: Annotated[Number, about("Mean over runs.")]
    per_run: Annotated[list[Number], about("Value of each run.")]
    sd: Annotated[Amount | None, about("Standard deviation over runs (n − 1); null for one run.")] = None
    ci: Annotated[Interval | None, about("Interval of the value; null where there is none.")] = None
    gain: Annotated[
        Gain | None, about("Difference to the reference; null for the reference, and where there is none.")
    ] = None


class Compared(Struct, frozen=True):
    """One system beside others: its runs, and its measures."""

    name: Annotated[str, about("Name of the system.")]
    runs: Annotated[list[str], about("Its files or trainings.")]
    scores: Annotated[dict[str, OfRuns], about("Its measures by name.")]
