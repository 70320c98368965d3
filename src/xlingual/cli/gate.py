"""`xlingual gate`: may the candidate replace the baseline? The answer is the exit code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.options import check_output
from xlingual.errors import InputError, why

if TYPE_CHECKING:
    from xlingual.results.gate import Gate

_SUMMARY = "GITHUB_STEP_SUMMARY"
_CODES = {"pass": 0, "fail": 1, "cannot tell": 3}


@click.command()
@click.argument("candidate", metavar="CANDIDATE")
@click.argument("baseline", metavar="BASELINE")
@click.option("--margin", type=float, required=True, metavar="M", help="How much worse is acceptable: 0.01.")
@click.option("--measure", metavar="NAME", help="R@k, RR, SIM, AP ….  [default: the first of the results]")
@click.option("--task", metavar="NAME", help="Needed where the results are of several tasks.")
@click.option(
    "--pairs",
    default="",
    metavar="LIST",
    help="Decide on these language pairs only: en-de,de-en.  [default: all; both must have the same]",
)
@click.option("--per-pair", is_flag=True, help="Decide each language pair; all must pass.")
@click.option(
    "--by",
    metavar="COLUMN",
    help="Decide each label of a column, such as language in a pool; all must pass.",
)
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Chance of a wrong pass, and fail."
)
@click.option("--github", is_flag=True, help=f"Append a summary to the file that {_SUMMARY} names.")
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write JUnit XML there.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write gate.json there.")
@click.option("--replicates", type=click.IntRange(min=1), default=4999, show_default=True, metavar="N")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random numbers."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of sentences.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors; the exit code tells.")
def gate(
    candidate: str,
    baseline: str,
    github: bool,
    junit: Path | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    pairs: str,
    **options: Any,  # noqa: ANN401
) -> int:
    """Pass a CANDIDATE that is no worse than the BASELINE by more than a margin.

    Both are DIR#ENCODER, or folders of results with one encoder. Exit codes: 0 pass, 1 fail, 2 bad input,
    3 cannot tell (and how many more queries would).
    """
    from xlingual.comparison.gate import gate as decide
    from xlingual.report.gate import sentences
    from xlingual.results.gate import FILE

    check_output(out, False, "gate")
    summary = _summary_file() if github else None
    if junit is not None and junit.is_dir():
        raise InputError(f"--junit {junit} is a folder: name a file")
    with screen.warnings_as_lines():
        found = decide(
            candidate, baseline, pairs=[name.strip() for name in pairs.split(",") if name.strip()], **options
        )
    try:
        if as_json:
            screen.print_json(found.to_dict())
        elif not quiet:
            _print(found, sentences(found))
    finally:  # also where the reader of standard output has gone
        if out is not None:
            found.write(out / FILE)
            screen.wrote(out / FILE, quiet=quiet)
        _write(found, summary, junit, quiet)
    return _CODES[found.outcome]


def _summary_file() -> Path:
    name = os.environ.get(_SUMMARY)
    if not name:
        raise InputError(
            f"--github appends to the file that the environment variable {_SUMMARY} names, which is not set: "
            "use it in a step of GitHub Actions, or leave it out"
        )
    return Path(name)


def _write(found: Gate, summary: Path | None, junit: Path | None, quiet: bool) -> None:
    """Write both files; raise InputError, when both have been tried, where one cannot be written."""
    from xlingual.files import replacing
    from xlingual.report import gate as report

    problems = []
    if junit is not None:
        try:
            junit.parent.mkdir(parents=True, exist_ok=True)
            with replacing(junit) as path:
                path.write_bytes(report.junit(found).encode("utf-8", "replace"))
            screen.wrote(junit, quiet=quiet)
        except OSError as error:
            problems.append(f"--junit {junit} cannot be written ({why(error)}): name another file")
    if summary is not None:
        try:
            with summary.open("ab") as handle:
                handle.write(report.markdown(found).encode("utf-8", "replace") + b"\n")
        except OSError as error:
            problems.append(
                f"the file that {_SUMMARY} names, {summary}, cannot be written ({why(error)}): "
                "set it to another, or leave out --github"
            )
    if problems:
        raise InputError(f"{'; '.join(problems)}. The decision, {found.outcome}, is not changed by this")


def _print(found: Gate, said: list[str]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from xlingual.report.gate import header, rows
    from xlingual.report.terminal import plain_table

    console = screen.console()
    console.print()
    console.print(Padding(Text(said[0], style="bold"), (0, 0, 0, 1)))
    if len(found.decisions) > 1:
        table = plain_table()
        heads = header(found)
        shown = [i for i, name in enumerate(heads) if name != "queries" or console.width >= 100]
        for i in shown:
            table.add_column(heads[i], justify="left" if i < 2 else "right", no_wrap=True)
        for cells in rows(found):
            table.add_row(*(Text(cells[i]) for i in shown))
        console.print(table)
    for sentence in [*said[1:], *found.warnings]:
        console.print(Padding(sentence, (0, 0, 0, 1)), markup=False)
