"""How numbers and places of a multilingual pool are put into words."""

from __future__ import annotations

from typing import Literal, TypeAlias

from xlingual.report import numbers
from xlingual.report.leaders import contains
from xlingual.results import Interval

Side: TypeAlias = Literal["above", "holds", "below", "unknown"]


def side(ci: Interval | None, mark: float = 0.0) -> Side:
    """Tell on which side of a mark the whole interval lies, or that it holds it."""
    if ci is None:
        return "unknown"
    if contains(ci, mark):
        return "holds"
    return "above" if ci.low > mark else "below"


def share(value: float | None, digits: int = 1) -> str:
    """Return a share in percent with decimals.

    >>> share(0.1234), share(None)
    ('12.3 %', '–')
    """
    return numbers.MISSING if value is None else f"{numbers.number(100 * value, digits=digits)} %"


def share_interval(value: float | None, ci: Interval | None) -> str:
    """Return "12.3 % [10.1, 14.6]", with enough decimals to see on which side of zero an end lies.

    >>> share_interval(0.02, Interval(0.0004, 0.04, 0.95, "bootstrap"))
    '2.00 % [0.04, 4.00]'
    """
    if value is None or ci is None:
        return share(value)
    low, high = 100 * ci.low, 100 * ci.high
    digits = numbers.digits_beside((low, high), (0.0,), 1)
    ends = f"{numbers.number(low, digits=digits)}, {numbers.number(high, digits=digits)}"
    return f"{share(value, digits)} [{ends}]"


def signed_gap(value: float | None, ci: Interval | None) -> str:
    """Return a difference with its interval where it has one."""
    if value is None or ci is None:
        return numbers.number(value)
    return numbers.difference(value, ci)


def times(ratio: float) -> str:
    """Return how many times its share of the pool a language takes.

    >>> times(1.42), times(0.055), times(12.3)
    ('1.4', '0.06', '12')
    """
    return numbers.number(ratio, digits=2 if ratio < 0.1 else 1 if ratio < 10 else 0)


def ordinal(place: int) -> str:
    """Return "first", "second" … or "11th".

    >>> ordinal(1), ordinal(12), ordinal(23)
    ('first', '12th', '23rd')
    """
    words = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    if place <= len(words):
        return words[place - 1]
    ending = "th" if 10 < place % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def amount(value: float | None) -> str:
    """Return a mean number of candidates: two decimals where it is small, none where it is large.

    >>> amount(0.254), amount(12.34), amount(1234.5)
    ('0.25', '12.3', '1,234')
    """
    if value is None:
        return numbers.MISSING
    if value >= 100:
        return f"{value:,.0f}"
    return numbers.number(value, digits=1 if value >= 10 else 2)
