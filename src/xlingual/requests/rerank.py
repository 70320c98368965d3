"""Requests of `rerank`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from xlingual.requests.record import Record, Request, argument, option
from xlingual.requests.shared import AsJson, Form, Keeping, Quiet
from xlingual.requests.values import Natural, Positive

Lists: TypeAlias = Annotated[Path, argument("NBEST", "A file of n-best lists, in the format of Moses.")]
References: TypeAlias = Annotated[
    tuple[Path, ...],
    option(
        "References, one line for each sentence, tokenised like the lists; repeat for several.",
        metavar="FILE",
    ),
]
Lowercase: TypeAlias = Annotated[bool, option("Ignore letter case.")]


class Tuning(Record, frozen=True, kw_only=True):
    """How k-best MIRA tunes weights."""

    seed: Annotated[Natural, option("Seed of the first tuning.")] = 0
    tunings: Annotated[Positive, option("Number of tunings, which differ in their seed.")] = 3
    standardize: Annotated[bool, option("Divide each feature by its spread within lists.")] = False
    lowercase: Lowercase = False
    c: Annotated[float, option("The largest step.", names=("--C",), metavar="C")] = 0.01
    decay: Annotated[float, option("Decay of the background.", metavar="D")] = 0.999
    epochs: Annotated[int, option("Number of passes over the lists.", metavar="N")] = 60


class FeaturesRequest(Request, frozen=True, kw_only=True):
    """Add similarities to the hypotheses of n-best lists."""

    command = "rerank features"

    nbest: Lists
    source: Annotated[Path | None, option("The sentence of each list, one a line.", metavar="SRC")] = None
    text_encoders: Annotated[
        tuple[str, ...],
        option(
            "Text encoder: st:, hf:, onnx:, wordvec:, translate:, api:, python:, model:, chargram or "
            "lsa:?fit=FILE; repeat for several. NAME=SPEC names the feature. See: xlingual encoders.",
            names=("--text-encoder",),
            metavar="SPEC",
        ),
    ]
    images: Annotated[
        str | None,
        option(
            "Manifest of images: row (or item) i has the image of sentence i; FILE#SPLIT, FILE#A:B.",
            metavar="MANIFEST",
        ),
    ] = None
    image_encoders: Annotated[
        tuple[str, ...],
        option(
            "Image encoder of the same space as the texts: one for all text encoders, or one for each in "
            "their order.",
            names=("--image-encoder",),
            metavar="SPEC",
        ),
    ] = ()
    source_language: Annotated[
        str, option("Language of the source, such as en, where an encoder needs it.", metavar="TAG")
    ] = "und"
    target_language: Annotated[str, option("Language of the hypotheses.", metavar="TAG")] = "und"
    keeping: Keeping
    out: Annotated[Path, option("Write the lists with the features to NBEST2.", metavar="NBEST2", run=True)]
    quiet: Quiet = False


class TuneRequest(Request, frozen=True, kw_only=True):
    """Find weights for the features of n-best lists."""

    command = "rerank tune"

    nbest: Lists
    references: References
    out: Annotated[Path, option("Write the weights to FILE, as JSON.", metavar="FILE", run=True)]
    tuning: Tuning
    folds: Annotated[
        int | None,
        option("Also show the result of K-fold cross-validation.", metavar="K", otherwise="none"),
    ] = None
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False


class ApplyRequest(Request, frozen=True, kw_only=True):
    """Write the translations that weights choose."""

    command = "rerank apply"

    nbest: Lists
    weights: Annotated[Path, option("File that xlingual rerank tune --out wrote.", metavar="FILE")]
    out: Annotated[Path, option("Write the best translations to FILE.", metavar="FILE", run=True)]
    tuning: Annotated[int, option("Use the weights of this tuning.", metavar="N")] = 0
    quiet: Quiet = False


class ScoreRequest(Request, frozen=True, kw_only=True):
    """Measure translations."""

    command = "rerank score"

    best: Annotated[
        tuple[Path, ...],
        argument("BEST…", "Files of one translation a line."),
    ]
    references: References
    baseline: Annotated[
        Path | None, option("Baseline translations to test BEST against.", metavar="FILE")
    ] = None
    nbest: Annotated[
        Path | None, option("Also show the bounds of these lists: oracle, random choice …", metavar="NBEST")
    ] = None
    language: Annotated[
        str | None, option("Language of the translations (de): adds METEOR.", metavar="CODE")
    ] = None
    tokenize: Annotated[
        Literal["none", "13a", "intl", "char", "zh"],
        option("Tokeniser of BLEU; none where the texts are tokenised."),
    ] = "none"
    lowercase: Lowercase = False
    samples: Annotated[Positive, option("Number of resamples of test and intervals.", metavar="N")] = 1000
    seed: Annotated[Natural, option("Seed of random choice.")] = 0
    out: Annotated[Path | None, option("Write the scores to FILE, as JSON.", metavar="FILE", run=True)] = None
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False
