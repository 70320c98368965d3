"""The tables of a blind study's page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xlingual.report import numbers, words
from xlingual.report.axis import axis_for, log_axis_for
from xlingual.report.blocks import Block, Prose
from xlingual.report.figures.bars import SWATCHES
from xlingual.report.figures.study import score_swatch, scores_bar
from xlingual.report.findings import study_cautions as cautions
from xlingual.report.findings.study import bkr_name, sentence
from xlingual.report.marking import against, bare, quoted
from xlingual.report.numbers import MISSING, count, p_value, percent
from xlingual.report.study_views import (
    amount,
    level,
    needed_pairs,
    ordered_pairs,
    ratio,
    resampled,
    signed,
    wanted,
    win_rate,
    with_bkr,
)
from xlingual.report.table import Bar, Cell, Column, Key, Row, Table, narrower
from xlingual.results.study import PairDifference, StudyAnalysis, SystemScores

LOOKS = narrower(
    *("p", "p of scores", "win rate", "of all", "within a step", "repeats", "controls", "time of each"),
    *("remark", "outcome", "power", "same direction", "won–even–lost", "score difference"),
)
UNSAID = ("outcome", "remark", "same direction", "power")  # the verdict has them


def systems(analysis: StudyAnalysis, shown: Sequence[SystemScores]) -> list[Block]:
    """Return what raters said of each system, the best first."""
    held = [row.very_relevant for row in shown]
    held += [end for row in shown if (ci := row.very_relevant_ci) for end in (ci.low, ci.high)]
    apart = {
        name
        for pair in analysis.pairs
        if shown and shown[0].system in (pair.first, pair.second) and not cautions.open_(pair)
        for name in (pair.first, pair.second)
    }
    columns = (
        Column("System", "name", "system", data=True),
        Column("Per query", short=f"{wanted(analysis)} per query", main=True),
        Column("", "chart"),
        Column("Of all", short="of all"),
        Column("Mean score", short="mean score"),
        Column("BkR"),
    )
    rows = []
    for place, row in enumerate(shown):
        value = Cell.by(amount, row.very_relevant, row.very_relevant_ci)
        cells = (
            Cell(row.system),
            value,
            Cell(bar=_bar(row.system, value)),
            Cell.by(percent, row.share),
            Cell.by(amount, row.mean_score, row.mean_score_ci),
            Cell.of(row.bkr),
        )
        rows.append(Row(cells, "leader" if place == 0 else "behind" if row.system in apart else "level"))
    intervals = f"{level(analysis)} interval"
    table = _board(
        "Systems",
        columns,
        rows,
        axis=axis_for([0.0, *held] if any(held) else [0.0, 1.0], floor=0.0),
        legend=(
            Key(f"{intervals}, {resampled(analysis)} resampled", SWATCHES["interval"]),
            Key("mean score: lower is better"),
        ),
    )
    return [
        table,
        Prose(f"Brackets: {intervals}s, {resampled(analysis)} resampled.", "note-line", "terminal"),
    ]


def _bar(name: str, value: Cell, *lines: tuple[str, float]) -> Bar | None:
    if not isinstance(value.value, float | int):
        return None
    return Bar(value.value, value.ends, lines, f"{name}: {value.plain}", arrows=bool(lines))


def _board(title: str, columns: Iterable[Column], rows: Iterable[Row], **more: Any) -> Table:  # noqa: ANN401
    table = Table(title, tuple(columns), tuple(rows), style="board", titled=False, **_IN_TERMINAL, **more)
    return table.without_empty()


_IN_TERMINAL: dict[str, Any] = {"looks": LOOKS, "unsaid": UNSAID, "where": "both"}


def scores(analysis: StudyAnalysis, shown: Sequence[SystemScores]) -> list[Block]:
    """Return how often each system got each score; nothing where none has ratings."""
    rows = [
        Row((Cell(row.system), Cell(bar=scores_bar(row, analysis.labels)), Cell(count(sum(row.counts)))))
        for row in shown
        if sum(row.counts)
    ]
    columns = (Column("System", "name", data=True), Column("", "chart"), Column("Ratings"))
    keys = tuple(Key(str(n), score_swatch(n), name=label) for n, label in enumerate(analysis.labels, 1))
    return [Table("All scores", columns, tuple(rows), legend=keys, style="board")] if rows else []


def pairs(analysis: StudyAnalysis) -> list[Block]:
    """Return the differences of systems, the better one of two first."""
    found = ordered_pairs(analysis)
    several = len(found) > 1
    ends = [end for pair in found if (ci := pair.ratio_ci) for end in (ci.low, ci.high)]
    axis = log_axis_for([*ends, *(pair.ratio for pair in found if pair.ratio is not None)])
    columns = (
        Column("Systems", "name", "systems", data=True),
        Column("Times as many", short="times as many", main=True),
        Column("", "chart"),
        Column("Score difference", short="score difference"),
        Column("Won–even–lost", short="won–even–lost"),
        Column("win rate", where="terminal"),
        Column("p", where="terminal" if several else "both"),
        Column("p of scores", where="terminal"),
        *([Column("Adjusted p", short="adjusted p")] if several else []),
        Column("Outcome", "words", "outcome"),
    )
    keys = [
        Key(f"{level(analysis)} interval", SWATCHES["interval"]),
        Key("as many", SWATCHES["chance"]),
        Key("score difference: below 0 the first is better"),
    ]
    if not all(map(axis.holds, ends)):
        keys.append(Key("‹ ›: the interval goes on beyond the axis"))
    rows = [_pair(analysis, pair, several) for pair in found]
    noted = [
        (pair, f"{against(pair.first, pair.second)}: {_note(pair)}") for pair in found if pair.ratio_note
    ]
    added = tuple(note for pair, note in noted if pair.ratio is not None)
    table = _board("Against each other", columns, rows, axis=axis, legend=tuple(keys), notes=added)
    without = [note for pair, note in noted if pair.ratio is None]  # the page has it in place of a bar
    return [table, *(Prose(note, "note-line", "terminal") for note in without)]


def _note(pair: PairDifference) -> str:
    return words.stop(quoted(pair.ratio_note or "no ratio can be given"))


def _pair(analysis: StudyAnalysis, pair: PairDifference, several: bool) -> Row:
    names = against(pair.first, pair.second)
    value = Cell.by(lambda *_: ratio(pair), pair.ratio, pair.ratio_ci)
    bar = _bar(bare(names), value, ("chance", 1.0))
    cells = [
        Cell(names),
        value,
        Cell("" if bar else sentence(_note(pair)), bar=bar),
        Cell.by(signed, pair.score_difference, pair.score_ci),
        Cell(f"{pair.wins}–{pair.ties}–{pair.losses}", title=f"win rate {win_rate(pair)}"),
        Cell.by(lambda *_: win_rate(pair), pair.win_rate, pair.win_ci),
        Cell.by(p_value, pair.p_permutation),
        Cell.by(p_value, pair.p_score),
        *([Cell.by(p_value, pair.p_adjusted)] if several else []),
        Cell(cautions.outcome(analysis, pair)),
    ]
    tone = "level" if cautions.open_(pair) else "leader"
    return Row(tuple(cells), tone if bar else f"{tone} valueless")


def _grid(title: str, rows: Sequence[dict[str, object]], *notes: str, **more: Any) -> Table:  # noqa: ANN401
    """Return a table of texts, each row by its heads; columns that say nothing are left out."""
    heads, cells = list(rows[0]) if rows else [], [row.values() for row in rows]
    remarks = ("remark", "same direction")
    table = Table.of_texts(title, heads, cells, words=remarks, notes=notes, **_IN_TERMINAL, **more)
    return table.without_empty()


def needed(analysis: StudyAnalysis) -> Table:
    """Return how much rating would show what was seen."""
    rows = [
        {
            "systems": against(pair.first, pair.second),
            "queries": Cell.by(count, row.queries),
            "raters": Cell.by(count, row.raters),
            "power": Cell.by(percent, row.power),
            "remark": row.note or "",
        }
        for row, pair in needed_pairs(analysis)
    ]
    note = (
        "Queries: with as many raters. Raters: on the same queries. Both in all, not in addition. The "
        "difference seen is itself uncertain: read these as rough sizes."
    )
    return _grid("How much rating it takes", rows, note, data=True)


def looks(analysis: StudyAnalysis) -> Table:
    """Return the looks at the study."""
    rows = [
        {
            "look": str(row.number),
            "of the plan": Cell.by(percent, row.fraction),
            "error spent": Cell.by(_error, row.spent),
            "tests at": Cell.by(_error, row.level),
            "passes": MISSING if not row.reached else "yes" if row.stop else "no",
            "remark": row.note or "",
        }
        for row in sorted(analysis.looks, key=lambda row: row.number)
    ]
    return _grid("Looks", rows, titled=False)


def _error(share: float) -> str:
    return "<0.0001" if share < 0.0001 else f"{share:.4f}"


def against_bkr(analysis: StudyAnalysis) -> Table:
    """Return people against BkR, query by query."""
    found = with_bkr(analysis)
    same = {True: "yes", False: "no", None: MISSING}
    rows = [
        {
            "systems": against(row.first, row.second),
            bkr_name(found[0]): Cell.by(numbers.signed, row.difference, row.ci),
            "same direction": same[row.same_direction],
            "correlation": Cell.by(amount, row.correlation, row.correlation_ci),
            "remark": row.note or "",
        }
        for row in found
    ]
    note = (
        "The first system's BkR less the second's, and how far, over queries, this difference goes "
        f"together with the difference in {wanted(analysis)} suggestions."
    )
    return _grid("People and Backretrieval", rows, note, data=True, titled=False)


def raters(analysis: StudyAnalysis) -> Table:
    """Return how each rater rated; counts that are nothing for everybody are left out."""
    counts = ("n_missing", "repeats", "controls")
    some = {name: any(getattr(row, name) for row in analysis.raters) for name in counts}
    rows = [
        {
            "rater": row.rater,
            "ratings": Cell.by(count, row.n_ratings),
            "missing": Cell.by(count, row.n_missing if some["n_missing"] else None),
            "mean score": Cell.by(amount, row.mean_score),
            "repeats": Cell.by(count, row.repeats if some["repeats"] else None),
            "same score": Cell.by(percent, row.repeats_equal),
            "within a step": Cell.by(percent, row.repeats_near),
            "controls": Cell.by(count, row.controls if some["controls"] else None),
            "passed": Cell.by(percent, row.controls_passed),
            "time of each": Cell.by(numbers.duration, row.seconds),
            "remark": row.flagged or "",
        }
        for row in analysis.raters
    ]
    return _grid("Raters", rows, data=True, titled=False)
