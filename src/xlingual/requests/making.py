"""Requests of `data`: to check, sample and make data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import (
    AsJson,
    Form,
    Keeping,
    ManifestOptions,
    PoolLanguages,
    Queries,
    Quiet,
    Sampling,
    SkipBroken,
)
from xlingual.requests.values import AtLeastZero, Natural, Positive, comma_list, pair_list

Folder: TypeAlias = Annotated[Path, option("Write the data to the folder DIR.", metavar="DIR", run=True)]
Manifest: TypeAlias = Annotated[
    Path, option("Write the manifest, a Parquet file.", metavar="MANIFEST", run=True)
]
Force: TypeAlias = Annotated[bool, option("Replace the pool that DIR holds already.", run=True)]
FileFormat: TypeAlias = Annotated[
    Literal["parquet", "jsonl"],
    option("Format of the files.", names=("--file-format",), run=True),
]


class CheckRequest(Request, frozen=True, kw_only=True):
    """List the problems of a manifest."""

    command = "data check"

    data: ManifestOptions
    form: Form = "table"
    as_json: AsJson = False
    quiet: Annotated[bool, option("Print errors and warnings only.", run=True)] = False
    image_encoder: Annotated[
        str | None,
        option(
            "Check whether Backretrieval can separate text encoders on these data, with this image encoder; "
            "no text encoder is needed.",
            metavar="SPEC",
            otherwise="no such check",
        ),
    ] = None
    pairs: Annotated[
        tuple[str, ...] | None,
        option(
            "Language pairs to check, with --image-encoder.",
            metavar="en-de,…",
            otherwise="all",
            reads=pair_list,
        ),
    ] = None
    k: Annotated[Positive, option("K of R@K, with --image-encoder.", metavar="K")] = 10
    keeping: Keeping = Keeping()


class SampleRequest(Request, frozen=True, kw_only=True):
    """Write the queries and targets that an evaluation draws, for a search engine."""

    command = "data sample"

    data: ManifestOptions
    matching: Annotated[
        bool,
        option(
            "Include the queries' own items in the targets, as for evaluate xlr; without this option "
            "they are left out, as for bkr."
        ),
    ] = False
    queries: Queries = None
    sampling: Sampling
    skip_broken: SkipBroken = False
    languages: PoolLanguages = None
    out: Folder
    force: Annotated[bool, option("Replace the queries and targets that DIR holds already.", run=True)] = (
        False
    )
    quiet: Quiet = False


class SquadToPoolRequest(Request, frozen=True, kw_only=True):
    """Make a multilingual pool of SQuAD-style files."""

    command = "data squad-to-pool"

    files: Annotated[tuple[str, ...], argument("[LANG=]FILE…", "SQuAD-style files, one for each language.")]
    out: Folder
    file_format: FileFormat = "parquet"
    train: Annotated[
        float | None,
        option("Share of the paragraphs in the split 'train'; the rest: 'test'.", metavar="SHARE"),
    ] = None
    train_by: Annotated[
        Literal["paragraph", "article"],
        option("Unit that --train draws: a paragraph, or a whole article, is in one part only."),
    ] = "paragraph"
    seed: Annotated[Natural, option("Seed of the paragraphs that --train draws.")] = 0
    force: Force = False
    quiet: Quiet = False


class MixPoolRequest(Request, frozen=True, kw_only=True):
    """Make a multilingual pool with a chosen mix of languages."""

    command = "data mix-pool"

    data: ManifestOptions
    out: Folder
    question_languages: Annotated[
        tuple[str, ...] | None,
        option(
            "Languages of the questions.",
            metavar="en,de,…",
            otherwise="those of the mix, else all",
            reads=comma_list,
        ),
    ] = None
    mix: Annotated[
        str | None,
        option("Shares of languages among the candidates.", metavar="en=3,de=1,…", otherwise="all texts"),
    ] = None
    candidates: Annotated[
        Positive | None, option("Number of candidates.", metavar="N", otherwise="as many as possible")
    ] = None
    seed: Annotated[Natural, option("Seed of the draw: the same seed gives the same pool.")] = 0
    file_format: FileFormat = "parquet"
    force: Force = False
    quiet: Quiet = False


class ConvertRequest(Request, frozen=True, kw_only=True):
    """Convert a corpus of the papers to a manifest."""

    command = "data convert"

    name: Annotated[
        Literal["multi30k", "multi30k-task2", "stair", "ikea"], argument("NAME", "The name of the corpus.")
    ]
    folder: Annotated[Path, argument("FOLDER", "The folder that it was unpacked to.")]
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False


class ScenesRequest(Request, frozen=True, kw_only=True):
    """Make images with texts in several languages."""

    command = "data scenes"

    n: Annotated[Positive, option("Number of scenes.", metavar="N")]
    languages: Annotated[
        tuple[str, ...],
        option("Languages of the texts.", metavar="en,de,…", reads=comma_list),
    ] = ("en", "de", "es", "ja", "ar")
    seed: Annotated[Natural, option("Seed of the data: the same seed gives the same bytes.")] = 0
    train: Annotated[AtLeastZero, option("Share of the scenes in the split 'train'.", metavar="SHARE")] = 0.5
    texts: Annotated[
        Positive, option("Number of independent descriptions of a scene in each language.", metavar="N")
    ] = 1
    out: Folder
    quiet: Annotated[bool, option("Print nothing but errors.", run=True)] = False
