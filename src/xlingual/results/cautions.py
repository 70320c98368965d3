"""What may make a system's number too low: queries that it did not answer, and results that nobody judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import UnsetType

from xlingual.results.entries import Entry
from xlingual.results.views import RetrievalViews

LESS_JUDGED = 0.1  # by so much less of the first places judged than another's, a system may be underrated


def unanswered(entries: Iterable[Entry], names: Mapping[str, str] | None = None) -> list[str]:
    """Return which systems have queries without results; `entries` are of one task and measure.

    `names` are what systems are called, by default as in their entries.
    """
    counts: dict[str, int] = {}
    queries: dict[str, int] = {}
    for entry in entries:
        count = 0 if isinstance(entry.n_unanswered, UnsetType) else entry.n_unanswered
        counts[entry.encoder] = counts.get(entry.encoder, 0) + count
        queries[entry.encoder] = queries.get(entry.encoder, 0) + entry.n_source
    return [
        f"{(names or {}).get(name, name)} has no results for {count:,} of {queries[name]:,} queries, which "
        "count as misses."
        for name, count in counts.items()
        if count
    ]


def less_judged(shares: Mapping[str, float | None], measure: str, name: str) -> list[str]:
    """Return which systems' first places were judged so much less that a measure may be too low.

    `shares` are Judged@k by system, None where it is not known; `name` is what the measure is called.
    """
    known = {system: share for system, share in shares.items() if share is not None}
    if len(known) < 2:
        return []
    most = max(known, key=lambda system: known[system])
    fewer = [system for system, share in known.items() if share < known[most] - LESS_JUDGED]
    if not fewer:
        return []
    *others, last = [f"{system} ({_percent(known[system])})" for system in fewer]
    named = f"{', '.join(others)} and {last}" if others else last
    return [
        f"Fewer of the first {cut_of(measure)} candidates that {named} returned were judged than of {most} "
        f"({_percent(known[most])}): what nobody judged counts as irrelevant, so {name} may be too low "
        "there; Bpref leaves unjudged candidates out."
    ]


def judged_share(entry: Entry) -> float | None:
    """Return Judged@k of an entry of incomplete judgements; None elsewhere."""
    views = entry.views
    return views.judged if isinstance(views, RetrievalViews) and views.incomplete else None


def cut_of(measure: str) -> str:
    """Return k of a measure at k, "" of one without.

    >>> cut_of("AP@20/min"), cut_of("nDCG(dcg='exp-log2')@10"), cut_of("AP")
    ('20', '10', '')
    """
    found = re.search(r"@([0-9]+)", measure)
    return found[1] if found else ""


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
