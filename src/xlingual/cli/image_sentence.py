"""`xlingual evaluate image-sentence`: pictures for sentences, and sentences for pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.options import (
    check_output,
    chosen_store,
    cluster_option,
    encoding_options,
    manifest_options,
    output_options,
    read_manifest,
    refuse_extra,
    text_encoder_option,
)
from xlingual.cli.outcome import say_written, write_and_show
from xlingual.cli.pools import listed_languages
from xlingual.cli.ranking_options import chosen_ranker, ranking_options
from xlingual.cli.sections import Sectioned

NAME = "image-sentence"
FOLD = 1000  # pictures of a slice, as the literature has it


@click.command(
    NAME,
    cls=Sectioned,
    context_settings={"allow_extra_args": True},
    short_help="Find pictures for sentences, and sentences for pictures.",
)
@manifest_options
@text_encoder_option
@click.option(
    "--image-encoder",
    "image_encoders",
    multiple=True,
    required=True,
    metavar="SPEC",
    help="Image encoder of the same space as the texts: vectors:PATH, hf:MODEL, st:MODEL … One for all text "
    "encoders, or one for each in the same order.",
)
@encoding_options
@click.option("--languages", metavar="en,de,…", help="Of the texts.  [default: all that an encoder has]")
@click.option(
    "--fold",
    type=click.IntRange(min=2),
    is_flag=False,
    flag_value=FOLD,
    metavar="[SIZE]",
    help=f"Mean over consecutive slices of SIZE pictures, each ranked on its own; {FOLD} unless told.",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    default=("Success@1", "Success@5", "Success@10", "MedR/floor"),
    show_default=True,
    metavar="NAME",
    help="Success@k (the R@k of the literature: any caption counts), RR, MedR, or MedR/floor: the median "
    "rank as the literature has it; repeat for several.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="NAME",
    help="Text encoder that the others are held against; repeat it for baselines of different languages.",
)
@click.option(
    "--skip-broken",
    is_flag=True,
    help="Leave out texts whose picture is missing or broken, with a warning that counts them.",
)
@cluster_option
@ranking_options
@output_options
@click.pass_context
def image_sentence(ctx: click.Context, /, manifest: Path, **given: Any) -> None:  # noqa: ANN401  (options)
    """Image–sentence ranking: does a sentence find its picture, and a picture its sentences.

    MANIFEST holds texts with pictures; an item may have several texts of a language, of which the best one
    counts. Text and image encoder must be of one model, such as CLIP, or model:DIR for both.
    """
    from xlingual.evaluation.image_sentence.evaluate import image_sentence

    refuse_extra(ctx)
    check_output(given["out"], given["report"], NAME)
    store = chosen_store(given)
    given["ranker"] = chosen_ranker(given, store)
    languages = given.pop("languages")
    with screen.warnings_as_lines(), screen.progress(given["quiet"] or given["as_json"]) as progress:
        if progress is not None:
            progress("reading the manifest", 0, 1)
        results = image_sentence(
            read_manifest(manifest, given),
            languages=None if languages is None else listed_languages(languages),
            progress=progress,
            store=store,
            **{name: given[name] for name in _PASSED_ON},
        )
    write_and_show(results, given)
    say_written(results, given)


_PASSED_ON = (
    "text_encoders",
    "image_encoders",
    "fold",
    "measures",
    "baselines",
    "skip_broken",
    "cluster",
    "threads",
    "ranker",
)
