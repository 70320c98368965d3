"""The hub alarm: a sentence where few candidates make many of the errors."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.findings.leads import MOST_NAMED
from xlingual.report.hub_views import EncoderHubs, hubs_of
from xlingual.report.leaders import BoardRow
from xlingual.report.pool_views import amount
from xlingual.results import Results


def alarm(runs: Sequence[Results], rows: Sequence[BoardRow]) -> list[str]:
    """Return an alarm about the first of the rows whose hubs are one, and the names of the others."""
    strong = [one for one in hubs_of(runs, rows) if one.hubs.alarm]
    if not strong:
        return []
    first, *others = strong
    also = ""
    if others:
        names = numbers.in_words([one.row.encoder for one in others], MOST_NAMED - 1)
        also = f" Also {names}."
    return [f"Hub alarm: {_about(first)}.{also}"]


def _about(one: EncoderHubs) -> str:
    hubs = one.hubs
    several = f" and in {numbers.count(one.n_alarms - 1)} more" if one.n_alarms > 1 else ""
    where = f" ({one.where}{several})" if one.n_subjects > 1 else ""
    count = hubs.n_largest or 1
    made = (
        f"{numbers.percent(hubs.errors)} of its errors ({numbers.percent(hubs.errors_by_chance)} by chance)"
    )
    found = f"{numbers.count(round(hubs.largest or 0))} queries ({amount(hubs.expected)} expected)"
    place = "first" if hubs.k == 1 else f"among the first {hubs.k}"
    if count == 1:
        return f"{one.row.encoder}{where} has one candidate {place} for {found}, which makes {made}"
    return (
        f"{one.row.encoder}{where} has one candidate {place} for {found}; the {numbers.count(count)} "
        f"most frequent make {made}"
    )
