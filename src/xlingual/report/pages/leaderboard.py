"""The page of a leaderboard: all rows and columns in one table, a board for each column, quality and cost."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from msgspec import to_builtins

from xlingual.report import numbers, words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Block, Filters, Finding, Fold, Group, Legend, Page, Prose, Section
from xlingual.report.figures.bars import SWATCHES
from xlingual.report.figures.cost import Placed, against_cost, frontier
from xlingual.report.findings.comparison import CORRECTIONS
from xlingual.report.findings.leaderboard import (
    TERMS,
    above_chance,
    caption,
    findings,
    missing_reasons,
    ranks,
)
from xlingual.report.pages.cost import across_cost
from xlingual.report.table import Badge, Bar, Cell, Column, Key, Row, Table, TableRoom
from xlingual.results.leaderboard import Leaderboard, ResultCell, ResultColumn, Source
from xlingual.tasks import task_of

FOLDER = "results"  # of a site, which holds the reports
TOP = "*"  # in a terminal, after the values of those at the top
_TOP_MEANS = "no other encoder in the column is shown to be better"
_CSV = (
    *("data", "task", "measure", "encoder", "value", "ci_low", "ci_high", "rank_low", "rank_high"),
    *("top", "result", "note"),
)


def page(board: Leaderboard, *, title: str | None = None) -> Page:
    """Return the page of a leaderboard."""
    columns = board.columns
    days = sorted({day for one in board.results if (day := numbers.day(one.date or ""))})
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else ""
    return Page(
        kind="leaderboard",
        title=title or _title(board),
        verdict=[Finding(findings(board))],
        sections=[_all(board), _by_column(board), *_costs(board)],
        facts=[
            *([("evaluated", when)] if when else []),
            *numbers.facts(
                (len(board.encoders), "encoder", "encoders"),
                (len(columns), "column", "columns"),
                (len({column.data for column in columns}), "data set", "data sets"),
                (len({column.task for column in columns}), "task", "tasks"),
            ),
        ],
        about=words.explained(*((one.task, one.measure) for one in columns)),
        terms=list(TERMS.items()),
        warnings=board.warnings,
        conditions=[
            ("correction", [CORRECTIONS.get(board.correction, "none")]),
            ("significance level", [f"{board.alpha:g}"]),
            *((column.name, [_conditions(column)]) for column in columns),
        ],
        systems=[(one.name, _made(one)) for one in board.results],
        evaluated="Results",
        names=board.encoders,
        script="leaderboard.js",
    )


def _title(board: Leaderboard) -> str:
    data = numbers.in_words(list(dict.fromkeys(column.data for column in board.columns)), 4)
    return f"Leaderboard of {numbers.counted(len(board.encoders), 'encoder')} on {data}"


def _conditions(column: ResultColumn) -> str:
    return ", ".join(
        f"{key} {value}" for key, value in column.conditions.items() if key not in ("task", "measure")
    )


def _made(source: Source) -> list[str]:
    """Return where a result was read, when it was made, and its digest."""
    digest = f"digest {source.digest}" if source.digest else ""
    return [part for part in (source.folder, numbers.day(source.date or ""), digest) if part]


def _task_title(column: ResultColumn) -> str:
    return task_of(column.task).title


def _all(board: Leaderboard) -> Section:
    """Return the table of all rows and columns, what can be chosen of it, and what is missing."""
    columns = board.columns
    measures = list(dict.fromkeys(mean.measure for mean in board.means))
    choices = [
        ("data", "Data", sorted({column.data for column in columns})),
        ("task", "Task", list(dict.fromkeys(_task_title(column) for column in columns))),
        ("languages", "Language", sorted({tag for column in columns for tag in column.languages})),
    ]
    heads = [
        Column("Encoder", "name", "encoder", data=True),
        *(Column(f"Mean {measure}", marks={"mean": measure}) for measure in measures),
        *(
            Column(
                column.name,
                data=True,
                marks={
                    "data": column.data,
                    "task": _task_title(column),
                    "languages": " ".join(column.languages),
                    "measure": task_of(column.task).measure_name(column.measure),
                    **({"lower": "1"} if column.lower_is_better else {}),
                },
            )
            for column in columns
        ),
    ]
    mean_of = {(mean.encoder, mean.measure): mean.value for mean in board.means}
    cells = [{cell.encoder: cell for cell in column.cells} for column in columns]
    rows = []
    for name in board.encoders:
        means = [Cell.of(mean_of.get((name, measure))) for measure in measures]
        own = [_cell(board, column, by_name[name]) for column, by_name in zip(columns, cells, strict=True)]
        rows.append(Row((Cell(name), *means, *own)))
    table = Table(
        "All columns",
        tuple(heads),
        tuple(rows),
        style="figures leaders",
        titled=False,
        looks=(TableRoom(), TableRoom(stacked=True), TableRoom(names=16, stacked=True)),
        splits=True,
        records=_records(board),
        where="both",
    )
    legend = Legend(
        (
            Key(_TOP_MEANS, badge=Badge("1–3", "soft")),
            Key("ranks that tests leave open", badge=Badge("4–6", "outline")),
            Key("–: not evaluated"),
        )
    )
    blocks: list[Block] = [
        Group("chosen", [Filters(tuple(c for c in choices if len(c[2]) > 1)), table, legend])
    ]
    if lost := missing_reasons(columns):
        blocks.append(
            Fold(
                "Missing cells, and why",
                [Prose(line, "note-line") for line in lost],
                f"{len(lost)} groups",
                where="page",
            )
        )
    about = "A value with its interval leads to the report that has it. Columns can be sorted and filtered."
    return Section("All encoders", blocks, about)


def _cell(board: Leaderboard, column: ResultColumn, cell: ResultCell) -> Cell:
    if cell.value is None:
        return Cell(numbers.MISSING, title=cell.note or "")
    rank = ranks(cell)
    return Cell.of(
        cell.value,
        cell.ci,
        column.measure,
        gap=Cell(rank, tone="best" if cell.top else "") if rank else None,
        tone="best" if cell.top else "",
        mark=TOP if cell.top else "",
        link=_link(board, column, cell),
        title=cell.note or column.untested or "",
    )


def _link(board: Leaderboard, column: ResultColumn, cell: ResultCell) -> str:
    """Return where the report of a cell's number is; "" where it is missing."""
    source = next((one for one in board.results if one.name == cell.result), None)
    if source is None:
        return ""
    section = source.tasks.index(column.task) + 1 if column.task in source.tasks else 1
    return f"{FOLDER}/{quote(source.name)}.html#section-{section}"


