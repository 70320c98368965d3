"""`xlingual inspect`: where encoders fail, and why."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.checks import check_folder
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import store_of
from xlingual.requests import signed
from xlingual.requests.inspecting import InspectRequest


@command(InspectRequest)
def inspect(request: InspectRequest) -> None:
    """Show where encoders fail and why: slices of texts, kinds of error and hubs, with examples.

    RESULTS is a folder that `xlingual evaluate backretrieval … --out DIR`, `… crosslingual-retrieval …` or `…
    multilingual-pool …` wrote. A slice is a set of texts that share a property, such as a category, a length
    or a topic. A slice is listed if its values are lower than the rest beyond chance. For a pool, the result
    shows which candidates ranked above the answers.
    """
    from xlingual.inspection.failures import check_failures_file, write_failures
    from xlingual.inspection.inspect import inspect_results
    from xlingual.report import write_report
    from xlingual.results import Results

    if request.out is not None:
        check_folder(request.out)
    if request.failures is not None:
        check_failures_file(request.failures)
    given = keywords(request, inspect_results)
    given |= {"results": Results.read(request.results), "store": store_of(request.keeping)}
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as progress:
        inspected = inspect_results(**given, progress=progress)
    found = signed(inspected.found, request)
    if request.out is not None:
        found.write(request.out)
        write_report(found, request.out / "inspection.html")
    if request.failures is not None:
        write_failures(inspected.failures(), request.failures)
    screen.show(found, request)
    if request.out is not None:
        for name in (found.file, "inspection.html"):
            screen.wrote(request.out / name, quiet=request.quiet)
    if request.failures is not None:
        screen.wrote(request.failures, quiet=request.quiet)
