"""Options that several requests share: a manifest or a pool, encoders and the store, and output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from xlingual.requests.record import Record, argument, option
from xlingual.requests.values import (
    Positive,
    comma_list,
    number_all_or_file,
    number_or_all,
    pair_list,
)

Pool: TypeAlias = Annotated[
    Path,
    argument("POOL", "A pool folder, a retrieval folder of BEIR or MTEB, or a folder of SQuAD-style files."),
]
PoolLanguages: TypeAlias = Annotated[
    tuple[str, ...] | None,
    option("Use only these languages, in this order.", metavar="ar,de,…", otherwise="all", reads=comma_list),
]
Split: TypeAlias = Annotated[str | None, option("Use only the rows of this split.", metavar="NAME")]
Trec: TypeAlias = Annotated[
    Path | None, option("Write run and qrels files to the folder DIR.", metavar="DIR", run=True)
]
TrecDepth: TypeAlias = Annotated[
    Positive | Literal["all"] | None,
    option(
        "Candidates of each query in a run file, about 55 bytes each; `all` may take gigabytes.",
        metavar="N|all",
        otherwise="1000",
        reads=number_or_all,
        run=True,
    ),
]
Cluster: TypeAlias = Annotated[
    str,
    option(
        "Queries that count as dependent: those of one cluster or item (declared), or also those with "
        "near-equal texts and images (near-duplicates).",
        metavar="NAME",
    ),
]


TextSimilarity: TypeAlias = Annotated[
    str,
    option(
        "Similarity that ranks: cosine; or, with hubs corrected by training queries, "
        "'csls?k=10&fit=FILE#train' or 'inverted-softmax?beta=20&fit=FILE#train'.",
        metavar="NAME",
    ),
]


RelevantFrom: TypeAlias = Annotated[
    Positive, option("Smallest grade of a relevant candidate.", metavar="GRADE")
]
IgnoreIdenticalIds: TypeAlias = Annotated[
    bool,
    option("Leave out candidates with the query's own id, as BEIR and MTEB do for ArguAna and Quora."),
]
Ties: TypeAlias = Annotated[
    Literal["expected", "trec"],
    option(
        "Ties. expected: the mean over all orders of tied candidates; trec: the order of trec_eval, where "
        "candidates that a run lacks were not found."
    ),
]


class Columns(Record, frozen=True, kw_only=True):
    """How a table of texts is read."""

    heading = "Reading the manifest"

    text_column: Annotated[
        str | None, option("Column of texts, or a pattern such as name_{lang}.", metavar="NAME")
    ] = None
    image_column: Annotated[str | None, option("Column of image paths or bytes.", metavar="NAME")] = None
    item_column: Annotated[
        str | None, option("Column of items: texts of one item match.", metavar="NAME")
    ] = None
    id_column: Annotated[str | None, option("Column of ids.", metavar="NAME")] = None
    lang_column: Annotated[
        str | None, option("Column of languages, in a manifest with one text per row.", metavar="NAME")
    ] = None
    cluster_column: Annotated[
        str | None, option("Column of clusters: texts of one cluster are not independent.", metavar="NAME")
    ] = None
    drop_shared_images: Annotated[
        Positive | None,
        option(
            "Leave out rows whose image, or near-equal ones, more than N items show (no-image.png).",
            metavar="N",
        ),
    ] = None


class ManifestOptions(Columns, frozen=True, kw_only=True):
    """A manifest, and the choice of its rows."""

    manifest: Annotated[Path, argument("MANIFEST", "The file or folder of texts and images.")]
    split: Split = None
    rows: Annotated[
        str | None, option("Use only rows A to B, counted from 0, B left out.", metavar="A:B")
    ] = None


SampleOf: TypeAlias = Annotated[
    int | str,
    option(
        "Items drawn for each side, at most N; all; or a FILE of fixed samples, an .npz with S and T, whose "
        "rows are the seeds.",
        metavar="N|all|FILE",
        reads=number_all_or_file,
    ),
]


class Samples(Record, frozen=True, kw_only=True):
    """Languages and samples that are evaluated, but for the number of samples."""

    pairs: Annotated[
        tuple[str, ...] | None,
        option(
            "Language pairs, source-target.",
            metavar="en-de,…",
            otherwise="all",
            reads=pair_list,
        ),
    ] = None
    sample: SampleOf = "all"
    texts_per_item: Annotated[
        Positive | Literal["all"],
        option(
            "Number of texts of an item in a language, drawn at random; all: every text takes part.",
            metavar="N|all",
            reads=number_or_all,
        ),
    ] = "all"
    seed: Annotated[int, option("Seed of the first sample.")] = 0


class Sampling(Samples, frozen=True, kw_only=True):
    """Languages and samples that are evaluated."""

    seeds: Annotated[int, option("Number of samples drawn.")] = 1


Queries: TypeAlias = Annotated[
    Positive | None,
    option(
        "Use only N queries, drawn at random from the sources; the candidates stay the same.",
        metavar="N",
        otherwise="all",
    ),
]

TextEncoders: TypeAlias = Annotated[
    tuple[str, ...],
    option(
        "Text encoder: vectors:PATH (or just a path), st:, hf:, onnx:, wordvec:, translate:, concat:, api:, "
        "python:, model:, random, bm25, wordgram, chargram or lsa:?fit=FILE#SPLIT, or a transform of "
        "one, as in centre:?fit=FILE#SPLIT::SPEC; repeat for several. Quote patterns with *. See: xlingual "
        "encoders.",
        names=("--text-encoder",),
        metavar="SPEC",
    ),
]
Runs: TypeAlias = Annotated[
    tuple[str, ...],
    option(
        "Search system, given by a file of its results: a TREC run, JSON lines, Parquet or ranx' "
        "JSON. {source}, {target} and {seed} in the file name are replaced; "
        "repeat for several. See: xlingual encoders run.",
        names=("--run",),
        metavar="[NAME=]FILE",
    ),
]
SYSTEMS = ("text_encoders", "runs")  # of which one at least must be given
SkipBroken: TypeAlias = Annotated[
    bool,
    option("Leave out texts whose image is missing or broken, with a warning that counts them."),
]


class Keeping(Record, frozen=True, kw_only=True):
    """Where vectors are kept."""

    heading = "Keeping vectors"

    store: Annotated[
        Path | None,
        option(
            "Folder that stores vectors, so that each is computed only once.",
            metavar="DIR",
            otherwise="a folder in the user's cache",
            run=True,
        ),
    ] = None
    no_store: Annotated[bool, option("Do not read or write stored vectors.", run=True)] = False


class ImageEncoding(Record, frozen=True, kw_only=True):
    """How images are compared."""

    image_encoder: Annotated[
        str,
        option(
            "Image encoder: vectors:PATH, pixels, hf:MODEL, st:MODEL … See: xlingual encoders.",
            metavar="SPEC",
        ),
    ]
    skip_broken: SkipBroken = False


Quiet: TypeAlias = Annotated[bool, option("Print nothing but warnings and errors.", run=True)]

Form: TypeAlias = Annotated[
    Literal["table", "markdown", "latex", "csv", "json"],
    option("Format of the printed findings.", names=("--format",), run=True),
]
AsJson: TypeAlias = Annotated[bool, option("Print JSON, as --format json does.", names=("--json",), run=True)]


EncodersOfResults: TypeAlias = Annotated[
    tuple[str, ...],
    option(
        "An encoder of the results; repeat for several.",
        names=("--encoder",),
        metavar="NAME",
        otherwise="all",
    ),
]


class Output(Record, frozen=True, kw_only=True):
    """Output of an evaluation: files and terminal."""

    heading = "Output"

    out: Annotated[Path | None, option("Write the results to the folder DIR.", metavar="DIR", run=True)] = (
        None
    )
    report: Annotated[bool, option("Also write a report to DIR/report.html.", run=True)] = False
    form: Form = "table"
    as_json: AsJson = False
    quiet: Quiet = False
