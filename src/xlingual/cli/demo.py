"""`xlingual demo`: from nothing to a report in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.options import check_output
from xlingual.cli.ranking_options import chosen_ranker, ranking_options
from xlingual.cli.sections import Sectioned


@click.command(cls=Sectioned)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("xlingual-demo"),
    show_default=True,
    metavar="DIR",
    help="Where data, results and report go.",
)
@ranking_options
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
def demo(out: Path, quiet: bool, **given: Any) -> None:  # noqa: ANN401  (options)
    """Make built-in data, evaluate encoders of rising quality, and write a report.

    Pictures of simple scenes are described in five languages, independently of each other. Five encoders,
    from random vectors to cross-lingual LSA, are judged by Backretrieval, and by the true cross-lingual
    retrieval beside it.
    """
    from xlingual.workflows.demo import run_demo

    check_output(out, True)
    for task in ("backretrieval", "crosslingual-retrieval"):
        check_output(out / task, False, task)
    ranker = chosen_ranker(given | {"quiet": quiet}, None)
    with screen.warnings_as_lines(), screen.progress(quiet) as progress:
        results = run_demo(out, threads=given["threads"], ranker=ranker, progress=progress)
    screen.show_results(results, as_json=False, quiet=quiet)
    screen.wrote(out / "report.html", quiet=quiet)
