"""`xlingual plan`: how many queries show a difference, and what difference these can show."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.checks import check_output
from xlingual.cli.from_request import command, keywords
from xlingual.requests import signed
from xlingual.requests.comparing import PlanRequest


@command(PlanRequest)
def plan(request: PlanRequest) -> None:
    """Compute how many queries show a given difference, and which difference the present queries can show.

    RESULTS are folders that `xlingual evaluate … --out DIR` wrote; DIR#ENCODER names one encoder of a folder.
    The calculation assumes the same pool of candidates.
    """
    from xlingual.comparison.plan import plan as make

    check_output(request.out, False, "plan")
    with screen.warnings_as_lines():
        found = signed(make(request.results, **keywords(request, make)), request)
    screen.show(found, request)
    if request.out is not None:
        found.write(request.out / found.file)
        screen.wrote(request.out / found.file, quiet=False)
