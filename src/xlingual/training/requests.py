"""The requests of the training commands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeAlias

from xlingual.errors import InputError
from xlingual.requests.record import Record, Request, argument, option
from xlingual.requests.shared import (
    Form,
    Keeping,
    ManifestOptions,
    PoolLanguages,
    Split,
)
from xlingual.training.options import FitOptions, defaults_in_help
from xlingual.training.recipes.dual_options import NETWORK_FIT, DualOptions
from xlingual.training.recipes.mlmme_options import (
    FIT_PRESETS,
    PRESETS,
    Beta,
    Languages,
    MlmmeSettings,
)
from xlingual.training.recipes.triplet_options import (
    CONVENTIONS,
    FIT,
    Conventions,
    TripletOptions,
)


class ModelOutput(Record, frozen=True, kw_only=True):
    """Where a model is written."""

    out: Annotated[Path, option("Folder of the model.", metavar="MODEL", run=True)]
    config: Annotated[
        Path | None,
        option(
            "TOML file of options, such as epochs = 30; the command line overrides it.",
            metavar="FILE.toml",
            run=True,
        ),
    ] = None
    resume: Annotated[bool, option("Continue an interrupted training.", run=True)] = False
    force: Annotated[bool, option("Replace the model or training that MODEL holds.", run=True)] = False
    form: Form = "table"
    as_json: Annotated[
        bool, option("Print config.json, as --format json does.", names=("--json",), run=True)
    ] = False
    quiet: Annotated[bool, option("Print nothing but warnings and errors.", run=True)] = False


Base: TypeAlias = Annotated[
    str,
    option(
        "Base of the towers: words (from scratch), hf:NAME_OR_PATH (a network of transformers, which is "
        "fine-tuned), or any text encoder, which stays frozen.",
        metavar="SPEC",
    ),
]
Frozen: TypeAlias = Annotated[bool, option("Freeze the network of --base hf: as well.")]
TrainAnew: TypeAlias = Annotated[bool, option("Train anew where DIR has models already.", run=True)]


class Validated(Record, frozen=True, kw_only=True):
    """Where the epochs of a training are compared."""

    validation: Annotated[
        float | str,
        option(
            "Data on which epochs are compared: a split of MANIFEST, another manifest (FILE, FILE#split, "
            "FILE#A:B), or a share of the items, held out.",
            metavar="SPLIT|FILE#rows|SHARE",
        ),
    ] = 0.1


class MlmmeGiven(MlmmeSettings, frozen=True, kw_only=True):
    """Settings of a model; its languages, and beta, depend on the manifest where they are not given."""

    languages: Languages | None = None
    beta: Beta | None = None  # type: ignore[assignment]  # None until the languages are known


class MlmmeRequest(Request, frozen=True, kw_only=True):
    """Train one space for images and sentences of several languages."""

    command = "train mlmme"
    first: ClassVar[tuple[str, ...]] = ("languages", "image_encoder", "recipe")
    otherwise: ClassVar[Mapping[str, str]] = {
        **defaults_in_help(MlmmeSettings, PRESETS),
        **defaults_in_help(FitOptions, FIT_PRESETS),
        "beta": "0.5; with one language 1",
    }

    data: ManifestOptions
    image_encoder: Annotated[
        str | None,
        option("Encoder of the images; may be left out only with --beta 0.", metavar="SPEC"),
    ] = None
    recipe: Annotated[
        Literal["mlmme", "paper", "vse", "vsepp"],
        option(
            "Set of defaults: those of this program for MLMME, or those of the paper on MLMME, VSE or VSE++."
        ),
    ] = "mlmme"
    model: MlmmeGiven
    validated: Validated
    validation_image_encoder: Annotated[
        str | None,
        option(
            "Encoder of the validation's images, where their vectors are in other files.",
            metavar="SPEC",
        ),
    ] = None
    fit: FitOptions
    keeping: Keeping
    folder: ModelOutput


class TripletRequest(Request, frozen=True, kw_only=True):
    """Train two layers over an encoder's vectors, so that a body is near its own title."""

    command = "train triplet"
    first = ("text_encoders", "conventions", "title", "body", "split_text")
    otherwise: ClassVar[Mapping[str, str]] = {
        **defaults_in_help(TripletOptions, CONVENTIONS),
        **defaults_in_help(FitOptions, CONVENTIONS),
    }

    data: ManifestOptions
    text_encoders: Annotated[
        tuple[str, ...],
        option(
            "The text encoder of the frozen vectors.",
            names=("--text-encoder",),
            metavar="SPEC",
        ),
    ]
    conventions: Conventions = "default"
    model: TripletOptions
    validated: Validated
    fit: FitOptions = FitOptions(**FIT)
    keeping: Keeping
    folder: ModelOutput


def share_or_none(text: str) -> float | None:
    """Return a share; None for "none"."""
    try:
        return None if text == "none" else float(text)
    except ValueError:
        raise InputError(f"{text!r}: give a share between 0 and 1, such as 0.1, or none") from None


class DualEncoderRequest(Request, frozen=True, kw_only=True):
    """Train a dual encoder on questions and their answers in all languages."""

    command = "train dual-encoder"
    first = ("pool", "languages", "split", "base", "frozen", "regime")
    otherwise: ClassVar[Mapping[str, str]] = defaults_in_help(FitOptions, {"hf:": NETWORK_FIT})

    pool: Annotated[Path, argument("POOL", "A multilingual pool.")]
    languages: PoolLanguages = None
    split: Split = None
    base: Base = "words"
    frozen: Frozen = False
    model: DualOptions
    validation: Annotated[
        float | None,
        option(
            "Share of the paragraphs to hold out; the epoch with the best mAP on them is chosen.",
            metavar="SHARE|none",
            reads=share_or_none,
        ),
    ] = 0.1
    fit: FitOptions
    keeping: Keeping
    folder: ModelOutput
