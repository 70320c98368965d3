"""`xlingual plan`: how many queries show a difference, and what difference these can show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.options import check_output

if TYPE_CHECKING:
    from rich.table import Table

    from xlingual.results.plan import Plan

_FORMATS = ("table", "markdown", "csv", "json")


@click.command()
@click.argument("results", nargs=-1, required=True, metavar="RESULTS…")
@click.option("--effect", type=float, required=True, metavar="E", help="The difference to show: 0.01.")
@click.option("--power", type=float, default=0.8, show_default=True, help="How often it shall be shown.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level, two-sided.")
@click.option("--baseline", metavar="DIR#ENCODER", help="Hold all others against it.  [default: the leader]")
@click.option("--measure", metavar="NAME", help="R@k, RR, SIM, AP ….  [default: the first of the results]")
@click.option("--task", metavar="NAME", help="Needed where the results are of several tasks.")
@click.option(
    "--queries", type=int, multiple=True, metavar="N", help="What would N queries show? Repeat for several."
)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="table", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write plan.json there.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def plan(
    results: tuple[str, ...],
    form: str,
    out: Path | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Say how many queries show a difference, and what difference these queries can show.

    RESULTS are folders that `xlingual evaluate … --out DIR` wrote; DIR#ENCODER names one encoder of a folder.
    The pool of candidates stays as it is.
    """
    from xlingual.comparison.plan import plan as make
    from xlingual.report.plan import as_text
    from xlingual.results.plan import FILE

    check_output(out, False, "plan")
    with screen.warnings_as_lines():
        found = make(results, **options)
    if as_json or form == "json":
        screen.print_json(found.to_dict())
    elif form == "table":
        _print(found)
    else:
        click.echo(as_text(found, form).encode(), nl=False)
    if out is not None:
        found.write(out / FILE)
        screen.wrote(out / FILE, quiet=False)


def _print(found: Plan) -> None:
    from rich.padding import Padding

    from xlingual.report.plan import sentences
    from xlingual.report.terminal import fitting

    console = screen.console()
    console.print()
    for sentence in [*sentences(found), *found.warnings]:
        console.print(Padding(sentence, (0, 0, 0, 1)), markup=False)
    console.print()
    console.print(fitting(console, _forms(found), instead="--format csv"))


def _forms(found: Plan) -> Iterator[Table]:
    """Yield tables of the plan, the widest first."""
    for width, intervals, last in ((28, True, None), (16, True, None), (16, False, None), (16, False, -1)):
        yield _table(found, width, intervals, last)


def _table(found: Plan, name_width: int, intervals: bool, last: int | None) -> Table:
    from rich.text import Text

    from xlingual.report.plan import cells, header
    from xlingual.report.terminal import of_lines, plain_table
    from xlingual.visible import visible

    if not any(
        row.planned and row.limit != 0 for row in found.rows
    ):  # no encoder has one: nothing is retrieved twice
        last = -1
    table = plain_table()
    table.add_column("encoder", overflow="fold", min_width=12, max_width=name_width)
    for head in header(found)[1:last]:
        table.add_column(of_lines()("\n".join(visible(head).rsplit(" ", 1))), justify="right", no_wrap=True)
    for row in found.rows:
        table.add_row(*(Text(cell) for cell in cells(found, row, intervals=intervals)[:last]))
    return table
