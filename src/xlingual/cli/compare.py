"""`xlingual compare`: which encoder is better on the same queries, and which differences are luck."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from xlingual.results.comparison import Board, Comparison

_FORMATS = ("table", "markdown", "latex", "csv", "json")


@click.command()
@click.argument("results", nargs=-1, required=True, metavar="RESULTS…")
@click.option("--baseline", metavar="DIR#ENCODER", help="Hold all others against it.  [default: the leader]")
@click.option(
    "--measure", "measures", multiple=True, metavar="NAME", help="R@10, RR, SIM …; repeat for several."
)
@click.option(
    "--by", multiple=True, metavar="COLUMN", help="Compare on each part too: a column of the manifest."
)
@click.option("--per-pair", is_flag=True, help="Compare on each language pair too.")
@click.option(
    "--margin", type=float, metavar="M", help="Smaller differences do not matter: test equivalence."
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level.")
@click.option(
    "--correction",
    type=click.Choice(["holm", "bh", "none"]),
    default="holm",
    show_default=True,
    help="For the number of tests: Holm, Benjamini–Hochberg, none.",
)
@click.option(
    "--replicates",
    type=click.IntRange(min=1),
    metavar="N",
    help="Of each test.  [default: 1999, more where many tests are corrected for]",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random numbers."
)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="table", show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write comparison.json, report.html."
)
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
def compare(
    results: tuple[str, ...],
    form: str,
    out: Path | None,
    quiet: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Compare encoders query by query: who is better, and which differences are real.

    RESULTS are folders that `xlingual evaluate … --out DIR` wrote; DIR#ENCODER names one encoder of a folder.
    Numbers are compared only where data, samples and other conditions are equal.
    """
    from xlingual.comparison.compare import compare as run
    from xlingual.report.comparison import verdict, write_comparison

    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: name a folder")
    with screen.warnings_as_lines(), screen.progress(quiet or form == "json") as progress:
        found = run(results, progress=progress, **options)
    sentences = verdict(found)
    if out is not None:
        found.write(out)
        write_comparison(found, out / "report.html")
    if not quiet:
        _show(found, form, sentences)
    if out is not None:
        screen.wrote(out / "comparison.json", quiet=quiet)
        screen.wrote(out / "report.html", quiet=quiet)


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
