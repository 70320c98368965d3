"""`xlingual study new`: a study from a manifest and two encoders or more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.options import (
    check_folder,
    chosen_store,
    encoding_options,
    manifest_options,
    read_manifest,
    refuse_extra,
)
from xlingual.cli.ranking_options import chosen_ranker, ranking_options
from xlingual.cli.sections import Sectioned

if TYPE_CHECKING:
    from xlingual.study.records import Study

_ADDRESS = "http://127.0.0.1:8080"  # where xlingual study serve listens unless told otherwise
_SHARE = click.FloatRange(0, 1)
_LAYOUT = ("queries", "per_system", "raters", "seed", "by", "repeats", "controls", "exclude_own", "title")


@click.command(
    cls=Sectioned,
    context_settings={"allow_extra_args": True},
    short_help="Draw queries and suggestions; write a study.",
)
@manifest_options
@click.option("--source", required=True, metavar="LANG", help="Language of the queries.")
@click.option("--target", required=True, metavar="LANG", help="Language of the suggestions.")
@click.option(
    "--system",
    "text_encoders",
    multiple=True,
    required=True,
    metavar="NAME=SPEC",
    help="A text encoder whose suggestions are judged; repeat for each. See: xlingual encoders.",
)
@click.option(
    "--image-encoder",
    metavar="SPEC",
    help="Keep Backretrieval (R@10) of the queries too, to compare with people.",
)
@click.option(
    "--queries", type=int, default=20, show_default=True, metavar="N", help="Queries that are asked."
)
@click.option(
    "--per-system", type=int, default=5, show_default=True, metavar="N", help="Suggestions of each system."
)
@click.option(
    "--raters", type=int, default=3, show_default=True, metavar="N", help="Links made now; more can be added."
)
@click.option("--by", metavar="COLUMN", help="Draw queries from each label of this column, in proportion.")
@click.option(
    "--repeats",
    type=_SHARE,
    default=0.0,
    metavar="SHARE",
    help="Share of the queries asked twice.  [default: 0]",
)
@click.option(
    "--controls",
    type=_SHARE,
    default=0.0,
    metavar="SHARE",
    help="Share of the queries with an obviously wrong and right text added.  [default: 0]",
)
@click.option("--exclude-own", is_flag=True, help="Never suggest the texts of a query's own item.")
@click.option("--pictures/--no-pictures", default=True, help="Show pictures, where the manifest has any.")
@click.option("--title", metavar="TEXT", help="Heading of the title page; STUDY/title.md can be edited.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw and of all orders.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="STUDY", help="Folder of the study."
)
@encoding_options
@ranking_options
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
@click.pass_context
def new(ctx: click.Context, /, manifest: Path, out: Path, quiet: bool, **given: Any) -> None:  # noqa: ANN401
    """Draw queries from MANIFEST, let each system suggest texts, and write a study for raters.

    What two systems suggest is shown once and credited to both. Which system made what is in STUDY/secret,
    which the server never opens.
    """
    from xlingual.study.folder import refuse_study_in
    from xlingual.workflows.study import Layout, new_study

    refuse_extra(ctx)
    check_folder(out)
    refuse_study_in(out)
    store = chosen_store(given)
    ranker = chosen_ranker(given | {"quiet": quiet}, store)
    with screen.warnings_as_lines(), screen.progress(quiet) as progress:
        made = new_study(
            read_manifest(manifest, given),
            out,
            source=given["source"],
            target=given["target"],
            systems=given["text_encoders"],
            layout=Layout(pictures=given["pictures"], **{name: given[name] for name in _LAYOUT}),
            image_encoder=given["image_encoder"],
            threads=given["threads"],
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
