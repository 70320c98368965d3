"""`xlingual rerank features`: similarities to the source and to pictures as features of an n-best list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.options import chosen_store, encoding_options
from xlingual.cli.rerank_options import PATH, check_file, quiet_option

_STEPS = "punctuation, detokenize, tokenize, lowercase, escape"


@click.command()
@click.argument("nbest", type=PATH, metavar="NBEST")
@click.option("--source", type=PATH, metavar="SRC", help="The sentence of each list, one a line.")
@click.option(
    "--text-encoder",
    "text_encoders",
    multiple=True,
    required=True,
    metavar="SPEC",
    help="Text encoder: st:, hf:, onnx:, wordvec:, translate:, api:, python:, model:, chargram or "
    "lsa:?fit=FILE; repeat for several. NAME=SPEC names the feature. See: xlingual encoders.",
)
@click.option(
    "--images",
    metavar="MANIFEST",
    help="Row (or item) i has the picture of sentence i; FILE#SPLIT, FILE#A:B.",
)
@click.option(
    "--image-encoder",
    "image_encoders",
    multiple=True,
    metavar="SPEC",
    help="Image encoder of the same space as the texts: one for all text encoders, or one for each in their "
    "order.",
)
@click.option("--source-language", metavar="TAG", help="Such as en, where an encoder or normaliser needs it.")
@click.option("--target-language", metavar="TAG", help="Of the hypotheses.")
@click.option(
    "--normalize",
    metavar="STEP,…",
    default="none",
    show_default=True,
    help=f"Steps of sacremoses before texts are encoded: {_STEPS}. The list keeps its texts.",
)
@click.option("--normalize-source", metavar="STEP,…", help="Other steps for the source, or none.")
@encoding_options
@click.option("--out", required=True, type=PATH, metavar="NBEST2", help="Write the list with them there.")
@quiet_option
def features(nbest: Path, out: Path, quiet: bool, **given: Any) -> None:  # noqa: ANN401  (options)
    """Add similarities to the hypotheses of NBEST, each a feature named as its encoder.

    With --source: cosine of source and hypothesis. With --images and --image-encoder: cosine of picture and
    hypothesis. Every different text is encoded once; vectors are kept in the store.
    """
    from xlingual.nbest.features import add_features

    check_file(out)
    store = chosen_store(given)
    for name in ("source_language", "target_language"):
        if given[name] is None:
            del given[name]
    with screen.warnings_as_lines(), screen.progress(quiet) as progress:
        found = add_features(nbest, out, store=store, progress=progress, **given)
    if not quiet:
        screen.say(
            f"added {', '.join(found.features)} to {found.n_hypotheses:,} hypotheses ({found.n_distinct:,} "
            f"different) of {found.n_lists:,} sentences",
            err=True,
        )
    screen.wrote(out, quiet=quiet)
