"""Approximate numbers in sentences: how a search or a sample gave them, how far they are off."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.leaders import BoardRow
from xlingual.results import Approximation


def sentences(rows: Sequence[BoardRow]) -> list[str]:
    """Return how the numbers of a board were found, and the check of each; nothing where all are exact.

    The first sentence is about all of them, then there is one for each encoder.
    """
    known = [(row, row.approximation) for row in rows if row.approximation is not None]
    if not known:
        return []
    methods = dict.fromkeys((found.search, found.depth, found.candidates) for _, found in known)
    return [*(_method(*one) for one in methods), *(_check(row, found) for row, found in known)]


def _method(search: str | None, depth: int | None, candidates: int | None) -> str:
    """Return how numbers were found."""
    how = f"each query scores the {depth} best candidates that a search ({search}) finds"
    if candidates is not None:
        how = f"ranks are estimated from {numbers.count(candidates)} random candidates"
    known = "Values have as many digits as the error allows; intervals include the error."
    return f"Approximate: {how}. {known}"


def _check(row: BoardRow, found: Approximation) -> str:
    parts = []
    if found.recall_nearest is not None:
        parts.append(f"nearest text found for {_share(found.recall_nearest)}")
    if found.recall_way_back is not None:
        parts.append(f"{_share(found.recall_way_back)} of the nearest images found")
    if found.difference is not None and found.ci is not None:
        ends = numbers.difference(found.difference, found.ci, row.measure)
        parts.append(f"{row.measure} is off by {ends}")
    elif found.error:
        level = "" if row.ci is None else f" ({numbers.percent(row.ci.level)})"
        parts.append(f"{row.measure} is off by {numbers.bound(found.error)} at most{level}")
    else:
        parts.append(f"{row.measure} is exact")
    if found.n_checked is not None:
        parts.insert(0, f"{numbers.count(found.n_checked)} queries were also ranked exactly")
    return f"{row.label}: {', '.join(parts)}."


def _share(share: float) -> str:
    """Return a percentage with a decimal, never rounded up to all.

    >>> _share(0.9996), _share(1.0)
    ('99.9 %', '100 %')
    """
    return "100 %" if share >= 1 else f"{min(100 * share, 99.9):.1f} %"
