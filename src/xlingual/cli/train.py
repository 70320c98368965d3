"""`xlingual train`: better embeddings on your own data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import interruption, screen
from xlingual.cli.checks import check_folder
from xlingual.cli.from_request import command
from xlingual.cli.opening import columns, read_manifest, store_of
from xlingual.cli.pivot import pivot
from xlingual.cli.training_outcome import dual_page, how_to_go_on, trained_page, uses
from xlingual.errors import InputError
from xlingual.requests.keeping import ExportModelRequest
from xlingual.training.recipes.mlmme_options import FIT_PRESETS, PRESETS
from xlingual.training.recipes.triplet_options import CONVENTIONS
from xlingual.training.requests import DualEncoderRequest, MlmmeRequest, TripletRequest

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest
    from xlingual.requests.shared import ManifestOptions


@click.group()
def train() -> None:
    """Train embeddings on your own texts and images, or export them; a model is an encoder (model:DIR)."""


train.add_command(pivot)


def _of_recipe(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the recipe that was asked for sets."""
    recipe = given.get("recipe", "mlmme")
    return {**PRESETS[recipe], **FIT_PRESETS[recipe]}


@command(
    MlmmeRequest,
    train,
    presets=_of_recipe,
    short_help="Train one space for images and sentences of several languages (MLMME).",
)
def mlmme(request: MlmmeRequest) -> None:
    """Train one space for images and sentences of several languages (MLMME), or VSE with one language.

    MANIFEST holds items with texts in the languages and, unless --beta is 0, images.
    """
    from xlingual.training.recipes.mlmme_options import MlmmeOptions
    from xlingual.workflows.train_mlmme import train_mlmme

    def run(**more: Any) -> Any:  # noqa: ANN401
        data = read_manifest(request.data)
        settings = {name: value for name, value in request.model.settings().items() if value is not None}
        languages = tuple(settings.pop("languages", data.languages))
        if len(languages) == 1:
            settings.setdefault("beta", 1.0)
        return train_mlmme(
            data,
            MlmmeOptions.preset(request.recipe, languages, **settings),
            request.folder.out,
            image_encoder=request.image_encoder,
            validation=_validation(request.validated.validation, request.data),
            validation_image_encoder=request.validation_image_encoder,
            recipe=request.recipe,
            **more,
        )

    trained = _trained(request, run)
    model = f"model:{trained.folder.path}"
    lines = uses("--text-encoder", model, None, "texts")
    if trained.images is not None:
        lines += uses("--image-encoder", model, request.image_encoder, "images")
    screen.show_page(trained_page(trained, lines), trained.folder.config, request.folder)


def of_conventions(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the conventions that were asked for set."""
    return CONVENTIONS[given.get("conventions", "default")]


@command(
    TripletRequest,
    train,
    presets=of_conventions,
    short_help="Train layers that put a body near its own title (Triplet, TripletXL).",
)
def triplet(request: TripletRequest) -> None:
    """Train Triplet: two layers on an encoder's vectors that bring a body near its own title.

    MANIFEST holds texts with two further columns, such as a title and a body. Translations are not needed.
    With --beta it is TripletXL, whose loss has a term that brings neighbours in other languages nearer.
    """
    from xlingual.workflows.train_triplet import train_triplet

    if (count := len(request.text_encoders)) > 1:
        raise InputError(f"--text-encoder is given {count} times: a model stands on one")
    (encoder,) = request.text_encoders

    def run(**more: Any) -> Any:  # noqa: ANN401
        return train_triplet(
            read_manifest(request.data),
            request.model,
            request.folder.out,
            text_encoder=encoder,
            validation=_validation(request.validated.validation, request.data),
            **more,
        )

    trained = _trained(request, run)
    lines = uses("--text-encoder", f"model:{trained.folder.path}", encoder, "texts")
    screen.show_page(trained_page(trained, lines), trained.folder.config, request.folder)


def _of_base(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of the fit loop that the base has by default."""
    from xlingual.workflows.train_dual_encoder import fit_presets

    return fit_presets(given.get("base", "words"), given, frozen=given.get("frozen", False))


@command(
    DualEncoderRequest,
    train,
    presets=_of_base,
    short_help="Train a dual encoder of questions and answers in several languages (LAReQA).",
)
def dual_encoder(request: DualEncoderRequest) -> None:
    """Train a dual encoder (LAReQA) on the questions of POOL and their answers in all languages."""
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.training.parallel import of_pool
    from xlingual.workflows.train_dual_encoder import train_dual_encoder

    base = request.base
    pool = MultilingualPool.read(request.pool, request.languages, request.split)

    def run(**more: Any) -> Any:  # noqa: ANN401
        return train_dual_encoder(
            of_pool(pool),
            request.folder.out,
            request.model,
            base=base,
            frozen=request.frozen,
            validation=request.validation,
            **more,
        )

    trained = _trained(request, run)
    config = trained.folder.config
    below = None if config["base"] is None else base
    lines = uses("--text-encoder", f"model:{trained.folder.path}", below, "texts")
    screen.show_page(dual_page(trained, lines), config, request.folder)


@command(ExportModelRequest, train)
def export(request: ExportModelRequest) -> None:
    """Write a model for other programs.

    sentence-transformers: a folder that gives the model's vectors of texts; of a Triplet, those of one field.
    safetensors: the maps that repair chose, as a matrix and an offset for each language. The export is
    checked: it is refused if its vectors differ from those of the model.
    """
    from xlingual.workflows.export import export_model

    with screen.warnings_as_lines():
        made = export_model(
            request.folder,
            request.to,
            request.out,
            base=request.base,
            field=request.field,
            language=request.language,
            replace=request.force,
        )
    if not request.quiet:
        screen.say(
            f"Gives the model's vectors ({made.dim:,} dimensions); the largest difference found is "
            f"{made.difference:.1g}."
        )
    screen.wrote(request.out, quiet=request.quiet)


def _trained(request: Any, run: Callable[..., Any]) -> Any:  # noqa: ANN401  (a request of `train`)
    """Run a training with the arguments that all trainings share, and return its result."""
    folder = request.folder
    check_folder(folder.out)
    store = store_of(request.keeping)
    with (
        interruption.explained(lambda: how_to_go_on(folder.out)),
        screen.warnings_as_lines(),
        screen.progress(screen.silent(folder)) as progress,
    ):
        progress("reading the data", 0, 1)
        return run(
            fit=request.fit,
            resume=folder.resume,
            replace=folder.force,
            store=store,
            progress=progress,
        )


def _validation(reference: float | str, data: ManifestOptions) -> Manifest | float:
    """Return what --validation means: a share, or a manifest that is read with the columns of MANIFEST."""
    from xlingual.data.manifest import Manifest, read_reference

    try:
        share = float(reference)
    except ValueError:
        share = None
    if share is not None:
        if not 0 < share < 1:
            raise InputError(f"--validation {reference}: a share is between 0 and 1, such as 0.1")
        return share
    named = str(reference)
    if "#" in named or os.path.exists(named):
        return read_reference(named, **columns(data))
    return Manifest.read(data.manifest, **columns(data), split=named)
