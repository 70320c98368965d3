"""What becomes of results: written to a folder, shown on the screen, and made into a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.cli import screen

if TYPE_CHECKING:
    from xlingual.requests.output import Output
    from xlingual.results import Results


def write_and_show(results: Results, asked: Output) -> None:
    """Write what an evaluation found into --out, and print it, as the output options say."""
    if asked.out is not None:
        results.write(asked.out)
    screen.show(results, form=asked.form, as_json=asked.as_json, quiet=asked.quiet)


def say_written(results: Results, asked: Output) -> None:
    """Say which files were written; with --report, write the report first."""
    out = asked.out
    if out is None:
        return
    screen.wrote(out / "results.json", quiet=asked.quiet)
    if asked.report:
        from xlingual.report import write_report

        write_report([results], out / "report.html")
        screen.wrote(out / "report.html", quiet=asked.quiet)
