"""Writing results to a folder, showing them on the screen, and making their report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xlingual.cli import screen

if TYPE_CHECKING:
    from xlingual.requests.shared import Output
    from xlingual.results import Results
    from xlingual.results.document import FolderDocument


def write_and_show(found: Results | FolderDocument, request: Output) -> None:
    """Write results to --out, and print them, as the output options say."""
    if request.out is not None:
        found.write(request.out)
    screen.show(found, request)


def say_written(
    found: Any,  # noqa: ANN401
    request: Any,  # noqa: ANN401
    file: str = "results.json",
) -> None:
    """Say which files were written, unless the request is quiet; with --report write the report first."""
    out = request.out
    if out is None:
        return
    screen.wrote(out / file, quiet=request.quiet)
    if request.report:
        from xlingual.report import write_report

        write_report(found, out / "report.html")
        screen.wrote(out / "report.html", quiet=request.quiet)
