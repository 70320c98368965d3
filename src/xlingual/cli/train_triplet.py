"""`xlingual train triplet` and `triplet-xl`: two layers over the frozen vectors of titles and bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
from xlingual.cli.sections import Sectioned
from xlingual.cli.training_options import (
    FIT,
    RUN,
    VALIDATION,
    added,
    number,
    told,
    validation_of,
    whole,
    word,
)
from xlingual.cli.training_outcome import show, told_how_to_go_on, uses
from xlingual.errors import InputError

_BASE = click.option(
    "--text-encoder",
    "text_encoders",
    required=True,
    multiple=True,
    metavar="SPEC",
    help="What gives the frozen vectors.",
)
MODEL = (
    click.option("--title", metavar="NAME", help="Column of titles.  [default: title]"),
    click.option("--body", metavar="NAME", help='Column of bodies; "text" is the text.  [default: body]'),
    word(
        "--split-text",
        ("first-sentence", "halves"),
        "Make title and body of the text itself: its first sentence and the rest, or its halves.",
    ),
    number("--margin", "By how much a body is to be nearer to its own title.  [default: 0.1]"),
    whole("--batch", "Texts of a batch.  [default: 128]"),
    whole("--hidden-dim", "Dimensions of the first layer.  [default: 300]"),
    whole("--out-dim", "Dimensions of the second layer, for each of title and body.  [default: 300]"),
    click.option(
        "--separate-towers", is_flag=True, default=None, help="Title and body have weights of their own."
    ),
    word("--scaling", ("unit", "raw"), "Title and body count alike, or by their length.  [default: unit]"),
)
OF_XL = (
    number("--beta", "Weight of the neighbour term.  [default: 0.01]"),
    whole("--neighbours", "Nearest titles of each language that are compared.  [default: 5]"),
    word("--neighbours-from", ("batch", "index"), "Among the batch, or all texts.  [default: batch]"),
    word("--neighbours-by", ("current", "base"), "Nearest by whose vectors.  [default: current]"),
    whole("--refresh", "Epochs after which an index is made anew.  [default: 1]"),
)


@click.command(
    cls=Sectioned, context_settings={"allow_extra_args": True}, short_help="Titles near their bodies."
)
@manifest_options
@click.pass_context
def triplet(ctx: click.Context, /, **given: Any) -> None:  # noqa: ANN401  (options)
    """Train two layers over an encoder's vectors, so that a body is near its own title (Triplet).

    MANIFEST holds texts with two further columns, such as a title and a body; they need be no translations.
    """
    _train(ctx, "triplet", given)


@click.command(
    cls=Sectioned,
    name="triplet-xl",
    context_settings={"allow_extra_args": True},
    short_help="The same, and no language apart from the others.",
)
@manifest_options
@click.pass_context
def triplet_xl(ctx: click.Context, /, **given: Any) -> None:  # noqa: ANN401  (options)
    """Train Triplet with a term that keeps neighbours in other languages as near as in a text's own.

    MANIFEST holds texts with two further columns, such as a title and a body; they need be no translations.
    """
    _train(ctx, "triplet-xl", given)


triplet = added(triplet, (_BASE, *MODEL, VALIDATION, *FIT, encoding_options, *RUN))
triplet_xl = added(triplet_xl, (_BASE, *MODEL, *OF_XL, VALIDATION, *FIT, encoding_options, *RUN))


def _train(ctx: click.Context, recipe: str, given: dict[str, Any]) -> None:
    from xlingual.training.options import FitOptions
    from xlingual.training.recipes.triplet_options import FIT as FIT_DEFAULTS
    from xlingual.training.recipes.triplet_options import TripletOptions
    from xlingual.training.settings import option_types
    from xlingual.training.sinks import parse_sink
    from xlingual.workflows.train_triplet import train_triplet

    refuse_extra(ctx)
    manifest: Path = given["manifest"]
    check_folder(given["out"])
    if (count := len(given["text_encoders"])) > 1:
        raise InputError(f"--text-encoder is given {count} times: a model stands on one")
    store = chosen_store(given)
    known = option_types(FitOptions, TripletOptions)
    known["split_text"] = known.pop("split")  # --split chooses rows
    chosen = told(given, known, given["config"])
    if "split_text" in chosen:
        chosen["split"] = chosen.pop("split_text")
    of_fit = {name: chosen.pop(name) for name in option_types(FitOptions) if name in chosen}
    if "seed" in of_fit:
        chosen["seed"] = of_fit["seed"]
    options = TripletOptions.preset(recipe, **chosen)
    sinks = [parse_sink(text) for text in given["log_to"]]
    with (
        told_how_to_go_on(given["out"]),
        screen.warnings_as_lines(),
        screen.progress(given["quiet"] or given["as_json"]) as progress,
    ):
        if progress is not None:
            progress("reading the manifest", 0, 1)
        trained = train_triplet(
            read_manifest(manifest, given),
            options,
            given["out"],
            text_encoder=given["text_encoders"][0],
            fit=FitOptions(**{**FIT_DEFAULTS, **of_fit}),
            validation=validation_of(given["validation"], manifest, given),
            recipe=recipe,
            resume=given["resume"],
            replace=given["force"],
            sinks=sinks,
            store=store,
            progress=progress,
        )
    if given["as_json"]:
        screen.print_json(trained.folder.config)
    elif not given["quiet"]:
        model = f"model:{trained.folder.path}"
        show(trained, uses("--text-encoder", model, given["text_encoders"][0], "texts"))
