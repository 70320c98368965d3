"""What becomes of results: written to a folder, shown on the screen, and made into a report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.cli import screen

if TYPE_CHECKING:
    from xlingual.results import Results


def write_and_show(results: Results, given: Mapping[str, Any]) -> None:
    """Write what an evaluation found into --out, and print it, as the output options say."""
    out: Path | None = given["out"]
    if out is not None:
        results.write(out)
    screen.show_results([results], as_json=given["as_json"], quiet=given["quiet"])


def say_written(results: Results, given: Mapping[str, Any]) -> None:
    """Say which files were written; with --report, write the report first."""
    out: Path | None = given["out"]
    if out is None:
        return
    screen.wrote(out / "results.json", quiet=given["quiet"])
    if given["report"]:
        from xlingual.report import write_report

        write_report([results], out / "report.html")
        screen.wrote(out / "report.html", quiet=given["quiet"])
