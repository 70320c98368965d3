"""`xlingual demo`: from nothing to a report in one command."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from xlingual.cli import screen
from xlingual.cli.checks import check_output
from xlingual.cli.from_request import command
from xlingual.cli.ranking import chosen_ranker
from xlingual.requests.shared import Output
from xlingual.requests.single import DemoRequest


@command(DemoRequest)
def demo(request: DemoRequest) -> None:
    """Make built-in data, evaluate encoders of rising quality, and write a report.

    Images of simple scenes are described in five languages, independently of each other. Five encoders, from
    random vectors to cross-lingual LSA, are evaluated by Backretrieval and by true cross-lingual retrieval.
    """
    from xlingual.workflows.demo import run_demo

    out, quiet = request.out, request.quiet
    check_output(out, True)
    for task in ("backretrieval", "crosslingual-retrieval"):
        check_output(out / task, False, task)
    ranker = chosen_ranker(request.ranking, None, quiet=quiet)
    with screen.warnings_as_lines(), screen.progress(quiet) as progress:
        results = run_demo(out, threads=request.ranking.threads, ranker=ranker, progress=progress)
    screen.show(results, Output(quiet=quiet))
    screen.wrote(out / "report.html", quiet=quiet)
    if not quiet:
        program = shutil.which("xlingual") and "xlingual"  # else the environment is not active
        program = program or os.path.relpath(Path(sys.executable).with_name("xlingual"))
        screen.say(
            f"next: open {out / 'report.html'} in a browser; then check the demo's data, and in its place "
            f"a file of yours (columns id, text_en, text_de, image): {program} data check {out / 'scenes'}",
            err=True,
        )
