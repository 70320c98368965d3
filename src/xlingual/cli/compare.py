"""`xlingual compare`: which encoder is better on the same queries, and which differences are chance."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.from_request import command, keywords
from xlingual.cli.judged import evaluated, named
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.comparing import CompareRequest


@command(CompareRequest)
def compare(request: CompareRequest) -> None:
    """Compare encoders query by query, and test which differences are real.

    RESULTS are folders that `xlingual evaluate … --out DIR` wrote; DIR#ENCODER names one encoder of a folder.
    Numbers are compared only if data, samples and other conditions are equal. With --qrels FILE, give runs of
    search engines in place of folders; they are evaluated first.
    """
    from xlingual.comparison.compare import compare as run
    from xlingual.report import write_report

    out = request.out
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: name a folder")
    given, quiet = keywords(request, run), screen.silent(request)
    with screen.warnings_as_lines():
        runs = evaluated(request.judged, request.results, request.measures, quiet=quiet)
        if runs is not None:
            baseline = request.baseline and named(runs, request.results, request.baseline)
            given |= {"results": runs, "measures": (), "baseline": baseline}
        with screen.progress(quiet) as progress:
            found = signed(run(**given, progress=progress), request)
    if out is not None:
        found.write(out)
        write_report(found, out / "report.html")
    screen.show(found, request)
    if out is not None:
        screen.wrote(out / "comparison.json", quiet=request.quiet)
        screen.wrote(out / "report.html", quiet=request.quiet)
