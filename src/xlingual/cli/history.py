"""`xlingual history`: how results changed over time or from version to version."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.checks import check_folder
from xlingual.cli.from_request import command, keywords
from xlingual.requests import signed
from xlingual.requests.history import HistoryRequest


@command(HistoryRequest)
def history(request: HistoryRequest) -> None:
    """Show how results changed over time or between versions, and which changes are real.

    FOLDER holds a folder of results for each version, as `xlingual evaluate … --out FOLDER/v1.4` writes it;
    its name is the label. Each record of an encoder is compared with the record before, query by query. The
    tests are corrected for their number.
    """
    from xlingual.comparison.history import history as changes
    from xlingual.report import write_report

    if request.out is not None:
        check_folder(request.out)
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as progress:
        found = signed(changes(**keywords(request, changes), progress=progress), request)
    if request.out is not None:
        found.write(request.out)
        write_report(found, request.out / "report.html")
    screen.show(found, request)
    if request.out is not None:
        for name in (found.file, "report.html"):
            screen.wrote(request.out / name, quiet=request.quiet)
