"""`xlingual plan`: how many queries show a difference, and what difference these can show."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.checks import check_output
from xlingual.cli.from_request import command, keywords
from xlingual.requests import signed
from xlingual.requests.comparing import PlanRequest


@command(PlanRequest)
def plan(asked: PlanRequest) -> None:
    """Say how many queries show a difference, and what difference these queries can show.

    RESULTS are folders that `xlingual evaluate … --out DIR` wrote; DIR#ENCODER names one encoder of a folder.
    The pool of candidates stays as it is.
    """
    from xlingual.comparison.plan import plan as make

    check_output(asked.out, False, "plan")
    with screen.warnings_as_lines():
        found = signed(make(asked.results, **keywords(asked, make)), asked)
    screen.show(found, asked)
    if asked.out is not None:
        found.write(asked.out / found.file)
        screen.wrote(asked.out / found.file, quiet=False)
