"""What ranked, in words: the device, and how much its screen left to be decided."""

from __future__ import annotations

from xlingual.results import Results


def how_ranked(run: Results) -> list[tuple[str, str]]:
    """Return (what, words) of a run's diagnostics, those that it has."""
    found = []
    ranking = run.diagnostics.get("ranking", {})
    if "device" in ranking:
        named = [str(ranking[name]) for name in ("backend", "device", "precision") if name in ranking]
        found.append(("ranked by", ", ".join(named)))
    if isinstance(ranking.get("undecided"), int | float):
        found.append(("left undecided by the screen", f"{ranking['undecided']:.2%} of comparisons"))
    screened = run.diagnostics.get("pairs_screened", 0)
    if screened:
        share = f"{run.diagnostics.get('pairs_decided', 0) / screened:.2%} of {screened:,} pairs"
        found.append(("scored in float64 to be exact", share))
    return found
