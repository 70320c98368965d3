"""The page of a comparison: a board for each measure, those of its parts folded below it."""

from __future__ import annotations

from dataclasses import replace

from xlingual.report import numbers, words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Block, Finding, Fold, Page, Prose, Section
from xlingual.report.figures.bars import SWATCHES
from xlingual.report.findings.comparison import CORRECTIONS, difference, findings, heading, parts_of, size
from xlingual.report.table import Badge, Bar, Cell, Column, Key, Row, Table, TableRoom
from xlingual.results import comparison as record
from xlingual.results.comparison import Board, Comparison
from xlingual.tasks import task_of

TERMS = {
    "Difference": "The encoder's value minus the baseline's, on the same queries. The interval is the "
    "range of values for another sample of the same size from the same source; it is not "
    "corrected for the number of comparisons.",
    "Adjusted p": "The probability of a difference this large if the two encoders are equally good, "
    "corrected for the number of tests in its table (language pairs together, slices of one "
    "column together).",
    **dict([words.NO_DIFFERENCE]),
    "Equivalent": "Two one-sided tests show that the difference is smaller than the margin, either way. Only "
    "with a margin.",
    "Rank": "The possible ranks after corrected tests of all pairs of encoders. The best possible rank is "
    "1 plus the number of encoders shown to be better. The worst is the number of encoders "
    "minus those shown to be worse.",
}
_TONES = {record.BETTER: "behind", record.WORSE: "behind", record.BASELINE: "leader"}  # of rows, else level
_COLUMNS = (
    Column("Rank", "rank", "rank"),
    Column("Encoder", "name", "encoder", data=True),
    Column("Value", short="value", main=True),
    Column("", "chart"),
    Column("Difference", short="difference"),
    Column("p", where="terminal"),
    Column("Adjusted p", short="adjusted p"),
    Column("Outcome", "words", "outcome"),
)
_CSV = (
    *("task", "measure", "source", "target", "column", "label", "baseline", "encoder", "value"),
    *("difference", "ci_low", "ci_high", "p", "p_adjusted", "p_equivalent", "outcome"),
    *("rank_low", "rank_high", "n_queries", "n_clusters", "note"),
)


def page(comparison: Comparison, *, title: str | None = None) -> Page:
    """Return the page of a comparison: a board for each measure, those of its parts folded below it."""
    sections = [_section(board, comparison) for board in comparison.boards if board.overall]
    notes = [Prose(note, where="terminal") for note in comparison.notes]
    sections[-1] = replace(sections[-1], blocks=[*sections[-1].blocks, *notes])
    encoders = list(dict.fromkeys(row.encoder for board in comparison.boards for row in board.rows))
    return Page(
        kind="comparison",
        title=title or f"Comparison of {len(encoders)} encoders",
        verdict=[Finding(findings(comparison))],
        sections=sections,
        facts=_facts(comparison, len(encoders)),
        about=words.explained(*((board.task, board.measure) for board in comparison.boards)),
        terms=list(TERMS.items()),
        warnings=comparison.notes,
        conditions=_conditions(comparison),
        names=encoders,
    )


def _section(whole: Board, comparison: Comparison) -> Section:
    parts = parts_of(whole, comparison)
    folds = [Fold(heading(part), _blocks(part, comparison), size(part)) for part in parts]
    about = f"{size(whole)}. Baseline: {whole.baseline}."
    return Section(heading(whole), [*_blocks(whole, comparison), *folds], about)


def _blocks(board: Board, comparison: Comparison) -> list[Block]:
    return [_table(board, comparison), *(Prose(remark, where="both") for remark in remarks(board))]


def _table(board: Board, comparison: Comparison) -> Table:
    margin, level = comparison.margin, numbers.percent(1 - comparison.alpha)
    ends = [end for row in board.rows if row.ci for end in (row.ci.low, row.ci.high)]
    ranked = any(row.rank_low is not None for row in board.rows)
    lines = () if margin is None else (("ceiling", -margin), ("ceiling", margin))
    legend = [
        Key(f"difference from {board.baseline} with its {level} interval", SWATCHES["interval"]),
        Key("no difference", SWATCHES["chance"]),
        *([Key("margin of equivalence", SWATCHES["ceiling"])] if lines else []),
        *([Key("no encoder is shown to be better", badge=Badge("top", "soft"))] if ranked else []),
    ]
    rows, records = [], []
    for row in board.rows:
        badges = [Badge("baseline", where="page")] if row.encoder == board.baseline else []
        badges += [Badge("top", "soft", where="page")] if ranked and row.top else []
        gap = difference(row, board.measure, margin)
        ranks = [rank for rank in (row.rank_low, row.rank_high) if rank is not None]
        between = {} if row.ci is None else {"ci_low": row.ci.low, "ci_high": row.ci.high}
        records.append({k: between.get(k, getattr(row, k, getattr(board, k, None))) for k in _CSV})
        cells = (
            Cell(numbers.span(ranks) if ranks else ""),
            Cell(row.encoder, badges=tuple(badges)),
            Cell.of(row.value, measure=board.measure),
            Cell(bar=Bar(row.difference, gap.ends, (*lines, ("chance", 0.0)), f"{row.encoder}: {gap.plain}")),
            gap,
            Cell.by(numbers.p_value, row.p),
            Cell.by(numbers.p_value, row.p_adjusted),
            Cell(row.outcome),
        )
        rows.append(Row(cells if ranked else cells[1:], _TONES.get(row.outcome, "level")))
    return Table.board(
        heading(board),
        _COLUMNS if ranked else _COLUMNS[1:],
        rows,
        axis_for([0.0, *ends, *(row.difference for row in board.rows)]),
        legend=tuple(legend),
        looks=(
            TableRoom(),
            *(TableRoom(dropped=dropped, names=16) for dropped in ((), ("p",), ("p", "adjusted p"))),
        ),
        records=records,
        about=f"{size(board)}; baseline {board.baseline}",
    )


def remarks(board: Board) -> list[str]:
    """Return the remarks on outcomes; encoders with the same remark together."""
    found: dict[str, list[str]] = {}
    for row in board.rows:
        if row.note:
            unvaried = row.ci is not None and row.ci.method.startswith("rule of three")
            method = f" (interval: {row.ci.method})" if row.ci is not None and unvaried else ""
            found.setdefault(row.note + method, []).append(row.encoder)
    return [words.stop(f"{numbers.in_words(names)}: {note}") for note, names in found.items()]


def _facts(comparison: Comparison, n_encoders: int) -> list[tuple[str, str]]:
    """Return how much was compared; a pool, which is taken whole, has languages where others have pairs."""
    whole = comparison.boards[0]
    counts = [
        (n_encoders, "encoder", "encoders"),
        (whole.n_queries, "query answered", "queries answered"),
        (whole.n_clusters, "cluster", "clusters"),
    ]
    if not task_of(whole.task).whole:
        counts += [(whole.n_pairs, "language pair", "language pairs"), (whole.n_seeds, "seed", "seeds")]
    elif languages := comparison.conditions.get("languages"):
        counts.append((len(languages.split(",")), "language", "languages"))
    return numbers.facts(*counts)


def _conditions(comparison: Comparison) -> list[tuple[str, list[str]]]:
    settings = {
        "correction": CORRECTIONS.get(comparison.correction, "none"),
        "significance level": f"{comparison.alpha:g}",
        "margin of equivalence": "–" if comparison.margin is None else f"±{comparison.margin:g}",
        "replicates": numbers.span([board.replicates for board in comparison.boards]),
        "seed": str(comparison.seed),
        **comparison.conditions,
    }
    return [(key, [value]) for key, value in settings.items()]
