"""`xlingual validate`: does a measure that needs no translations order encoders as true retrieval does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.options import (
    check_output,
    chosen_store,
    cluster_option,
    image_options,
    manifest_options,
    output_options,
    read_manifest,
    refuse_extra,
    samples_of,
)
from xlingual.cli.ranking_options import chosen_ranker, ranking_options
from xlingual.cli.tasks import Tasks


@click.group(cls=Tasks)
def validate() -> None:
    """Hold a measure that needs no translations against true retrieval (bkr is a short name)."""


@validate.command(
    context_settings={"allow_extra_args": True}, short_help="Does it order encoders as true retrieval does?"
)
@manifest_options
@samples_of(None, "25, or those of --splits")
@image_options
@click.option("--measure", default="R@10", show_default=True, metavar="NAME", help="R@k, of BkR and XLR.")
@click.option("--both-directions", is_flag=True, help="Add the reverse of each language pair.")
@click.option(
    "--family",
    metavar="REGEX",
    help="Encoders of one family count as one: the first group, or the match, in an encoder's name.",
)
@click.option(
    "--degrade-images",
    "degrade",
    metavar="LEVELS",
    help="Repeat with weakened image vectors: 'dims=2,8,32;noise=0.5,1;shuffle'.",
)
@cluster_option
@ranking_options
@output_options
@click.pass_context
def backretrieval(ctx: click.Context, /, manifest: Path, **given: Any) -> None:  # noqa: ANN401  (options)
    """Backretrieval, SIM and CORR against cross-lingual retrieval, over three text encoders or more.

    MANIFEST holds items with a picture and texts in both languages: the translations are the truth that the
    other measures do without. With --splits leave out --seeds.
    """
    from xlingual.evaluation.metric_validation.validate import validate_backretrieval

    refuse_extra(ctx)
    out: Path | None = given["out"]
    check_output(out, given["report"], "validation")
    store = chosen_store(given)
    given["ranker"] = chosen_ranker(given, store)
    options = {name: given[name] for name in _PASSED_ON} | {"store": store}
    with screen.warnings_as_lines(), screen.progress(given["quiet"] or given["as_json"]) as progress:
        if progress is not None:
            progress("reading the manifest", 0, 1)
        validation = validate_backretrieval(read_manifest(manifest, given), progress=progress, **options)
    if out is not None:
        validation.write(out)
    if given["as_json"]:
        screen.print_json(validation.to_dict())
    elif not given["quiet"]:
        from xlingual.report.validation import show

        show(screen.console(), validation)
    if out is not None:
        screen.wrote(out / "validation.json", quiet=given["quiet"])
    if out is not None and given["report"]:
        from xlingual.report.validation import write_validation_report

        write_validation_report(validation, out / "report.html")
        screen.wrote(out / "report.html", quiet=given["quiet"])


_PASSED_ON = (
    "text_encoders",
    "image_encoder",
    "pairs",
    "both_directions",
    "sample_size",
    "splits",
    "seeds",
    "seed",
    "measure",
    "family",
    "degrade",
    "threads",
    "ranker",
    "skip_broken",
    "cluster",
)
