"""`xlingual compress`: what smaller vectors lose, by language pair."""

from __future__ import annotations

from msgspec.structs import replace

from xlingual.cli import screen
from xlingual.cli.checks import check_output
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import manifest_or_pool, store_of
from xlingual.cli.outcome import say_written, write_and_show
from xlingual.cli.ranking import chosen_ranker
from xlingual.cli.wording import in_options
from xlingual.requests import signed
from xlingual.requests.compressing import CompressRequest


@command(CompressRequest)
def compress(request: CompressRequest) -> None:
    """Measure what smaller vectors lose in each language pair: fewer dimensions, half precision, int8, bits.

    MANIFEST holds items with texts in two languages, or is a multilingual pool. Each smaller form is compared
    with the full vectors, query by query. The result names the smallest form that loses less than --delta in
    every language pair.
    """
    from xlingual.workflows.compress import compress as measured

    output = request.output
    check_output(output.out, output.report, "compression")
    store = store_of(request.keeping)
    given = keywords(request, measured)
    given["text_encoder"] = request.text_encoder
    given |= {"store": store, "ranker": chosen_ranker(request.ranking, store, quiet=output.quiet)}
    with screen.warnings_as_lines(), screen.progress(screen.silent(output)) as progress:
        progress("reading the data", 0, 1)
        found = measured(manifest_or_pool(request), **given, progress=progress)
    found.warnings[:] = map(in_options, found.warnings)
    note = None if found.note is None else in_options(found.note)
    found = signed(replace(found, note=note), request)
    write_and_show(found, output)
    say_written(found, output, found.file)
