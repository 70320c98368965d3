"""`xlingual report`: one HTML file from folders of results."""

from __future__ import annotations

from pathlib import Path

import click

from xlingual.cli import screen


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR…", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The HTML file.")
@click.option("--title", help="Title of the page.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def report(folders: tuple[Path, ...], out: Path, title: str | None, quiet: bool) -> None:
    """Make one HTML report from folders that were written with --out."""
    from xlingual.report import write_report
    from xlingual.results import Results, make_folder

    results = [Results.read(folder) for folder in folders]
    make_folder(out.parent)
    write_report(results, out, title=title)
    screen.wrote(out, quiet=quiet)
