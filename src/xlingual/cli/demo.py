"""`xlingual demo`: from nothing to a report in one command."""

from __future__ import annotations

from pathlib import Path

import click

from xlingual.cli import screen
from xlingual.cli.options import available_cores, check_output


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("xlingual-demo"),
    show_default=True,
    metavar="DIR",
    help="Where data, results and report go.",
)
@click.option("--threads", type=click.IntRange(min=1), default=available_cores, show_default="all cores")
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
def demo(out: Path, threads: int, quiet: bool) -> None:
    """Make built-in data, evaluate encoders of rising quality, and write a report.

    Pictures of simple scenes are described in five languages, independently of each other. Five encoders,
    from random vectors to cross-lingual LSA, are judged by Backretrieval, and by the true cross-lingual
    retrieval beside it.
    """
    from xlingual.workflows.demo import run_demo

    check_output(out, True)
    for task in ("backretrieval", "crosslingual-retrieval"):
        check_output(out / task, False, task)
    with screen.warnings_as_lines(), screen.progress(quiet) as progress:
        results = run_demo(out, threads=threads, progress=progress)
    screen.show_results(results, as_json=False, quiet=quiet)
    screen.wrote(out / "report.html", quiet=quiet)
