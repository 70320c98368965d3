"""Types of the fields of results: numbers within limits, descriptions, intervals."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

_LARGE = 1e100  # larger numbers are no results, and overflow when squared
_LONG = 2**63 - 1  # the largest integer of Arrow and numpy


def about(description: str) -> Meta:
    """Return the description of a field, for the JSON Schema and for readers of its class."""
    return Meta(description=description)


def among(*values: str) -> Meta:
    """Return the restriction of a text to some values; its type stays `str`, so that any can be assigned."""
    return Meta(pattern=f"^({'|'.join(values)})$", extra_json_schema={"enum": list(values)})


Number: TypeAlias = Annotated[float, Meta(ge=-_LARGE, le=_LARGE)]
Amount: TypeAlias = Annotated[float, Meta(ge=0, le=_LARGE)]
Positive: TypeAlias = Annotated[float, Meta(gt=0, le=_LARGE)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Level: TypeAlias = Annotated[float, Meta(gt=0, lt=1)]
Bleu: TypeAlias = Annotated[float, Meta(ge=0, le=100)]
Whole: TypeAlias = Annotated[int, Meta(ge=-_LONG, le=_LONG)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=_LONG)]
Size: TypeAlias = Annotated[int, Meta(ge=1, le=_LONG)]
Note: TypeAlias = Annotated[
    str | None,
    about("Why a number is missing, or a remark on it; null where there is none."),
]
Warnings: TypeAlias = Annotated[list[str], about("Warnings, one sentence each.")]
Timings: TypeAlias = Annotated[
    dict[str, Number], about("Seconds by stage; the only part that differs between equal runs.")
]
Conditions: TypeAlias = Annotated[
    dict[str, str], about("What the numbers depend on, as in the signatures of results.json.")
]


class Interval(Struct, frozen=True):
    """Where the number would land for another sample of the same sizes from the same source."""

    low: Annotated[Number, about("Lower end.")]
    high: Annotated[Number, about("Upper end.")]
    level: Annotated[Level, about("Level: 0.95.")]
    method: Annotated[str, about("How the interval was computed.")]