def _records(board: Leaderboard) -> list[dict[str, Any]]:
    """Return a row of the CSV for each cell."""
    found = []
    for column in board.columns:
        for cell in column.cells:
            ends = {} if cell.ci is None else {"ci_low": cell.ci.low, "ci_high": cell.ci.high}
            one = {name: getattr(cell, name, getattr(column, name, None)) for name in _CSV} | ends
            found.append({"column": column.name, **one})
    return found


def _by_column(board: Leaderboard) -> Section:
    folds = [
        Fold(column.name, _of_column(board, column), caption(column), open=place == 0, where="page")
        for place, column in enumerate(board.columns)
    ]
    return Section("Column by column", [Group("by-column", folds, where="page")])


def _of_column(board: Leaderboard, column: ResultColumn) -> list[Block]:
    known = column.known
    ends = [end for cell in known for end in numbers.ends(cell.ci)]
    lines = () if column.chance is None else (("chance", column.chance),)
    legend = [Key("value with its interval", SWATCHES["interval"])] if ends else []
    legend += [Key("chance", SWATCHES["chance"])] if lines else []
    rows = []
    for cell in known:
        top = [Badge("top", "soft")] if cell.top else []
        badges = (*top, *([] if above_chance(column, cell) else [Badge("at chance", "warn")]))
        shown = Cell.of(cell.value, cell.ci, column.measure, link=_link(board, column, cell))
        bar = Bar(cell.value, numbers.ends(cell.ci) or None, lines, f"{cell.encoder}: {shown.plain}")  # type: ignore[arg-type]
        tone = "leader" if cell.top and len(column.top) == 1 else "level" if cell.top else "behind"
        rows.append(Row((Cell(ranks(cell)), Cell(cell.encoder, badges=badges), shown, Cell(bar=bar)), tone))
    heads = [
        Column("Rank", "rank"),
        Column("Encoder", "name", data=True),
        Column("Value", main=True),
        Column("", "chart"),
    ]
    axis = axis_for([*ends, *(cell.value for cell in known), *(value for _, value in lines)])
    table = Table.board(column.name, heads, rows, axis, legend=tuple(legend), where="page")
    notes = [Prose(words.stop(f"Ranks: {column.untested}"), "note-line")] if column.untested else []
    return [table, *notes]


def _costs(board: Leaderboard) -> list[Section]:
    """Return quality against cost of the columns where the cost of two encoders at least is known."""
    blocks: list[Block] = []
    for column in board.columns:
        known = [(cell, to_builtins(cell.cost)) for cell in column.known]
        name, value_of = across_cost([cost for _, cost in known])
        placed = [
            Placed(cell.encoder, cost, cell.value, numbers.ends(cell.ci) or None)  # type: ignore[arg-type]
            for cell, costs in known
            if cell.value is not None and value_of is not None and (cost := value_of(costs)) is not None
        ]
        if len({one.cost for one in placed}) > 1:
            best = frontier(placed, lower=column.lower_is_better)
            measure = task_of(column.task).measure_name(column.measure)
            figure = against_cost(placed, best, name, measure)
            blocks.append(Fold(column.name, [figure], name, open=not blocks, where="page"))
    about = (
        "On the line of steps no other is both cheaper and better. Speeds depend on the machine: "
        "compare those of one machine."
    )
    return [Section("Quality against cost", blocks, about)] if blocks else []
