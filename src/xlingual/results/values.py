"""What records of results are made of: numbers within limits, descriptions, intervals."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

_LARGE = 1e100  # what is larger is no result, and overflows where it is squared
_LONG = 2**63 - 1  # what Arrow and numpy hold


def about(description: str) -> Meta:
    """Return what describes a field: in the JSON Schema, and to whoever reads its class."""
    return Meta(description=description)


def among(*values: str) -> Meta:
    """Return what restricts text to some plain words; its type stays `str`, so that any can be assigned."""
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
    about("Why a number is missing, or what must be known about it; null where there is nothing to say."),
]
Warnings: TypeAlias = Annotated[list[str], about("What deserved a look, one sentence each.")]
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
    level: Annotated[Level, about("Level: 0.95, or what a calibration says.")]
    method: Annotated[str, about("How the interval was computed.")]
