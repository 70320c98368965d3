"""The tables of a blind study's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xlingual.report import numbers, words
from xlingual.report import study_views as views
from xlingual.report.axis import axis_for, log_axis_for
from xlingual.report.blocks import Block, Prose
from xlingual.report.figures.bars import SWATCHES
from xlingual.report.figures.study import score_swatch, scores_bar
from xlingual.report.findings import study_cautions as cautions
from xlingual.report.findings.study import bkr_name, sentence
from xlingual.report.marking import against, bare, quoted
from xlingual.report.numbers import MISSING, count, ends, p_value, percent
from xlingual.report.study_views import amount, best_label
from xlingual.report.table import Bar, Cell, Column, Key, Row, Table, narrower
from xlingual.results.study import PairDifference, RaterScores, StudyAnalysis, SystemScores

LOOKS = narrower(
    *("p", "p of scores", "win rate", "of all", "within a step", "repeats", "controls", "time of each"),
    *("remark", "outcome", "same direction", "won–even–lost", "score difference"),
)
IN_VERDICT = ("outcome", "remark", "same direction")  # the verdict has them


_IN_TERMINAL: dict[str, Any] = {"looks": LOOKS, "in_verdict": IN_VERDICT, "where": "both"}


def systems(analysis: StudyAnalysis, shown: Sequence[SystemScores]) -> list[Block]:
    """Return how raters scored each system, the best first."""
    best = shown[0].system if shown else None
    differing = [(pair.first, pair.second) for pair in analysis.pairs if not cautions.open_(pair)]
    apart = {name for names in differing if best in names for name in names}
    columns = (
        Column("System", "name", "system", data=True),
        Column("Per query", short=f"{best_label(analysis)} per query", main=True),
        Column("", "chart"),
        Column("Of all", short="of all"),
        Column("Mean score", short="mean score"),
        Column("BkR"),
    )
    rows = []
    for row in shown:
        value = Cell.by(amount, row.very_relevant, row.very_relevant_ci)
        score = Cell.by(amount, row.mean_score, row.mean_score_ci)
        bar = Cell(bar=_bar(row.system, row.very_relevant, value))
        cells = (Cell(row.system), value, bar, Cell.by(percent, row.share), score, Cell.of(row.bkr))
        tone = "leader" if row.system == best else "behind" if row.system in apart else "level"
        rows.append(Row(cells, tone))
    values = [end for row in shown for end in (row.very_relevant, *ends(row.very_relevant_ci))]
    axis = axis_for([0.0, *values] if any(values) else [0.0, 1.0], floor=0.0)
    level, resampled = views.level(analysis), views.resampled(analysis)
    legend = (
        Key(f"{level} interval, {resampled} resampled", SWATCHES["interval"]),
        Key("mean score: lower is better"),
    )
    note = f"Brackets: {level} intervals, {resampled} resampled."
    table = Table.board("Systems", columns, rows, axis, legend=legend, **_IN_TERMINAL)
    return [table, Prose(note, "note-line", "terminal")]


def _bar(name: str, value: float, cell: Cell, *lines: tuple[str, float]) -> Bar:
    return Bar(value, cell.ends, lines, f"{name}: {cell.plain}", arrows=bool(lines))


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
    found = views.ordered_pairs(analysis)
    several = len(found) > 1
    interval_ends = [end for pair in found for end in ends(pair.ratio_ci)]
    axis = log_axis_for([*interval_ends, *(pair.ratio for pair in found if pair.ratio is not None)])
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
        Key(f"{views.level(analysis)} interval", SWATCHES["interval"]),
        Key("as many", SWATCHES["chance"]),
        Key("score difference: below 0 the first is better"),
    ]
    if not all(map(axis.holds, interval_ends)):
        keys.append(Key("‹ ›: the interval goes on beyond the axis"))
    rows = [_pair(pair, several) for pair in found]
    noted = [
        (pair.ratio, f"{against(pair.first, pair.second)}: {_note(pair)}")
        for pair in found
        if pair.ratio_note
    ]
    notes = tuple(note for ratio, note in noted if ratio is not None)
    without = [note for ratio, note in noted if ratio is None]  # the page has it in place of a bar
    table = Table.board(
        "Against each other", columns, rows, axis, legend=tuple(keys), notes=notes, **_IN_TERMINAL
    )
    return [table, *(Prose(note, "note-line", "terminal") for note in without)]


def _note(pair: PairDifference) -> str:
    return words.stop(quoted(pair.ratio_note or "no ratio can be given"))


def _pair(pair: PairDifference, several: bool) -> Row:
    names = against(pair.first, pair.second)
    value = Cell.by(lambda *_: views.ratio(pair), pair.ratio, pair.ratio_ci)
    tone = "level" if cautions.open_(pair) else "leader"
    if pair.ratio is None:
        tone, bar = f"{tone} valueless", Cell(sentence(_note(pair)))
    else:
        bar = Cell(bar=_bar(bare(names), pair.ratio, value, ("chance", 1.0)))
    win_rate = views.win_rate(pair)
    cells = (
        Cell(names),
        value,
        bar,
        Cell.by(views.signed, pair.score_difference, pair.score_ci),
        Cell(f"{pair.wins}–{pair.ties}–{pair.losses}", title=f"win rate {win_rate}"),
        Cell.by(lambda *_: win_rate, pair.win_rate, pair.win_ci),
        *(Cell.by(p_value, p) for p in (pair.p_permutation, pair.p_score)),
        *([Cell.by(p_value, pair.p_adjusted)] if several else []),
        Cell(pair.outcome),
    )
    return Row(cells, tone)


def _grid(title: str, rows: Sequence[dict[str, object]], *notes: str, **more: Any) -> Table:  # noqa: ANN401
    """Return a table of texts, each row by its heads; empty columns are left out."""
    heads, cells = list(rows[0]) if rows else [], [row.values() for row in rows]
    more |= {"words": ("remark", "same direction"), "notes": notes} | _IN_TERMINAL
    return Table.of_texts(title, heads, cells, **more).without_empty()


def against_bkr(analysis: StudyAnalysis) -> Table:
    """Return people against BkR, query by query."""
    found = views.with_bkr(analysis)
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
        f"together with the difference in {best_label(analysis)} suggestions."
    )
    return _grid("People and Backretrieval", rows, note, data=True, titled=False)


def raters(analysis: StudyAnalysis) -> Table:
    """Return how each rater rated; counts that are 0 for every rater are left out."""

    def counted(row: RaterScores, name: str) -> Cell:
        some = any(getattr(one, name) for one in analysis.raters)
        return Cell.by(count, getattr(row, name) if some else None)

    rows = [
        {
            "rater": row.rater,
            "ratings": Cell.by(count, row.n_ratings),
            "missing": counted(row, "n_missing"),
            "mean score": Cell.by(amount, row.mean_score),
            "repeats": counted(row, "repeats"),
            "same score": Cell.by(percent, row.repeats_equal),
            "within a step": Cell.by(percent, row.repeats_near),
            "controls": counted(row, "controls"),
            "passed": Cell.by(percent, row.controls_passed),
            "time of each": Cell.by(numbers.duration, row.seconds),
            "remark": row.flagged or "",
        }
        for row in analysis.raters
    ]
    return _grid("Raters", rows, data=True, titled=False)
