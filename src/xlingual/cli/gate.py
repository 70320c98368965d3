"""`xlingual gate`: may the candidate replace the baseline? The answer is the exit code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.checks import check_folder
from xlingual.cli.from_request import command, keywords
from xlingual.cli.judged import evaluated, named
from xlingual.errors import InputError, why
from xlingual.requests import signed
from xlingual.requests.comparing import GateRequest

if TYPE_CHECKING:
    from xlingual.results.gate import Gate

_SUMMARY = "GITHUB_STEP_SUMMARY"
_CODES = {"pass": 0, "fail": 1, "cannot tell": 3}


@command(GateRequest)
def gate(request: GateRequest) -> int:
    """Decide whether CANDIDATE is no worse than BASELINE by more than a margin.

    Both are DIR#ENCODER, or folders of results with one encoder; with --qrels FILE they are runs of search
    engines. With --history FOLDER, the baseline is the last run in that folder that passed; --out writes the
    decision into the candidate's folder of results, so that it can be the next baseline. Exit codes: 0 pass,
    1 fail, 2 bad input, 3 cannot tell (the output says how many more queries are needed).
    """
    from xlingual.comparison.gate import gate as decide

    out, junit = request.out, request.junit
    if out is not None:
        check_folder(out)
    summary = _summary_file() if request.github else None
    if junit is not None and junit.is_dir():
        raise InputError(f"--junit {junit} is a folder: name a file")
    if request.then and request.judged.qrels is not None:
        raise InputError("--then needs folders of results; runs with --qrels are decided one by one")
    given, sides = keywords(request, decide), [request.candidate, *filter(None, [request.baseline])]
    with screen.warnings_as_lines():
        measures = () if request.measure is None else (request.measure,)
        runs = evaluated(request.judged, sides, measures, quiet=request.quiet)
        if runs is not None:
            for key, side in zip(("candidate", "baseline"), sides, strict=False):
                given[key] = runs.only(named(runs, sides, side))
        found = signed(decide(**given), request)
    try:
        screen.show(found, request)
    finally:  # also where the reader of standard output has gone
        if out is not None:
            found.write(out / found.file)
            screen.wrote(out / found.file, quiet=request.quiet)
        _write(found, summary, junit, request.quiet)
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
    from xlingual.report.pages import gate as report

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
                handle.write(report.summary(found).encode("utf-8", "replace") + b"\n")
        except OSError as error:
            problems.append(
                f"the file that {_SUMMARY} names, {summary}, cannot be written ({why(error)}): "
                "set it to another, or leave out --github"
            )
    if problems:
        raise InputError(f"{'; '.join(problems)}. The decision, {found.outcome}, is not changed by this")
