"""Which queries are looked at: filters, as addresses and options of the command carry them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

from xlingual.browsing.searching import LONGEST
from xlingual.errors import InputError, listed

OUTCOMES = {"failed": "failed", "answered": "answered", "all": "all queries"}
ORDERS = {"worst": "worst first", "surest": "surest first", "data": "as in the data"}
RANKS = {"1": (1, 1), "2-10": (2, 10), "11-100": (11, 100), "101-": (101, None)}


@dataclass(frozen=True)
class Wanted:
    """Filters of queries; "" stands for any.

    Attributes:
        encoder: whose queries.
        beside: the encoder that stands beside it.
        outcome: `failed`, `answered` or `all`.
        source, target: languages.
        kind: the kind of error.
        slice: the number of a slice.
        rank: ranks of the answer, A-B.
        hub: "yes": those that found a hub.
        marked: "yes": those that are marked or have a note.
        q: words in the query or in what it found.
        order: which stand first.

    """

    encoder: str = ""
    beside: str = ""
    outcome: str = "failed"
    source: str = ""
    target: str = ""
    kind: str = ""
    slice: str = ""
    rank: str = ""
    hub: str = ""
    marked: str = ""
    q: str = ""
    order: str = "worst"

    @classmethod
    def of(cls, given: Mapping[str, str], usual: Wanted) -> Self:
        """Return the filters of an address; what it does not say is as usual, and what is strange as well."""
        names = {name: given.get(name, value)[:LONGEST] for name, value in asdict(usual).items()}
        names["outcome"] = names["outcome"] if names["outcome"] in OUTCOMES else usual.outcome
        names["order"] = names["order"] if names["order"] in ORDERS else usual.order
        if names["rank"] and not _is_range(names["rank"]):
            names["rank"] = ""
        return cls(**names)

    def address(self, usual: Wanted, **more: Any) -> str:  # noqa: ANN401
        """Return the query part of an address with these filters, "" where all are as usual."""
        own = {name: value for name, value in asdict(self).items() if value != getattr(usual, name)}
        both = own | {name: str(value) for name, value in more.items() if value not in (None, "")}
        return f"?{urlencode(both)}" if both else ""

    def changed(self, **changes: str) -> Self:
        """Return other filters."""
        return replace(self, **changes)


def rank_range(text: str) -> tuple[int, int | None]:
    """Return the least and the greatest rank, None for no limit; raise InputError for another text.

    >>> rank_range("2-10"), rank_range("101-"), rank_range("1")
    ((2, 10), (101, None), (1, 1))
    """
    if not _is_range(text):
        raise InputError(f"--rank {text}: expected ranks such as {listed(RANKS)}")
    low, dash, high = text.partition("-")
    return int(low), (int(high) if high else None) if dash else int(low)


def _is_range(text: str) -> bool:
    low, _, high = text.partition("-")
    return (
        len(text) <= 20
        and low.isascii()
        and low.isdigit()
        and (not high or (high.isascii() and high.isdigit()))
    )
