"""`xlingual validate`: whether a measure without translations orders encoders as true retrieval does."""

from __future__ import annotations

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_output
from xlingual.cli.from_request import command
from xlingual.cli.outcome import emphasis_of, say_written, write_and_show
from xlingual.cli.tasks import Tasks
from xlingual.cli.validate_sets import is_finished, table_of, validated
from xlingual.errors import InputError
from xlingual.requests.validating import ValidateDataSetsRequest


@click.group(cls=Tasks)
def validate() -> None:
    """Check how well a measure without translations agrees with true retrieval (bkr is a short name)."""


@command(
    ValidateDataSetsRequest,
    validate,
    short_help="Check whether Backretrieval orders encoders as true retrieval does.",
)
def backretrieval(request: ValidateDataSetsRequest) -> None:
    """Compare Backretrieval, SIM and CORR with cross-lingual retrieval, over three text encoders or more.

    MANIFEST holds items with an image and texts in both languages: the translations are the truth that the
    other measures do without. Several of them, or folders of finished validations, give one table with a row
    for each data set and language pair. With --splits leave out --seeds.
    """
    sets = request.data_sets()
    if not sets:
        raise InputError("MANIFEST is missing: name a manifest, or folders of finished validations")
    if request.sets or len(sets) > 1 or is_finished(request.data.manifest):
        table_of(request, sets)
        return
    (one,) = map(request.of_one, sets.values())
    check_output(one.output.out, one.output.report, "validation")
    with screen.warnings_as_lines(), screen.progress(screen.silent(one.output)) as progress:
        validation = validated(one, progress)
    write_and_show(validation, one.output)
    say_written(validation, one.output, validation.file, emphasis_of(one))
