"""`xlingual evaluate`: Backretrieval, cross-lingual retrieval, distance correlation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.approximate_options import approximate_options, approximate_ranker
from xlingual.cli.image_sentence import image_sentence
from xlingual.cli.multilingual_pool import multilingual_pool
from xlingual.cli.options import (
    check_output,
    chosen_store,
    cluster_option,
    image_options,
    manifest_options,
    output_options,
    read_manifest,
    refuse_extra,
    sample_options,
)
from xlingual.cli.outcome import say_written, write_and_show
from xlingual.cli.ranking_options import chosen_ranker, ranking_options, threads_option
from xlingual.cli.sts import sts
from xlingual.cli.tasks import Tasks
from xlingual.errors import InputError

if TYPE_CHECKING:
    from xlingual.results import Results
    from xlingual.results.calibration import Calibration

_EXTRA = {"allow_extra_args": True}


@click.group(cls=Tasks)
def evaluate() -> None:
    """Evaluate text encoders on your own data (bkr, xlr, corr and lareqa are short names)."""


evaluate.add_command(multilingual_pool)
evaluate.add_command(image_sentence)
evaluate.add_command(sts)

measure_option = click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="R@k, Success@k, R@p%, Success@p%, RR, RR@k or MedR; repeat for several.  [default: R@10; "
    "Success@10 in cross-lingual retrieval where an item has several target texts]",
)
queries_option = click.option(
    "--queries",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ask only N of the sources, drawn at random, among all candidates.  [default: all]",
)
examples_option = click.option(
    "--examples/--no-examples", default=True, help="Keep texts and thumbnails for the report."
)


@evaluate.command(context_settings=_EXTRA, short_help="Pictures stand in for translations (bkr).")
@manifest_options
@sample_options
@queries_option
@image_options
@measure_option
@cluster_option
@ranking_options
@approximate_options
@output_options
@examples_option
@click.option(
    "--calibration",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Estimate XLR too, by what xlingual calibrate wrote.",
)
@click.pass_context
def backretrieval(ctx: click.Context, /, manifest: Path, **given: Any) -> None:  # noqa: ANN401  (options)
    """Backretrieval: pictures stand in for translations.

    For each source text the nearest text in the other language is found; its picture must lead back to the
    query's own picture. MANIFEST holds texts with pictures in two languages or more.
    """
    from xlingual.evaluation.backretrieval import backretrieval

    _evaluate(ctx, backretrieval, manifest, given)


@evaluate.command(
    "crosslingual-retrieval",
    context_settings=_EXTRA,
    short_help="The truth, where items have texts in both languages (xlr).",
)
@manifest_options
@sample_options
@queries_option
@measure_option
@cluster_option
@ranking_options
@approximate_options
@output_options
@click.pass_context
def crosslingual_retrieval(ctx: click.Context, /, manifest: Path, **given: Any) -> None:  # noqa: ANN401
    """Cross-lingual retrieval: the ground truth, for items that have texts in both languages."""
    from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval

    _evaluate(ctx, crosslingual_retrieval, manifest, given)


@evaluate.command(
    "distance-correlation",
    context_settings=_EXTRA,
    short_help="Do texts lie as far apart as their pictures (corr).",
)
@manifest_options
@sample_options
@image_options
@cluster_option
@threads_option
@output_options
@click.pass_context
def distance_correlation(ctx: click.Context, /, manifest: Path, **given: Any) -> None:  # noqa: ANN401
    """Distance correlation: do texts lie as far apart as their pictures (a baseline without retrieval)."""
    from xlingual.evaluation.distance_correlation import distance_correlation

    _evaluate(ctx, distance_correlation, manifest, given)


_PASSED_ON = (
    "text_encoders",
    "image_encoder",
    "pairs",
    "sample_size",
    "queries",
    "splits",
    "seeds",
    "seed",
    "measures",
    "threads",
    "ranker",
    "examples",
    "skip_broken",
    "cluster",
)


def _calibration(given: dict[str, Any]) -> Calibration | None:
    """Read the calibration, before any work is done; None where there is none."""
    path: Path | None = given.get("calibration")
    if path is None:
        return None
    if given["approximate"]:
        raise InputError("--calibration was made of exact numbers: leave out --approximate")
    from xlingual.evaluation.calibration.estimate import check_measures
    from xlingual.results.calibration import Calibration

    calibration = Calibration.read(path)
    check_measures(calibration, given["measures"])
    return calibration


def _evaluate(
    ctx: click.Context, task: Callable[..., Results], manifest: Path, given: dict[str, Any]
) -> None:
    """Read the manifest, run the task, write and show what it found."""
    refuse_extra(ctx)
    calibration = _calibration(given)
    check_output(given["out"], given["report"], ctx.command.name)
    store = chosen_store(given)
    if "backend" in given:
        given["ranker"] = approximate_ranker(given, chosen_ranker(given, store))
    with screen.warnings_as_lines(), screen.progress(given["quiet"] or given["as_json"]) as progress:
        if progress is not None:
            progress("reading the manifest", 0, 1)
        results = task(
            read_manifest(manifest, given),
            progress=progress,
            store=store,
            **{name: given[name] for name in _PASSED_ON if name in given},
        )
    if calibration is not None:
        from xlingual.evaluation.calibration.estimate import with_estimates

        results = with_estimates(results, calibration)
    write_and_show(results, given)
    if calibration is not None and not given["as_json"] and not given["quiet"]:
        from xlingual.cli.calibrate import show_estimates

        show_estimates(results, calibration)
    say_written(results, given)
