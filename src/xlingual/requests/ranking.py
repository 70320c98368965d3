"""Options of the back end that ranks (it changes no number)."""

from __future__ import annotations

import os
import re
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from xlingual.errors import InputError
from xlingual.requests.record import Record, option
from xlingual.requests.values import Positive

_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_LEAST = 1 << 20


def available_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def byte_size(text: str) -> int:
    """Return the number of bytes of "500MB" or "8GiB".

    K, M, G and T are powers of 1000, Ki, Mi … of 1024.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*([kmgt]?)(i?)b?", text.strip().lower())
    if found is None:
        raise InputError(f"{text!r} is no size: write it like 500MB or 8GiB")
    number, unit, binary = found.groups()
    size = int(float(number) * (1024 if binary else 1000) ** _UNITS[unit])
    if size < _LEAST:
        raise InputError(f"{text!r} is too little to rank in: give 1MiB at least")
    return size


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
    precision: Annotated[
        Literal["fp16", "bf16", "fp32"] | None,
        option(
            "Precision of torch's fast first pass; it changes no number.",
            otherwise="fp16 on CUDA, else fp32",
            run=True,
        ),
    ] = None
    threads: Threads = field(default_factory=available_cores)
    memory: Annotated[
        Annotated[int, Meta(ge=_LEAST)] | None,
        option(
            "Largest memory for ranking, such as 8GiB.",
            metavar="SIZE",
            otherwise="as much as ranking needs",
            reads=byte_size,
            run=True,
        ),
    ] = None
    address: Address = None
    shared: Annotated[
        str | None,
        option(
            "With --backend ray: a folder, or URL, that all machines of the cluster see.",
            metavar="DIR",
            run=True,
            secret=True,
        ),
    ] = None
