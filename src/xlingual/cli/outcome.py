"""What becomes of results: written to a folder, shown on the screen, and made into a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.cli import screen

if TYPE_CHECKING:
    from xlingual.requests.output import Output
    from xlingual.results import Results
    from xlingual.results.validation import Validation


def write_and_show(found: Results | Validation, asked: Output, file: str = "results.json") -> None:
    """Write what was found into --out, print it, and say which files were written.

    With --report, a report is one of them.
    """
    if asked.out is not None:
        found.write(asked.out)
    screen.show(found, asked)
    if asked.out is not None:
        screen.wrote(asked.out / file, quiet=asked.quiet)
        if asked.report:
            report(found, asked.out, quiet=asked.quiet)


def report(found: Any, folder: Path, *, quiet: bool) -> None:  # noqa: ANN401  (a record of results)
    """Write the report of what was found into a folder, and say so."""
    from xlingual.report import write_report

    write_report(found, folder / "report.html")
    screen.wrote(folder / "report.html", quiet=quiet)
