"""`xlingual train pivot` and `xlingual data pivot-pairs`: languages brought together by images alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.checks import check_file, check_folder
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import read_manifest, store_of
from xlingual.cli.outcome import say_written
from xlingual.cli.ranking import chosen_ranker
from xlingual.cli.training_outcome import uses
from xlingual.cli.wording import in_options
from xlingual.requests import signed
from xlingual.requests.pivoting import PivotPairsRequest, PivotRequest

if TYPE_CHECKING:
    pass


@command(PivotRequest, short_help="Bring an encoder's languages together by images alone.")
def pivot(request: PivotRequest) -> None:
    """Bring an encoder's languages together by images alone: no translations are needed.

    Two texts of different items form a pair if their images are each other's nearest. A linear map of each
    language is fitted on these pairs. One map, or none, is chosen on held-out items, and tested on other
    items.
    """
    from xlingual.workflows.pivoting import train_pivot
    from xlingual.workflows.pivoting.trained import refuse_replacing

    check_folder(request.out)
    refuse_replacing(request.out, replace=request.force)
    store = store_of(request.keeping)
    given = keywords(request, train_pivot)
    given["text_encoder"] = request.text_encoder
    given |= {"store": store, "ranker": chosen_ranker(request.ranking, store, quiet=request.quiet)}
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as progress:
        progress("reading the data", 0, 1)
        outcome = train_pivot(read_manifest(request.data), **given, progress=progress)
    found = outcome.found
    found.warnings[:] = map(in_options, found.warnings)
    outcome.found = signed(found, request)
    outcome.write(request.out)
    screen.show(outcome.found, request)
    say_written(outcome.found, request, found.file)
    screen.wrote(request.out, quiet=request.quiet)
    if not request.quiet and request.form == "table" and not request.as_json:
        (use,) = uses("--text-encoder", f"model:{request.out}", given["text_encoder"], "texts")[:1]
        screen.note(f"use: {use}")


@command(PivotPairsRequest, short_help="Write pairs of texts whose images are alike, to train on.")
def pivot_pairs(request: PivotPairsRequest) -> None:
    """Write pairs of texts in two languages whose images are similar, as training data.

    Each pair has both texts, their languages and ids, and a weight. Trainers such as that of
    sentence-transformers can read the file. With --text-encoder, similar texts also help to choose the pairs.
    """
    from xlingual.files import refuse_loss
    from xlingual.workflows.pivoting import pivot_pairs as paired
    from xlingual.workflows.pivoting.text_pairs import check_format

    check_file(request.out)
    check_format(request.out)
    if not request.force:
        present = [request.out] if request.out.exists() else []
        refuse_loss(request.out.parent, present, "replace it with --force")
    store = store_of(request.keeping)
    given = keywords(request, paired)
    if request.text_encoder is not None:
        given["text_encoder"] = request.text_encoder
    given |= {"store": store, "ranker": chosen_ranker(request.ranking, store, quiet=request.quiet)}
    with screen.warnings_as_lines(), screen.progress(request.quiet) as progress:
        progress("reading the data", 0, 1)
        found = paired(read_manifest(request.data), **given, progress=progress)
    found.write(request.out)
    if not request.quiet:
        screen.say(found.summary)
    screen.wrote(request.out, quiet=request.quiet)
