"""`xlingual repair`: a better space without training."""

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
from xlingual.requests.repairing import RepairRequest


@command(RepairRequest)
def repair(request: RepairRequest) -> None:
    """Fit a map that brings the languages of an encoder together, and test it on other data.

    MANIFEST holds items with texts in two languages or more, or is a multilingual pool. Maps are fitted on
    one part of the data, chosen on a second part, and tested once on a third part. With --out, the chosen map
    is written as a model (model:DIR/model::SPEC), and the rows of the three parts as splits.
    """
    from xlingual.results.repair import TEST, BeforeAndAfter
    from xlingual.workflows.repairing import repair_encoder
    from xlingual.workflows.repairing.parts import refuse_replacing
    from xlingual.workflows.repairing.repaired import MODEL

    output = request.output
    check_output(output.out, output.report, "repair")
    if output.out is not None:
        refuse_replacing(output.out, request.data.manifest)
    store = store_of(request.keeping)
    ranker = chosen_ranker(request.ranking, store, quiet=output.quiet)
    encoder = request.text_encoder
    with screen.warnings_as_lines(), screen.progress(screen.silent(output)) as progress:
        progress("reading the data", 0, 1)
        data = manifest_or_pool(request)
        chosen = keywords(request, repair_encoder)
        chosen |= {"text_encoder": encoder, "store": store, "ranker": ranker}
        outcome = repair_encoder(data, **chosen, progress=progress)
        beside = None
        if output.out is not None and outcome.map is not None:
            progress("looking at languages, before and after", 0, 1)
            beside = outcome.side_by_side()
    found = outcome.found
    found.warnings[:] = map(in_options, found.warnings)
    found = signed(found, request)
    if output.out is not None:  # all of it before anything is shown: a reader may close the pipe
        parts = outcome.divided.write(output.out)
        if outcome.map is not None:
            outcome.write_model(output.out / MODEL)
        if beside is not None:
            beside.write(output.out / TEST)
    write_and_show(found, output)
    shown = found if beside is None else BeforeAndAfter(found, beside, f"{TEST}/report.html")
    say_written(shown, output, found.file)
    if output.out is not None:
        screen.wrote(parts, quiet=output.quiet)
        if outcome.map is not None:
            screen.wrote(output.out / MODEL, quiet=output.quiet)
        if beside is not None:
            say_written(beside, replace(output, out=output.out / TEST))
