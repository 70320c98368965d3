"""The requests of the training commands, and of the case study, which trains too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeAlias

from xlingual.errors import InputError
from xlingual.requests.ranking import Ranking
from xlingual.requests.record import Record, Request, argument, option
from xlingual.requests.shared import (
    Annotate,
    Form,
    ImageEncoding,
    Keeping,
    ManifestOptions,
    Output,
    PoolLanguages,
    Sampling,
    Split,
    TextEncoders,
)
from xlingual.requests.values import Positive, Share
from xlingual.training.options import Epochs, FitOptions, KeepEpoch, Rate, defaults_in_help
from xlingual.training.recipes.dual_options import NETWORK_FIT, DualOptions
from xlingual.training.recipes.mlmme_options import (
    FIT_PRESETS,
    PRESETS,
    Beta,
    Languages,
    MlmmeSettings,
    Select,
)
from xlingual.training.recipes.triplet_options import (
    CONVENTIONS,
    FIT,
    OF_XL,
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
    select: Annotated[
        Select,
        option(
            "Sums of recalls that choose the epoch (the MLMME paper does not say which).",
            otherwise="image-sentence, without images sentence-sentence",
        ),
    ] = "auto"
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
    in_files: ClassVar[tuple[str, ...]] = OF_XL

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


class TripletXlRequest(TripletRequest, frozen=True, kw_only=True):
    """Train TripletXL: Triplet with a loss term that brings neighbours in other languages nearer."""

    command = "train triplet-xl"
    in_files = ()

    model: TripletOptions = TripletOptions(beta=0.01)


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


class CaseStudyRequest(Request, frozen=True, kw_only=True):
    """Evaluate encoders, train on the best without parallel texts, and report what changed."""

    command = "casestudy"
    own_folder = True
    otherwise: ClassVar[Mapping[str, str]] = defaults_in_help(TripletOptions, CONVENTIONS)

    data: ManifestOptions
    images: ImageEncoding
    text_encoders: TextEncoders
    keeping: Keeping
    sampling: Sampling
    ranking: Ranking
    output: Output
    base: Annotated[
        str | None,
        option("The base encoder of the trainings.", metavar="NAME", otherwise="the best one"),
    ] = None
    train_split: Annotated[
        str,
        option("Rows to train on; those of --split are evaluated (default there: test).", metavar="NAME"),
    ] = "train"
    trainings: Annotated[
        int, option("Number of trainings of each model, with different seeds.", metavar="N")
    ] = 1
    measure: Annotated[str, option("The measure of the study: R@k or RR.", metavar="NAME")] = "R@10"
    worst: Annotated[
        Positive,
        option(
            "Number of Triplet's worst language pairs to examine; at most half of all pairs.", metavar="N"
        ),
    ] = 3
    triplet: Annotated[
        tuple[str, ...],
        option(
            "Take this model, trained before, instead of training one; repeat for several trainings.",
            metavar="MODEL",
        ),
    ] = ()
    triplet_xl: Annotated[
        tuple[str, ...],
        option(
            "Take this model of TripletXL instead of training one; repeat for several.",
            metavar="MODEL",
        ),
    ] = ()
    pivot_image_encoder: Annotated[
        str | None,
        option(
            "Also fit an image pivot of the base, with this image encoder; it must differ from that of the "
            "study.",
            metavar="SPEC",
            otherwise="no image pivot",
        ),
    ] = None
    control: Annotated[
        bool,
        option("Also evaluate a control: the concatenated title and body of the base, without training."),
    ] = True
    examples: Annotated[bool, option("Show texts and thumbnails as examples in the report.", run=True)] = True
    conventions: Conventions = "default"
    annotate: Annotate = ()
    model: TripletOptions = TripletOptions(beta=0.01)
    epochs: Epochs = 40
    rate: Rate = 0.01
    keep_epoch: KeepEpoch = "best"
    validation: Annotated[
        Share,
        option("Share of the rows to train on where epochs are compared.", metavar="SHARE"),
    ] = 0.1
    resume: Annotated[bool, option("Continue interrupted trainings.", run=True)] = False
    force: TrainAnew = False
