"""`xlingual calibrate`: from validations to a file that turns Backretrieval into estimated retrieval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.from_request import command, keywords
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.validating import CalibrateRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from xlingual.report.calibration import ErrorRow
    from xlingual.results import Results
    from xlingual.results.calibration import Calibration


@command(CalibrateRequest)
def calibrate(asked: CalibrateRequest) -> None:
    """Learn from validations what true retrieval (XLR) a Backretrieval (BkR) stands for.

    VALIDATION is validation.json, or its folder. Use the FILE with
    `xlingual evaluate backretrieval … --calibration FILE`.
    """
    from xlingual.evaluation.calibration.calibrate import calibrate as fitted

    out = asked.out
    if out.is_dir():
        raise InputError(f"--out {out} is a folder: name a file, for example {out / 'calibration.json'}")
    found = signed(fitted(**keywords(asked, fitted)), asked)
    found.write(out)
    if asked.as_json:
        screen.print_json(found.to_dict())
    elif not asked.quiet:
        _show(found)
    screen.wrote(out, quiet=asked.quiet)


def _show(found: Calibration) -> None:
    from rich.padding import Padding

    from xlingual.report.calibration import (
        calibration_verdict,
        condition_lines,
        error_rows,
        left_out_lines,
    )
    from xlingual.report.terminal import fitting

    console = screen.console()
    console.print()
    for sentence in calibration_verdict(found):
        console.print(Padding(sentence, (0, 0, 0, 1)), markup=False)
    rows = error_rows(found)
    console.print()
    console.print(fitting(console, (_errors(rows, stacked) for stacked in (False, True))))
    for line in left_out_lines(found):
        console.print(Padding(line, (0, 0, 0, 1)), markup=False)
    console.print(
        Padding("Intervals within this data hold under these conditions:", (0, 0, 0, 1)), markup=False
    )
    for line in condition_lines(found):
        console.print(Padding(line, (0, 0, 0, 3)), markup=False)


def _errors(rows: Sequence[ErrorRow], stacked: bool) -> Table:
    """Return the table of errors; `stacked` puts intervals below their values."""
    from rich.text import Text

    from xlingual.report.terminal import plain_table

    table = plain_table("Mean absolute error of the estimated XLR (more: than that of the calibration)")
    for name in ("left out", "groups", "fit", "error", "more"):
        table.add_column(name, justify="right" if name == "groups" else "left", no_wrap=not stacked)
    for row in rows:
        values = [value.replace(" [", "\n[") if stacked else value for value in (row.error, row.more)]
        table.add_row(*(Text(cell) for cell in (row.left_out, row.groups, row.form, *values)))
    return table


def show_estimates(results: Results, calibration: Calibration) -> None:
    """Print the estimated XLR of a Backretrieval: sentences, then a table."""
    from rich.padding import Padding
    from rich.text import Text

    from xlingual.report.calibration import estimate_rows, estimate_sentences
    from xlingual.report.terminal import plain_table

    console = screen.console()
    console.print()
    for sentence in estimate_sentences(results):
        console.print(Padding(sentence, (0, 0, 0, 1)), markup=False)
    level = f"{100 * calibration.level:g} % interval"
    table = plain_table("estimated XLR")
    table.add_column("encoder", overflow="fold", min_width=12, max_width=28)
    table.add_column("pair", no_wrap=True)
    for name in ("BkR", "estimated XLR", level):
        table.add_column(name, justify="right", no_wrap=True)
    for row in estimate_rows(results):
        table.add_row(*(Text(cell) for cell in (row.encoder, row.pair, row.bkr, row.estimate, row.interval)))
    console.print()
    console.print(table)
