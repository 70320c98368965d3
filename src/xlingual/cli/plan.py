"""`xlingual plan`: how many queries show a difference, and what difference these can show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_output
from xlingual.cli.from_request import command, keywords
from xlingual.requests import signed
from xlingual.requests.comparing import PlanRequest

if TYPE_CHECKING:
    from rich.table import Table

    from xlingual.results.plan import Plan


@command(PlanRequest)
def plan(asked: PlanRequest) -> None:
    """Say how many queries show a difference, and what difference these queries can show.

    RESULTS are folders that `xlingual evaluate … --out DIR` wrote; DIR#ENCODER names one encoder of a folder.
    The pool of candidates stays as it is.
    """
    from xlingual.comparison.plan import plan as make
    from xlingual.report.plan import as_text
    from xlingual.results.plan import FILE

    check_output(asked.out, False, "plan")
    with screen.warnings_as_lines():
        found = signed(make(asked.results, **keywords(asked, make)), asked)
    if asked.as_json or asked.form == "json":
        screen.print_json(found.to_dict())
    elif asked.form == "table":
        _print(found)
    else:
        click.echo(as_text(found, asked.form).encode(), nl=False)
    if asked.out is not None:
        found.write(asked.out / FILE)
        screen.wrote(asked.out / FILE, quiet=False)


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
