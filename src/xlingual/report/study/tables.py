"""The tables of a study, as text for the terminal and the page alike."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import words
from xlingual.report.grid import Table
from xlingual.report.numbers import MISSING, count, duration, percent
from xlingual.report.study import with_bkr
from xlingual.report.study.cautions import conclusion, needed_pairs, outcome
from xlingual.report.study.wording import (
    amount,
    ordered_pairs,
    p_text,
    ranked,
    ratio,
    signed,
    wanted,
    win_rate,
)
from xlingual.results.study import PairDifference, StudyAnalysis


def systems(analysis: StudyAnalysis) -> Table:
    """Return what raters said of each system, the best first."""
    rows = [
        [
            row.system,
            amount(row.very_relevant, row.very_relevant_ci),
            percent(row.share),
            amount(row.mean_score, row.mean_score_ci),
            with_bkr.value(row.bkr),
        ]
        for row in ranked(analysis)
    ]
    head = ["system", f"{wanted(analysis)} per query", "of all", "mean score", "BkR"]
    table = Table("Systems", head, rows, [conclusion(analysis)], names_are_data=True)
    return _full(table, "BkR")


def pairs(analysis: StudyAnalysis) -> Table:
    """Return the differences of systems, told of the better one."""
    found = ordered_pairs(analysis)
    rows = [
        [
            f"{pair.first} against {pair.second}",
            ratio(pair),
            signed(pair.score_difference, pair.score_ci),
            f"{pair.wins}–{pair.ties}–{pair.losses}",
            win_rate(pair),
            p_text(pair.p_permutation),
            p_text(pair.p_score),
            p_text(pair.p_adjusted),
            outcome(analysis, pair),
        ]
        for pair in found
    ]
    head = ["systems", "times as many", "score difference", "won–even–lost", "win rate"]
    head += ["p", "p of scores", "adjusted p", "outcome"]
    table = Table("Against each other", head, rows, notes(found), 1, frozenset({"outcome"}), True)
    return table if len(found) > 1 else table.without("adjusted p")


def notes(found: Sequence[PairDifference]) -> list[str]:
    """Return why a ratio is missing or what was added to it."""
    return [
        f"{pair.first} against {pair.second}: {words.stop(pair.ratio_note)}"
        for pair in found
        if pair.ratio_note
    ]


def raters(analysis: StudyAnalysis) -> Table:
    """Return how each rater rated; columns that say nothing are left out."""
    rows = [
        [
            row.rater,
            count(row.n_ratings),
            count(row.n_missing),
            amount(row.mean_score),
            count(row.repeats),
            percent(row.repeats_equal),
            percent(row.repeats_near),
            count(row.controls),
            percent(row.controls_passed),
            MISSING if row.seconds is None else duration(row.seconds),
            row.flagged or "",
        ]
        for row in analysis.raters
    ]
    head = ["rater", "ratings", "missing", "mean score", "repeats", "same score", "within a step", "controls"]
    head += ["passed", "time of each", "remark"]
    table = Table("Raters", head, rows, [], 1, frozenset({"remark"}), True)
    lost = [] if any(row.n_missing for row in analysis.raters) else ["missing"]
    lost += [] if any(row.repeats for row in analysis.raters) else ["repeats", "same score", "within a step"]
    lost += [] if any(row.controls for row in analysis.raters) else ["controls", "passed"]
    return _full(table.without(*lost), "time of each", "remark")


def looks(analysis: StudyAnalysis) -> Table | None:
    """Return the looks at the study, None where none was planned."""
    if not analysis.looks:
        return None
    rows = [
        [
            str(row.number),
            percent(row.fraction),
            _error(row.spent),
            _error(row.level),
            MISSING if not row.reached else "yes" if row.stop else "no",
            row.note or "",
        ]
        for row in sorted(analysis.looks, key=lambda row: row.number)
    ]
    head = ["look", "of the plan", "error spent", "tests at", "passes", "remark"]
    return _full(Table("Looks", head, rows, [], 1, frozenset({"remark"})), "remark")


def needed(analysis: StudyAnalysis, *, isolated: bool = False) -> Table | None:
    """Return how much rating would show what was seen; None where nobody reckoned it."""
    if not analysis.needed:
        return None
    rows = [
        [
            _against(pair.first, pair.second, isolated=isolated),
            MISSING if row.queries is None else count(row.queries),
            MISSING if row.raters is None else count(row.raters),
            percent(row.power),
            row.note or "",
        ]
        for row, pair in needed_pairs(analysis)
    ]
    head = ["systems", "queries", "raters", "power", "remark"]
    notes = [
        "Queries: with as many raters. Raters: on the same queries. Both in all, not in addition. The "
        "difference seen is itself uncertain: read these as rough sizes."
    ]
    return _full(
        Table("How much rating it takes", head, rows, notes, 1, frozenset({"remark"}), True), "remark"
    )


def bkr(analysis: StudyAnalysis, *, isolated: bool = False) -> Table | None:
    """Return people against BkR; None where there is no BkR of these queries."""
    found = with_bkr.rows(analysis)
    if not found:
        return None
    said = {True: "yes", False: "no", None: MISSING}
    rows = [
        [
            _against(row.first, row.second, isolated=isolated),
            with_bkr.difference(row),
            said[row.same_direction],
            with_bkr.correlation(row),
            row.note or "",
        ]
        for row in found
    ]
    head = ["systems", with_bkr.measure(found[0]), "same direction", "correlation", "remark"]
    notes = [
        "The first system's BkR less the second's, and how far, over queries, this difference goes together "
        f"with the difference in {wanted(analysis)} suggestions."
    ]
    title = "People and Backretrieval"
    return _full(Table(title, head, rows, notes, 1, frozenset({"remark", "same direction"}), True), "remark")


def _against(first: str, second: str, *, isolated: bool) -> str:
    """Return "b against a", on the page with each name isolated: they may be of any script."""
    return (
        f"\u200e\u2068{first}\u2069 against \u2068{second}\u2069" if isolated else f"{first} against {second}"
    )


def _error(share: float) -> str:
    return "< .0001" if share < 0.0001 else f"{share:.4f}"[1:] if share < 1 else "1"


def _full(table: Table, *names: str) -> Table:
    """Return the table without those of the columns that are empty."""
    empty = [
        name
        for i, name in enumerate(table.head)
        if name in names and all(row[i] in ("", MISSING) for row in table.rows)
    ]
    return table.without(*empty)
