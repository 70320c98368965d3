"""`xlingual history`: how results changed over time or from version to version."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.from_request import command, keywords
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.history import HistoryRequest


@command(HistoryRequest)
def history(request: HistoryRequest) -> None:
    """Show how results changed over time or between versions, and which changes are real.

    FILE is a history that `evaluate` or `gate` wrote with --record FILE. Each record of an encoder is
    compared with the record before, query by query. The tests are corrected for their number.
    """
    from xlingual.comparison.history.exporting import check_export, write_export
    from xlingual.comparison.history.recording import record
    from xlingual.comparison.history.trend import trend
    from xlingual.report import write_report

    if request.out is not None and (
        request.out.is_dir() or request.out.suffix.lower() not in (".html", ".htm")
    ):
        raise InputError(f"--out {request.out} is no name of a page: name a file, such as history.html")
    if request.export is not None:
        check_export(request.export)
    if request.label is not None and len(request.import_from) != 1:
        raise InputError(
            "--label names one folder that is imported: give --import FOLDER once, or leave it out"
        )
    with screen.warnings_as_lines():
        for folder in request.import_from:
            made = record(folder, request.history, request.label)
            if not screen.silent(request):
                screen.note(
                    f"{folder} is recorded with the date {made.date}{f' ({made.note})' if made.note else ''}"
                )
        with screen.progress(screen.silent(request)) as progress:
            found = signed(trend(**keywords(request, trend), progress=progress), request)
    if request.out is not None:
        write_report(found, request.out)
    if request.export is not None:
        write_export(found, request.export)
    screen.show(found, request)
    for path in filter(None, (request.out, request.export)):
        screen.wrote(path, quiet=request.quiet)
