"""`xlingual train mlmme`: one space for pictures and sentences of several languages."""

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
from xlingual.cli.pools import listed_languages
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

if TYPE_CHECKING:
    from xlingual.workflows.trained import Trained


_MLMME = (
    click.option("--languages", metavar="en,de", help="Languages of the model.  [default: all of MANIFEST]"),
    click.option(
        "--image-encoder",
        metavar="SPEC",
        help="What gives the pictures' vectors; needless with --beta 0 only.",
    ),
    word("--recipe", ("mlmme", "vse", "vsepp"), "Whose conventions: MLMME, VSE or VSE++.  [default: mlmme]"),
    number("--beta", "Weight of pictures against sentences, 0 to 1.  [default: 0.5; with one language 1]"),
    number("--margin", "By how much a match is to be ahead.  [default: 0.2]"),
    word(
        "--contrast",
        ("random", "in-batch", "hardest"),
        "What a match is to be ahead of: items drawn at random, the batch, or its hardest item.",
    ),
    whole("--contrastive", "Items drawn for each batch, with --contrast random.  [default: 50]"),
    word("--pairs", ("sum", "mean"), "Languages and pairs of them are summed, or averaged.  [default: sum]"),
    whole("--batch", "Items of a batch.  [default: 128]"),
    whole("--threshold", "Words that occur less often are unknown.  [default: 1; vsepp 4]"),
    whole("--most-words", "Only the most frequent words of each language are known.  [default: all]"),
    whole("--max-length", "Words of a text that are read.  [default: 100]"),
    click.option("--pretokenized", is_flag=True, default=None, help="Texts are words with blanks between."),
    whole("--word-dim", "Dimensions of word vectors.  [default: 620; vse, vsepp 300]"),
    whole("--state-dim", "Dimensions of the GRU's state.  [default: 1024]"),
    whole("--joint-dim", "Dimensions of the joint space.  [default: 2048; vse, vsepp 1024]"),
    number("--dropout", "Of the state and of the picture's vector.  [default: 0.5; vse, vsepp 0]"),
    click.option(
        "--standardize-pictures",
        is_flag=True,
        default=None,
        help="Give image vectors mean 0 and sd 1 in each dimension, as over the training pictures.",
    ),
)


@click.command(
    cls=Sectioned,
    context_settings={"allow_extra_args": True},
    short_help="One space for pictures and languages.",
)
@manifest_options
@click.pass_context
def mlmme(ctx: click.Context, /, manifest: Path, **given: Any) -> None:  # noqa: ANN401  (options)
    """Train one space for pictures and sentences of several languages (MLMME), or VSE with one language.

    MANIFEST holds items with texts in the languages and, unless --beta is 0, pictures.
    """
    from xlingual.training.options import FitOptions
    from xlingual.training.recipes.mlmme_options import FIT_PRESETS, MlmmeOptions
    from xlingual.training.settings import option_types
    from xlingual.training.sinks import parse_sink
    from xlingual.workflows.train_mlmme import train_mlmme

    refuse_extra(ctx)
    check_folder(given["out"])
    given["text_encoders"] = ()
    store = chosen_store(given)
    if given["languages"] is not None:
        given["languages"] = tuple(listed_languages(given["languages"]))
    known = option_types(FitOptions, MlmmeOptions) | {"recipe": str, "select": str}
    chosen = told(given, known, given["config"])
    recipe, select = chosen.pop("recipe", "mlmme"), chosen.pop("select", "auto")
    sinks = [parse_sink(text) for text in given["log_to"]]
    with (
        told_how_to_go_on(given["out"]),
        screen.warnings_as_lines(),
        screen.progress(given["quiet"] or given["as_json"]) as progress,
    ):
        if progress is not None:
            progress("reading the manifest", 0, 1)
        data = read_manifest(manifest, given)
        languages = chosen.pop("languages", data.languages)
        if len(languages) == 1 and recipe == "mlmme":
            chosen.setdefault("beta", 1.0)
        of_fit = {name: chosen.pop(name) for name in option_types(FitOptions) if name in chosen}
        if "seed" in of_fit:
            chosen["seed"] = of_fit["seed"]
        options = MlmmeOptions.preset(recipe, tuple(languages), **chosen)
        trained = train_mlmme(
            data,
            options,
            given["out"],
            fit=FitOptions(**{**FIT_PRESETS[recipe], **of_fit}),
            image_encoder=given["image_encoder"],
            validation=validation_of(given["validation"], manifest, given),
            validation_image_encoder=given["validation_image_encoder"],
            select=select,
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
        _show(trained, given)


mlmme = added(
    mlmme,
    (
        *_MLMME,
        VALIDATION,
        click.option(
            "--validation-image-encoder",
            metavar="SPEC",
            help="Of the validation's pictures, where files of vectors are others.",
        ),
        word(
            "--select",
            ("auto", "image-sentence", "sentence-sentence", "both"),
            "Whose sum of recalls chooses the epoch.  [default: image-sentence, without pictures "
            "sentence-sentence]",
        ),
        *FIT,
        encoding_options,
        *RUN,
    ),
)


def _show(trained: Trained, given: dict[str, Any]) -> None:
    """Tell what came out, and how the model is used."""
    model = f"model:{trained.folder.path}"
    lines = uses("--text-encoder", model, None, "texts")
    if trained.pictures is not None:
        lines += uses("--image-encoder", model, given["image_encoder"], "pictures")
    show(trained, lines)
