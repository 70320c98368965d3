"""`xlingual study new`: a study from a manifest and two encoders or more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.checks import check_folder
from xlingual.cli.from_request import command
from xlingual.cli.opening import read_manifest, store_of, within_cost
from xlingual.cli.ranking import chosen_ranker
from xlingual.requests.study import NewStudyRequest

if TYPE_CHECKING:
    from xlingual.study.records import Study

_ADDRESS = "http://127.0.0.1:8080"  # where xlingual study serve listens unless told otherwise


@command(NewStudyRequest, short_help="Draw queries and suggestions; write a study.")
def new(asked: NewStudyRequest) -> None:
    """Draw queries from MANIFEST, let each system suggest texts, and write a study for raters.

    What two systems suggest is shown once and credited to both. Which system made what is in STUDY/secret,
    which the server never opens.
    """
    from xlingual.study.folder import refuse_study_in
    from xlingual.workflows.study import new_study

    out, quiet = asked.out, asked.quiet
    check_folder(out)
    refuse_study_in(out)
    store = store_of(asked.keeping)
    ranker = chosen_ranker(asked.ranking, store, quiet=quiet)
    with screen.warnings_as_lines(), screen.progress(quiet) as progress:
        made = new_study(
            read_manifest(asked.data),
            out,
            source=asked.source,
            target=asked.target,
            systems=within_cost(asked.text_encoders, asked.keeping),
            layout=asked.layout,
            image_encoder=asked.image_encoder,
            threads=asked.ranking.threads,
            ranker=ranker,
            store=store,
            progress=progress,
        )
    screen.wrote(out, quiet=quiet)
    if not quiet:
        _show(made, out)


def _show(study: Study, out: Path) -> None:
    """Print what was made, the links to hand out, and what is next."""
    from xlingual.study.folder import LINKS_FILE, TITLE_FILE
    from xlingual.study.links import addresses, read_links

    suggestions = sum(len(query.suggestions) for query in study.queries)
    screen.say(
        f"{len(study.queries)} queries ({study.source}) with {suggestions} suggestions ({study.target}); "
        f"{len(study.orders[0])} pages for each rater"
    )
    screen.say(f"\nLinks, each for one person, good while the server runs (also in {out / LINKS_FILE}):")
    for who, address in addresses(read_links(out), _ADDRESS):
        screen.say(f"  {who:<10} {address}")
    screen.say(
        "\nNext:\n"
        f"  edit {out / TITLE_FILE}, the title and instructions\n"
        f"  xlingual study serve {out}\n"
        f"  xlingual study analyse {out} --out DIR --report"
    )
