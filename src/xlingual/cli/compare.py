"""`xlingual compare`: which encoder is better on the same queries, and which differences are luck."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from xlingual.cli import screen
from xlingual.cli.from_request import command, keywords
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.comparing import CompareRequest

if TYPE_CHECKING:
    from rich.table import Table

    from xlingual.results.comparison import Board, Comparison


@command(CompareRequest)
def compare(asked: CompareRequest) -> None:
    """Compare encoders query by query: who is better, and which differences are real.

    RESULTS are folders that `xlingual evaluate … --out DIR` wrote; DIR#ENCODER names one encoder of a folder.
    Numbers are compared only where data, samples and other conditions are equal.
    """
    from xlingual.comparison.compare import compare as run
    from xlingual.report.comparison import verdict, write_comparison

    out = asked.out
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: name a folder")
    with screen.warnings_as_lines(), screen.progress(asked.quiet or asked.form == "json") as progress:
        found = signed(run(**keywords(asked, run), progress=progress), asked)
    sentences = verdict(found)
    if out is not None:
        found.write(out)
        write_comparison(found, out / "report.html")
    if not asked.quiet:
        _show(found, asked.form, sentences)
    if out is not None:
        screen.wrote(out / "comparison.json", quiet=asked.quiet)
        screen.wrote(out / "report.html", quiet=asked.quiet)


def _show(found: Comparison, form: str, sentences: list[str]) -> None:
    """Print the comparison in a format."""
    if form == "json":
        screen.print_json(found.to_dict())
    elif form == "table":
        _print_boards(found, sentences)
    else:
        from xlingual.report.comparison import as_text

        click.echo(as_text(found, form, sentences).encode(), nl=False)


def _print_boards(found: Comparison, sentences: list[str]) -> None:
    from rich.padding import Padding

    from xlingual.report.comparison import remarks
    from xlingual.report.terminal import fitting

    console = screen.console()
    for board in found.boards:
        console.print()
        console.print(fitting(console, _forms(board, found.margin), instead="--format csv"))
        for remark in remarks(board):
            console.print(Padding(remark, (0, 0, 0, 1)), markup=False)
    console.print()
    for note in found.notes:
        console.print(Padding(note, (0, 0, 0, 1)), markup=False)
    for sentence in sentences:
        console.print(Padding(sentence, (0, 0, 0, 1)), markup=False)


def _forms(board: Board, margin: float | None) -> Iterator[Table]:
    """Yield tables of the board, the widest first."""
    for dropped, width in (((), 28), (("p",), 28), (("p",), 16), (("p", "adjusted p"), 16)):
        yield _table(board, margin, dropped, width)


def _table(board: Board, margin: float | None, dropped: tuple[str, ...], name_width: int) -> Table:
    from rich.text import Text

    from xlingual.report.comparison import lines, title
    from xlingual.report.comparison.tables import HEADER
    from xlingual.report.terminal import plain_table

    rows = lines(board, margin)
    shown = [
        i for i, name in enumerate(HEADER) if name not in dropped and any(row.cells()[i] for row in rows)
    ]
    table = plain_table(title(board))
    for i in shown:
        if HEADER[i] == "encoder":
            table.add_column("encoder", overflow="fold", min_width=12, max_width=name_width)
        else:
            table.add_column(HEADER[i], justify="left" if HEADER[i] == "outcome" else "right", no_wrap=True)
    for row in rows:
        style = "bold" if row.baseline else ""
        table.add_row(*(Text(row.cells()[i], style=style) for i in shown))
    return table
