"""Which back end ranks, and why."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.errors import InputError
from xlingual.ranking.cpu import Cpu
from xlingual.ranking.ranker import Ranker

BACKENDS = ("auto", "cpu")


@dataclass(frozen=True)
class Chosen:
    """A back end, and why it was chosen, in words."""

    ranker: Ranker
    why: str
    notable: bool = False  # worth telling where nobody watches, too


def choose(backend: str = "auto", *, threads: int = 1, memory: int | None = None) -> Chosen:
    """Return the back end for what was asked; numbers do not depend on it.

    Args:
        backend: one of `BACKENDS`; "auto" takes what this machine has.
        threads: tiles side by side, on a processor.
        memory: bytes that tiles may take at a time; None leaves it to the back end.

    Raises:
        InputError: what was asked for is not known, not installed or not there.

    """
    if backend not in BACKENDS:
        raise InputError(f"backend {backend!r} is not known: choose among {', '.join(BACKENDS)}")
    ranker = Cpu(threads) if memory is None else Cpu.within(memory, threads)
    many = "1 thread" if ranker.threads == 1 else f"{ranker.threads} threads"
    return Chosen(ranker, f"on the processor, {many}")
