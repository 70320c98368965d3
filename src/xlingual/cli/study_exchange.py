"""`xlingual study export` and `import`: ratings to and from files, and sheets for raters offline."""

from __future__ import annotations

from pathlib import Path

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.errors import InputError, listed
from xlingual.requests.study import ExportStudyRequest, ImportStudyRequest


@command(ExportStudyRequest, short_help="Write ratings to a table, or make an offline sheet.")
def export(asked: ExportStudyRequest) -> None:
    """Write the ratings of STUDY to a table, or a sheet that a rater can fill in without a network."""
    from xlingual.study.folder import read_study

    study, out, sheet, rater = asked.study, asked.out, asked.sheet, asked.rater
    if (out is None) == (sheet is None):
        raise InputError("say what to write: ratings with --out FILE, or a rater's sheet with --sheet FILE")
    if sheet is not None and (asked.with_key or rater is None):
        raise InputError("--sheet needs --rater NAME, and goes without --with-key")
    if out is not None and rater is not None:
        raise InputError("--rater belongs to --sheet: leave it out")
    read_study(study)  # an error that helps, before anything else
    if out is not None:
        _export_ratings(study, out, asked.with_key, asked.quiet)
    elif sheet is not None and rater is not None:
        _export_sheet(study, sheet, rater, asked.quiet)


@command(ImportStudyRequest, short_help="Add ratings of tables and sheets.")
def import_(asked: ImportStudyRequest) -> None:
    """Add ratings to STUDY: tables (.csv, .parquet) of `export`, or what an offline sheet saved (.json).

    Importing the same file again changes nothing.
    """
    from xlingual.study.exchange import import_ratings, read_ratings, refuse_conflicts
    from xlingual.study.folder import read_study

    study, prefer = asked.study, asked.prefer
    found = read_study(study)
    given = [(path, read_ratings(path, found)) for path in asked.files]  # all are read before any is imported
    if prefer is None:
        refuse_conflicts(study, given)
    for path, ratings in given:
        done = import_ratings(study, ratings, prefer)
        if not asked.quiet:
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
