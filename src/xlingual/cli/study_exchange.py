"""`xlingual study export` and `import`: ratings to and from files, and sheets for raters offline."""

from __future__ import annotations

from pathlib import Path

import click

from xlingual.cli import screen
from xlingual.errors import InputError, listed

_PATH = click.Path(path_type=Path)


@click.command(short_help="Write ratings to a table, or make an offline sheet.")
@click.argument("study", type=_PATH, metavar="STUDY")
@click.option("--out", type=_PATH, metavar="FILE", help="Write the ratings there: .csv or .parquet.")
@click.option("--with-key", is_flag=True, help="Add which system made what: no longer blind.")
@click.option(
    "--sheet", type=_PATH, metavar="FILE", help="Write one HTML file to rate with, without a network."
)
@click.option("--rater", metavar="NAME", help="Whose sheet it is; a name that is new becomes a rater.")
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
def export(
    study: Path, out: Path | None, with_key: bool, sheet: Path | None, rater: str | None, quiet: bool
) -> None:
    """Write the ratings of STUDY to a table, or a sheet that a rater can fill in without a network."""
    from xlingual.study.folder import read_study

    if (out is None) == (sheet is None):
        raise InputError("say what to write: ratings with --out FILE, or a rater's sheet with --sheet FILE")
    if sheet is not None and (with_key or rater is None):
        raise InputError("--sheet needs --rater NAME, and goes without --with-key")
    if out is not None and rater is not None:
        raise InputError("--rater belongs to --sheet: leave it out")
    read_study(study)  # an error that helps, before anything else
    if out is not None:
        _export_ratings(study, out, with_key, quiet)
    elif sheet is not None and rater is not None:
        _export_sheet(study, sheet, rater, quiet)


@click.command("import", short_help="Add ratings of tables and sheets.")
@click.argument("study", type=_PATH, metavar="STUDY")
@click.argument("files", type=_PATH, metavar="FILE…", nargs=-1, required=True)
@click.option(
    "--prefer",
    type=click.Choice(["file", "study"]),
    help="Which score counts where both have one, and they differ.  [default: refuse]",
)
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
def import_(study: Path, files: tuple[Path, ...], prefer: str | None, quiet: bool) -> None:
    """Add ratings to STUDY: tables (.csv, .parquet) of `export`, or what an offline sheet saved (.json).

    Importing the same file again changes nothing.
    """
    from xlingual.study.exchange import import_ratings, read_ratings, refuse_conflicts
    from xlingual.study.folder import read_study

    found = read_study(study)
    given = [(path, read_ratings(path, found)) for path in files]  # all are read before any is imported
    if prefer is None:
        refuse_conflicts(study, given)
    for path, ratings in given:
        done = import_ratings(study, ratings, prefer)
        if not quiet:
            parts = [f"{done.new} new", f"{done.same} known already"]
            parts += [f"{done.replaced} replaced"] if done.replaced else []
            parts += [f"{done.kept} that differ left out"] if done.kept else []
            parts += [f"new raters: {listed(done.raters)}"] if done.raters else []
            screen.say(f"{path}: {', '.join(parts)}")


def _export_ratings(study: Path, out: Path, with_key: bool, quiet: bool) -> None:
    from xlingual.study.database import Ratings
    from xlingual.study.folder import read_key, read_study
    from xlingual.study.tabular import check_format, write_ratings

    check_format(out)
    with Ratings(study) as ratings:
        rows = ratings.all()
    write_ratings(out, rows, read_key(study, read_study(study)) if with_key else None)
    if not quiet:
        screen.say(f"{len(rows)} ratings, raters: {listed({row.rater: None for row in rows}) or 'none'}")
    screen.wrote(out, quiet=quiet)


def _export_sheet(study: Path, sheet: Path, name: str, quiet: bool) -> None:
    from xlingual.study.database import Ratings
    from xlingual.study.folder import read_study
    from xlingual.study.links import add_rater
    from xlingual.study.sheet import write_sheet

    if sheet.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--sheet {sheet}: the name must end in .html")
    with Ratings(study) as ratings:
        known = {rater.name: rater for rater in ratings.raters()}
        rater = known[name] if name in known else add_rater(ratings, name)[0]
    write_sheet(sheet, study, read_study(study), rater)
    if not quiet:
        new = "" if name in known else " (a new rater)"
        screen.say(
            f"sheet of rater {name}{new}; what it saves comes back by: xlingual study import {study} FILE"
        )
    screen.wrote(sheet, quiet=quiet)
