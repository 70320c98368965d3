"""The request of the case study of MLMME: one space for images and sentences, over languages and β."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.requests.record import Record, Request, argument, option
from xlingual.requests.shared import Columns, Keeping, Output, Split
from xlingual.requests.values import Positive, comma_list
from xlingual.training.options import FitOptions, defaults_in_help
from xlingual.training.recipes.mlmme_options import FIT_PRESETS, PRESETS, Languages, MlmmeSettings
from xlingual.training.requests import Validated

TABLES = RANKING, STS, RERANKING = "ranking", "sts", "reranking"
RECIPES = ("paper", "mlmme")
BETAS = (1.0, 0.75, 0.5, 0.25)
TRAININGS = 3
# of built-in data, so that all is done in about two minutes
SMALL: Mapping[str, object] = {
    "word_dim": 64,
    "state_dim": 128,
    "joint_dim": 128,
    "standardize_pictures": True,
    "redraw": "batch",
    "contrastive": 50,
    "epochs": 10,
    "trainings": 2,
    "threads": 1,
}


def beta_list(text: str) -> tuple[float, ...]:
    """Return the betas of "1,0.5"."""
    try:
        return tuple(map(float, comma_list(text)))
    except ValueError:
        raise InputError(f"{text!r}: give numbers from 0 to 1, such as 1,0.75,0.5,0.25") from None


def table_list(text: str) -> tuple[str, ...]:
    """Return the tables of "ranking,sts"."""
    found = tuple(comma_list(text))
    if unknown := [name for name in found if name not in TABLES]:
        raise InputError(
            f"{unknown[0]!r} is no table of the study.{did_you_mean(unknown[0], TABLES)} There are "
            f"{listed(TABLES)}"
        )
    return found


class StudyData(Columns, frozen=True, kw_only=True):
    """What is trained on; without a manifest, built-in scenes."""

    manifest: Annotated[
        Path | None,
        argument("[MANIFEST]", "The file or folder of texts and images to train on, else built-in scenes."),
    ] = None
    split: Split = None
    rows: Annotated[
        str | None, option("Use only rows A to B, counted from 0, B left out.", metavar="A:B")
    ] = None
    items: Annotated[
        Annotated[int, Meta(ge=100)],
        option("Number of built-in scenes to train on, where there is no MANIFEST.", metavar="N"),
    ] = 1000


Betas: TypeAlias = Annotated[
    tuple[float, ...],
    option(
        "Weights of images against sentences, each a model: 1,0.75,0.5,0.25.", metavar="X,…", reads=beta_list
    ),
]


class SweepSettings(MlmmeSettings, frozen=True, kw_only=True):
    """Settings that all models of the study share; beta has several values."""

    beta: Betas = BETAS  # type: ignore[assignment]  # several

    def __post_init__(self) -> None:
        """Check the values of beta."""
        super().__post_init__()
        if not self.beta or len(set(self.beta)) < len(self.beta):
            raise InputError("--beta: give each weight once, such as 1,0.75,0.5,0.25")
        if wrong := [beta for beta in self.beta if not 0 <= beta <= 1]:
            raise InputError(f"--beta: {wrong[0]:g} is not between 0 and 1")


class Lists(Record, frozen=True, kw_only=True):
    """The n-best lists of Table 3: weights are tuned on one set of sentences and judged on another."""

    heading = "Re-ranking of translations"

    tune_nbest: Annotated[
        Path | None, option("n-best lists to tune weights on, in the format of Moses.", metavar="NBEST")
    ] = None
    tune_references: Annotated[
        tuple[Path, ...],
        option("References of --tune-nbest, one sentence a line; repeat for several.", metavar="FILE"),
    ] = ()
    tune_source: Annotated[
        Path | None, option("Source sentences of --tune-nbest, one a line.", metavar="FILE")
    ] = None
    tune_images: Annotated[
        str | None,
        option("Manifest of the images of --tune-nbest, row i for sentence i.", metavar="MANIFEST"),
    ] = None
    test_nbest: Annotated[
        Path | None, option("n-best lists that are re-ranked and measured.", metavar="NBEST")
    ] = None
    test_references: Annotated[tuple[Path, ...], option("References of --test-nbest.", metavar="FILE")] = ()
    test_source: Annotated[
        Path | None, option("Source sentences of --test-nbest, one a line.", metavar="FILE")
    ] = None
    test_images: Annotated[
        str | None, option("Manifest of the images of --test-nbest.", metavar="MANIFEST")
    ] = None
    tune_image_encoder: Annotated[
        str | None,
        option("Encoder of the images of --tune-images.", metavar="SPEC", otherwise="--image-encoder"),
    ] = None
    rerank_image_encoder: Annotated[
        str | None,
        option("Encoder of the images of --test-images.", metavar="SPEC", otherwise="--image-encoder"),
    ] = None
    source_language: Annotated[
        str | None,
        option("Language of the source sentences.", metavar="TAG", otherwise="the first language"),
    ] = None
    target_language: Annotated[
        str | None,
        option("Language of the translations.", metavar="TAG", otherwise="the second language"),
    ] = None
    own_features: Annotated[
        Literal["score", "all"],
        option(
            "What of the list is tuned beside the similarities: the system's score alone, as in the paper, "
            "or all of its features."
        ),
    ] = "score"
    tunings: Annotated[Positive, option("Number of tunings of each model.", metavar="N")] = 1


class MlmmeStudyRequest(Request, frozen=True, kw_only=True):
    """Train VSE and MLMME over a sweep of beta, and make the three tables of the MLMME paper."""

    command = "casestudy mlmme"
    own_folder = True
    first: ClassVar[tuple[str, ...]] = (
        "languages",
        "image_encoder",
        "test",
        "validation",
        "beta",
        "trainings",
        "recipe",
        "tables",
        "sts",
    )
    otherwise: ClassVar[Mapping[str, str]] = {
        **defaults_in_help(MlmmeSettings, {name: PRESETS[name] for name in RECIPES}),
        **defaults_in_help(FitOptions, {name: FIT_PRESETS[name] for name in RECIPES}),
        "trainings": f"{TRAININGS}; of built-in data {SMALL['trainings']}",
        "epochs": f"30; of built-in data {SMALL['epochs']}",
        "beta": ",".join(f"{beta:g}" for beta in BETAS),
    }

    data: StudyData
    languages: Languages | None = None
    image_encoder: Annotated[
        str | None,
        option("Encoder of the images.", metavar="SPEC", otherwise="of built-in data pixels"),
    ] = None
    test: Annotated[
        str,
        option(
            "Images and sentences that are ranked: a split of MANIFEST, or another manifest (FILE, "
            "FILE#split, FILE#A:B).",
            metavar="SPLIT|FILE#rows",
        ),
    ] = "test"
    test_image_encoder: Annotated[
        str | None,
        option(
            "Encoder of the images of --test, where their vectors are in other files.",
            metavar="SPEC",
            otherwise="--image-encoder",
        ),
    ] = None
    validated: Validated
    validation_image_encoder: Annotated[
        str | None,
        option(
            "Encoder of the validation's images, where their vectors are in other files.",
            metavar="SPEC",
            otherwise="--image-encoder",
        ),
    ] = None
    recipe: Annotated[
        Literal["paper", "mlmme"],
        option("Conventions of all models: those of the paper, or those of train mlmme."),
    ] = "paper"
    trainings: Annotated[
        Positive, option("Number of trainings of each model, with different seeds.", metavar="N")
    ] = TRAININGS
    tables: Annotated[
        tuple[str, ...] | None,
        option(
            "Tables to make: ranking (Table 1), sts (Table 2), reranking (Table 3).",
            metavar="ranking,sts,…",
            otherwise="those whose data are given",
            reads=table_list,
        ),
    ] = None
    sts: Annotated[
        tuple[Path, ...],
        option("A file of sentence pairs with scores; repeat for several.", metavar="FILE"),
    ] = ()
    sts_language: Annotated[
        str | None, option("Language of the sentence pairs.", metavar="TAG", otherwise="the first language")
    ] = None
    lists: Lists
    model: SweepSettings
    fit: FitOptions
    keeping: Keeping
    output: Output
    force: Annotated[bool, option("Train anew where DIR has models of other settings.", run=True)] = False
