"""`xlingual report`: one HTML file from folders of results."""

from __future__ import annotations

from pathlib import Path

import click

from xlingual.cli import screen
from xlingual.errors import InputError


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR…", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The HTML file.")
@click.option("--title", help="Title of the page.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def report(folders: tuple[Path, ...], out: Path, title: str | None, quiet: bool) -> None:
    """Make one HTML report from folders that were written with --out."""
    from xlingual.report import write_report, write_validation_report
    from xlingual.results import Results, make_folder
    from xlingual.results.validation import Validation

    validations = [folder for folder in folders if _is_validation(folder)]
    if validations:
        if len(folders) > 1:
            raise InputError(
                f"{validations[0]} holds a validation, which has a report of its own: give it alone, "
                "and make one report for each"
            )
        validation = Validation.read(validations[0])
        make_folder(out.parent)
        write_validation_report(validation, out, title=title)
    else:
        results = [Results.read(folder) for folder in folders]
        make_folder(out.parent)
        write_report(results, out, title=title)
    screen.wrote(out, quiet=quiet)


def _is_validation(path: Path) -> bool:
    """Tell whether a folder holds a validation and no results, or the path is such a file."""
    from xlingual.results.validation import FILE

    return path.name == FILE or ((path / FILE).is_file() and not (path / "results.json").is_file())
