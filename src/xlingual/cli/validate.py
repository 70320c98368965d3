"""`xlingual validate`: whether a measure without translations orders encoders as true retrieval does."""

from __future__ import annotations

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_output
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import read_manifest, store_of, within_cost
from xlingual.cli.outcome import check_emphasis, emphasis_of, say_written, write_and_show
from xlingual.cli.ranking import chosen_ranker
from xlingual.cli.tasks import Tasks
from xlingual.requests import signed
from xlingual.requests.validating import ValidateBackretrievalRequest


@click.group(cls=Tasks)
def validate() -> None:
    """Check how well a measure without translations agrees with true retrieval (bkr is a short name)."""


@command(
    ValidateBackretrievalRequest,
    validate,
    short_help="Check whether Backretrieval orders encoders as true retrieval does.",
)
def backretrieval(request: ValidateBackretrievalRequest) -> None:
    """Compare Backretrieval, SIM and CORR with cross-lingual retrieval, over three text encoders or more.

    MANIFEST holds items with an image and texts in both languages: the translations are the truth that the
    other measures do without. With --splits leave out --seeds.
    """
    from xlingual.evaluation.metric_validation.validate import validate_backretrieval

    check_output(request.output.out, request.output.report, "validation")
    store = store_of(request.keeping)
    given = keywords(request, validate_backretrieval)
    given |= {
        "text_encoders": within_cost(request.text_encoders, request.keeping),
        "store": store,
        "ranker": chosen_ranker(request.ranking, store, quiet=request.output.quiet),
    }
    with screen.warnings_as_lines(), screen.progress(screen.silent(request.output)) as progress:
        progress("reading the manifest", 0, 1)
        given["manifest"] = read_manifest(request.data)
        check_emphasis(request, given["manifest"])
        validation = signed(validate_backretrieval(**given, progress=progress), request)
    write_and_show(validation, request.output)
    say_written(validation, request.output, validation.file, emphasis_of(request))
