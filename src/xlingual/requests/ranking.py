"""Options of the back end that ranks (it changes no number)."""

from __future__ import annotations

import os
from typing import Annotated, Literal, TypeAlias

from msgspec import field

from xlingual.requests.record import Record, option
from xlingual.requests.values import Positive


def available_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


Threads: TypeAlias = Annotated[
    Positive, option("Number of threads; they change no number.", otherwise="all cores", run=True)
]
Address: TypeAlias = Annotated[
    str | None,
    option(
        "With --backend ray: the head of the cluster, or auto.",
        metavar="HOST:PORT",
        otherwise="Ray on this machine alone",
        run=True,
        secret=True,
    ),
]


class Ranking(Record, frozen=True, kw_only=True):
    """Where ranking is done."""

    heading = "Ranking back end (the same numbers everywhere)"

    backend: Annotated[
        Literal["auto", "cpu", "torch", "ray"],
        option(
            "Back end that ranks; it changes no number. auto: torch if there is a CUDA device, else cpu.",
            run=True,
        ),
    ] = "auto"
    device: Annotated[
        str | None,
        option("Device of torch: auto, cpu, cuda, cuda:1.", metavar="NAME", otherwise="auto", run=True),
    ] = None
    threads: Threads = field(default_factory=available_cores)
    address: Address = None
