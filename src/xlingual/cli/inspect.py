"""`xlingual inspect`: where encoders fail, and why."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.checks import check_folder
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import store_of
from xlingual.errors import InputError
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
    from xlingual.inspection.failures_page import write_failures_page
    from xlingual.inspection.inspect import inspect_results
    from xlingual.inspection.viewer_table import check_table_file, write_viewer_table
    from xlingual.report import write_report
    from xlingual.results import Results

    if request.out is not None:
        check_folder(request.out)
    if request.failures is not None:
        check_failures_file(request.failures)
    if request.static is not None and (request.static.suffix.lower() != ".html" or request.static.is_dir()):
        raise InputError(f"--static {request.static}: expected the name of a file that ends in .html")
    if request.table is not None:
        check_table_file(request.table)
    if request.text_encoders and request.table is None:
        raise InputError("--text-encoder places the queries of --table FILE: add it, or leave this out")
    given = keywords(request, inspect_results)
    given |= {"results": Results.read(request.results), "store": store_of(request.keeping)}
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as progress:
        inspected = inspect_results(**given, progress=progress)
        if request.table is not None:
            specs = request.text_encoders
            write_viewer_table(
                inspected.looked, request.table, specs, store=given["store"], progress=progress
            )
    found = signed(inspected.found, request)
    if request.out is not None:
        found.write(request.out)
        write_report(found, request.out / "inspection.html")
    if request.failures is not None:
        write_failures(inspected.failures(), request.failures)
    if request.static is not None:
        write_failures_page(found, inspected.looked[0], request.static)
    screen.show(found, request)
    if request.out is not None:
        for name in (found.file, "inspection.html"):
            screen.wrote(request.out / name, quiet=request.quiet)
    for path in (request.failures, request.static, request.table):
        if path is not None:
            screen.wrote(path, quiet=request.quiet)
