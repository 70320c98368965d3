"""Textual similarity in the terminal: files by encoders as far as there is room, else one line for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xlingual.report import numbers, tables
from xlingual.report.sts.reading import MEAN, TASK, Cell, Grid, grid_of
from xlingual.report.sts.sentences import p_text
from xlingual.report.terminal import of_lines, plain_table
from xlingual.results import Results

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

MEAN_NAME = "mean of files"
NAME_WIDTHS = (28, 14)  # longer names are folded
BEST, REAL = "*", "†"
INTERVAL = "95 % interval"
REFERENCE = "reference"


def show(console: Console, results: Results | Sequence[Results], measure: str) -> None:
    """Print the agreements of each run by file and encoder, and what the marks mean."""
    runs = tables.as_runs(results)
    for place, run in enumerate(runs, 1):
        grid = grid_of(run, measure)
        if grid is None:
            continue
        title = f"{TASK} · {measure} · {grid.language}"
        console.print()
        console.print(_fitting(console, grid, f"{title} (run {place})" if len(runs) > 1 else title))
        _explain(console, grid)


def _fitting(console: Console, grid: Grid, title: str) -> Table:
    """Return the widest form that fits, the last one where none does."""
    from rich.measure import Measurement

    table = None
    for table in _forms(grid, title):
        if Measurement.get(console, console.options.update(width=10_000), table).maximum <= console.width:
            break
    if table is None:
        raise ValueError("no form to choose from")
    return table


def _forms(grid: Grid, title: str) -> Iterator[Table]:
    yield _by_file(grid, title, NAME_WIDTHS[0], stacked=False)
    yield _by_file(grid, title, NAME_WIDTHS[0], stacked=True)
    yield _by_file(grid, title, NAME_WIDTHS[1], stacked=True)
    for dropped in ((), ("its interval",), ("its interval", INTERVAL)):
        for width in NAME_WIDTHS:
            yield _by_line(grid, title, width, dropped)


def _by_file(grid: Grid, title: str, width: int, *, stacked: bool) -> Table:
    """Return Table 2's layout: a row for each file, a column for each encoder."""
    from rich.text import Text

    table = plain_table(title)
    table.add_column("", overflow="fold", min_width=8, max_width=width)
    rows = [[_stack(grid, row, name, stacked=stacked) for name in grid.encoders] for row in grid.rows]
    widest = max(len(line) for cells in rows for cell in cells for line in cell.plain.splitlines())
    for name in grid.encoders:  # names are folded, numbers never
        table.add_column(Text(name), justify="right", overflow="fold", max_width=max(width, widest))
    for place, (row, cells) in enumerate(zip(grid.rows, rows, strict=True)):
        last = place + 1 == len(grid.rows)
        table.add_row(Text(_name(row)), *cells, end_section=not last and grid.rows[place + 1] is MEAN)
        if not last and grid.rows[place + 1] is not MEAN:
            table.add_row(*[""] * (len(cells) + 1))
    return table


def _stack(grid: Grid, row: str | None, name: str, *, stacked: bool) -> Text:
    """Return what a cell says, in lines: value and interval, difference and interval."""
    cell = grid.cells[row, name]
    value, interval = _value(cell), numbers.interval(cell.ci)
    lines = [(value, "bold" if cell.best else ""), (interval, "")]
    if cell.against is not None:
        gap, ends = _difference(cell)
        style = "" if cell.against.is_real else "dim"
        lines += [(gap, style), (ends, style)]
    elif name == grid.reference:
        lines += [(REFERENCE, "dim"), ("", "")]
    text = of_lines()(justify="right")
    for place, (line, style) in enumerate(lines):
        if not line:
            continue
        if place:
            text.append(" " if place % 2 and not stacked else "\n")
        text.append(line, style=style)
    return text


def _by_line(grid: Grid, title: str, width: int, dropped: Sequence[str]) -> Table:
    """Return a line for each file and encoder, and say which columns are dropped for want of room."""
    from rich.text import Text

    heads = [grid.measure, INTERVAL]
    if grid.reference is not None:
        heads += ["difference", "its interval"]
        heads += ["p (Holm)"] if any(one.p_holm is not None for *_, one in grid.against) else []
    table = plain_table(title)
    if set(heads) & set(dropped):
        lost = "intervals" if INTERVAL in dropped else "intervals of differences"
        table.caption = f"{lost} are left out for lack of room: widen the window or use --json"
    for name in ("file", "encoder"):
        table.add_column(name, overflow="fold", min_width=8, max_width=width)
    for head in heads:
        if head not in dropped:
            table.add_column(head, justify="right", no_wrap=True)
    for row in grid.rows:
        for place, name in enumerate(grid.encoders):
            cells = _line(grid, row, name)
            texts = [_name(row) if place == 0 else "", name]
            texts += [cells[head] for head in heads if head not in dropped]
            style = "bold" if grid.cells[row, name].best else ""
            table.add_row(*(Text(text, style=style) for text in texts))
        if row is not grid.rows[-1]:
            table.add_row(*[""] * len(table.columns))
    return table


def _line(grid: Grid, row: str | None, name: str) -> dict[str, str]:
    """Return what a line says, by column."""
    cell = grid.cells[row, name]
    gap, ends = _difference(cell)
    return {
        grid.measure: _value(cell),
        INTERVAL: numbers.interval(cell.ci),
        "difference": REFERENCE if name == grid.reference else gap,
        "its interval": ends,
        "p (Holm)": p_text(cell.against.p_holm) if cell.against else numbers.MISSING,
    }


def _value(cell: Cell) -> str:
    return f"{numbers.number(cell.value)}{BEST if cell.best else ''}"


def _difference(cell: Cell) -> tuple[str, str]:
    """Return the difference with its sign and mark, and its interval."""
    if cell.against is None:
        return numbers.MISSING, ""
    gap, _, ends = numbers.difference(cell.against.value, cell.against.ci).partition(" ")
    sign = "+" if cell.against.value > 0 else ""
    return f"{sign}{gap}{REAL if cell.against.is_real else ''}", ends


def _name(row: str | None) -> str:
    return MEAN_NAME if row is MEAN else row


def _explain(console: Console, grid: Grid) -> None:
    """Say what the marks mean, and why numbers are missing."""
    from rich.padding import Padding
    from rich.text import Text

    said = []
    if any(cell.best for cell in grid.cells.values()):
        said.append(f"{BEST} best of its file.")
    if grid.reference is not None:
        said.append(f"Differences are to {grid.reference}; {REAL} the interval excludes 0.")
    notes: dict[tuple[str, str], list[str]] = {}
    for name in grid.encoders:
        for row in grid.files:
            if (note := grid.cells[row, name].note) is not None:
                notes.setdefault((name, note), []).append(row)
    for (name, note), where in notes.items():
        on = "" if len(where) == len(grid.files) else f" on {numbers.in_words(where)}"
        said.append(f"{name}{on}: {note}.")
    if said:
        console.print(Padding(Text(" ".join(said), style="dim"), (0, 0, 0, 1)))
