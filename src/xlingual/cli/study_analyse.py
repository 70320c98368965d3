"""`xlingual study analyse`: from ratings to a verdict; the only verb that opens the key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.options import check_output
from xlingual.errors import InputError


@click.command(short_help="Say whose suggestions people find better.")
@click.argument("study", type=click.Path(path_type=Path), metavar="STUDY")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write analysis.json there.")
@click.option("--report", is_flag=True, help="Write report.html there, too.")
@click.option(
    "--looks",
    metavar="LIST",
    help="Fractions of the planned ratings at which you look: 0.5,1. Tests are corrected for it.",
)
@click.option(
    "--planned",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ratings of systems' suggestions that were planned.  [default: of all --raters of study new]",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of intervals; tests err in 1 − level.",
)
@click.option("--replicates", type=click.IntRange(min=1), default=4999, show_default=True, metavar="N")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random numbers."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of sentences.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def analyse(
    study: Path,
    out: Path | None,
    report: bool,
    looks: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Say what people found in STUDY: whose suggestions are better, by how much, and how sure that is.

    Opens STUDY/secret/key.json, which says which system made what: analyse when rating has ended, or at looks
    that were planned (--looks).
    """
    from xlingual.study.analysis import analyse as run
    from xlingual.study.database import Ratings
    from xlingual.study.folder import read_key, read_study

    check_output(out, report)
    fractions = _fractions(looks)
    made = read_study(study)
    with Ratings(study) as kept:
        ratings = kept.all()
    found = run(made, read_key(study, made), ratings, looks=fractions, **options)
    try:
        if as_json:
            screen.print_json(found.to_dict())
        elif not quiet:
            from xlingual.report.study import show

            show(screen.console(), found)
    finally:  # also where the reader of standard output has gone
        if out is not None:
            found.write(out)
            screen.wrote(out / "analysis.json", quiet=quiet)
        if out is not None and report:
            from xlingual.report.study import write_study

            write_study(found, out / "report.html")
            screen.wrote(out / "report.html", quiet=quiet)


def _fractions(looks: str | None) -> list[float] | None:
    if looks is None:
        return None
    try:
        return [float(each) for each in looks.split(",")]
    except ValueError as error:
        raise InputError(
            f"--looks {looks!r}: expected fractions of the planned ratings joined by commas, such as 0.5,1"
        ) from error
