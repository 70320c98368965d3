"""Requests of `evaluate`, one for each task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from msgspec import field

from xlingual.requests.ranking import Ranking, Threads, available_cores
from xlingual.requests.record import Request, argument, option
from xlingual.requests.shared import (
    SYSTEMS,
    Cluster,
    IgnoreIdenticalIds,
    ImageEncoding,
    Keeping,
    ManifestOptions,
    Output,
    Pool,
    PoolLanguages,
    Queries,
    RelevantFrom,
    Runs,
    Sampling,
    SkipBroken,
    Split,
    TextEncoders,
    TextSimilarity,
    Ties,
    Trec,
    TrecDepth,
)
from xlingual.requests.values import (
    Natural,
    TwoOrMore,
    comma_list,
    two_languages,
)
from xlingual.tasks import TASKS

_RANKS = "A measure: R@k, Success@k, R@p%, Success@p%, RR, RR@k or MedR; repeat for several."


Examples: TypeAlias = Annotated[bool, option("Show texts as examples in the report.", run=True)]
Neighbours: TypeAlias = Annotated[
    bool, option("Store the ten nearest targets of each query, for inspect.", run=True)
]
CandidateText: TypeAlias = Annotated[
    str,
    option(
        "Text of a candidate that is encoded: the sentence, or the sentence with its context.", metavar="TEXT"
    ),
]


class PairsRequest(Request, frozen=True, kw_only=True):
    """Options of every evaluation over language pairs."""

    data: ManifestOptions
    text_encoders: TextEncoders
    keeping: Keeping
    sampling: Sampling


class SystemsOverPairsRequest(PairsRequest, frozen=True, kw_only=True):
    """Options of an evaluation over language pairs that judges search systems by their runs, too."""

    one_of = first = SYSTEMS

    text_encoders: TextEncoders = ()
    runs: Runs = ()


class BackretrievalRequest(SystemsOverPairsRequest, frozen=True, kw_only=True):
    """Measure Backretrieval: images replace translations.

    Each source text retrieves the nearest text in the other language. The image of that text must lead back
    to the image of the query. MANIFEST holds texts with images in two languages or more.
    """

    command = "evaluate backretrieval"

    queries: Queries = None
    images: ImageEncoding
    measures: Annotated[tuple[str, ...], option(_RANKS, names=("--measure",), metavar="NAME")] = ("R@10",)
    similarity: TextSimilarity = "cosine"
    cluster: Cluster = "declared"
    ranking: Ranking
    output: Output
    examples: Annotated[bool, option("Show texts and thumbnails as examples in the report.", run=True)] = True
    neighbours: Neighbours = True


class CrosslingualRetrievalRequest(SystemsOverPairsRequest, frozen=True, kw_only=True):
    """Measure true cross-lingual retrieval (XLR) on items that have texts in both languages."""

    command = "evaluate crosslingual-retrieval"

    queries: Queries = None
    measures: Annotated[
        tuple[str, ...],
        option(
            _RANKS,
            names=("--measure",),
            metavar="NAME",
            otherwise="R@10; Success@10 where an item has several target texts",
        ),
    ] = ()
    similarity: TextSimilarity = "cosine"
    cluster: Cluster = "declared"
    ranking: Ranking
    trec: Trec = None
    trec_depth: TrecDepth = None
    output: Output
    examples: Examples = True
    neighbours: Neighbours = True


class DistanceCorrelationRequest(PairsRequest, frozen=True, kw_only=True):
    """Measure distance correlation: whether distances of texts agree with distances of their images."""

    command = "evaluate distance-correlation"
    refused = TASKS["distance-correlation"].refused()

    images: ImageEncoding
    threads: Threads = field(default_factory=available_cores)
    output: Output


class MultilingualPoolRequest(Request, frozen=True, kw_only=True):
    """Measure answer retrieval from a multilingual pool, and preference for the question's language.

    Each question is in one language; the candidates are in all languages. POOL is a pool folder (see:
    xlingual data squad-to-pool, xlingual data mix-pool), a retrieval folder of BEIR or MTEB, or a folder of
    SQuAD-style files with sentence breaks, one for each language. Several pools are evaluated one after
    another and shown side by side; NAME=POOL gives a pool a name.
    """

    command = "evaluate multilingual-pool"
    refused = TASKS["multilingual-pool"].refused()
    one_of = SYSTEMS

    pool: Pool
    further: Annotated[
        tuple[Path, ...], argument("[POOL…]", "Further pools, to be shown side by side.", run=True)
    ] = ()
    name: Annotated[
        str | None, option("Name of the pool where several are shown.", in_files=True, run=True)
    ] = None
    languages: PoolLanguages = None
    split: Split = None
    text_encoders: TextEncoders = ()
    runs: Runs = ()
    keeping: Keeping
    candidate_text: CandidateText = "sentence"
    measures: Annotated[
        tuple[str, ...],
        option(
            "A measure: AP, AP@k, AP@k/min, nDCG, nDCG@k, R@k (set recall), Success@k (hit rate), P@k, RR, "
            "RR@k, MedR, WeakAlignment, StrongAlignment, StrongAlignment/strict or "
            "StrongAlignment/strict-own; repeat for several.",
            names=("--measure",),
            metavar="NAME",
        ),
    ] = ("AP",)
    views: Annotated[bool, option("Add the views of language bias to the numbers.")] = True
    subsets: Annotated[
        tuple[str, ...],
        option(
            "Also evaluate with the pool and questions restricted to these languages; repeat for several.",
            names=("--subset",),
            metavar="ar,de,…",
        ),
    ] = ()
    picture: Annotated[
        tuple[str, str] | None,
        option(
            "The two languages in the picture of the vector space.",
            metavar="en,zh",
            otherwise="the two that are farthest apart",
            reads=two_languages,
        ),
    ] = None
    seed: Annotated[Natural, option("Seed of the paragraphs held out for language identification.")] = 0
    trec: Trec = None
    trec_depth: TrecDepth = None
    cluster: Cluster = "declared"
    ranking: Ranking
    output: Output
    examples: Examples = True
    neighbours: Neighbours = True


class RetrievalRequest(Request, frozen=True, kw_only=True):
    """Measure retrieval with graded judgements: nDCG and other search measures, in one language or more.

    POOL holds queries, candidates and judgements: a retrieval folder of BEIR or MTEB, or a pool folder. The
    report compares encoders and runs of search engines over all queries and in each query language.
    """

    command = "evaluate retrieval"
    refused = TASKS["retrieval"].refused()
    one_of = SYSTEMS

    pool: Pool
    languages: PoolLanguages = None
    split: Split = None
    qrels: Annotated[
        Path | None,
        option(
            "Judgements that replace those of POOL, in the format of TREC or BEIR.",
            metavar="FILE",
            otherwise="those of POOL",
        ),
    ] = None
    text_encoders: TextEncoders = ()
    runs: Runs = ()
    keeping: Keeping
    candidate_text: CandidateText = "sentence"
    measures: Annotated[
        tuple[str, ...],
        option(
            "A measure: nDCG@k, nDCG(dcg='exp-log2')@k, Success@k, R@k, P@k, RR@k, AP@k or Judged@k; nDCG, "
            "AP, RR, MedR or Bpref of whole rankings; repeat for several.",
            names=("--measure",),
            metavar="NAME",
        ),
    ] = ("nDCG@10",)
    relevant_from: RelevantFrom = 1
    ties: Ties = "expected"
    ignore_identical_ids: IgnoreIdenticalIds = False
    ranking: Ranking
    trec: Trec = None
    trec_depth: TrecDepth = None
    output: Output
    examples: Examples = True


class ImageSentenceRequest(Request, frozen=True, kw_only=True):
    """Measure image–sentence ranking: sentences retrieve their image, images their sentences.

    MANIFEST holds texts with images. If an item has several texts in a language, the best-ranked one counts.
    Text and image encoder must share one vector space: use one model, such as CLIP, or model:DIR for both.
    """

    command = "evaluate image-sentence"
    refused = TASKS["image-sentence"].refused()

    data: ManifestOptions
    text_encoders: TextEncoders
    image_encoders: Annotated[
        tuple[str, ...],
        option(
            "Image encoder of the same space as the texts: vectors:PATH, hf:MODEL, st:MODEL … Give one for "
            "all text encoders, or one for each in the same order.",
            names=("--image-encoder",),
            metavar="SPEC",
        ),
    ] = ()
    keeping: Keeping
    languages: Annotated[
        tuple[str, ...] | None,
        option(
            "Languages of the texts.",
            metavar="en,de,…",
            otherwise="all languages of an encoder",
            reads=comma_list,
        ),
    ] = None
    fold: Annotated[
        TwoOrMore | None,
        option(
            "Rank slices of SIZE consecutive images separately and report the mean; SIZE is 1000 unless "
            "given.",
            metavar="[SIZE]",
            bare=1000,
        ),
    ] = None
    measures: Annotated[
        tuple[str, ...],
        option(
            "A measure: Success@k (the R@k of the literature: any caption counts), RR, MedR, or MedR/floor "
            "(the median rank as the literature reports it); repeat for several.",
            names=("--measure",),
            metavar="NAME",
        ),
    ] = ("Success@1", "Success@5", "Success@10", "MedR/floor")
    baselines: Annotated[
        tuple[str, ...],
        option(
            "Text encoder to compare the others with; repeat for baselines of different languages.",
            names=("--baseline",),
            metavar="NAME",
        ),
    ] = ()
    skip_broken: SkipBroken = False
    ranking: Ranking
    output: Output
    examples: Examples = True


class StsRequest(Request, frozen=True, kw_only=True):
    """Measure textual similarity: whether cosines of sentence pairs agree with scores by people.

    Every FILE holds sentence pairs with a score: Parquet, JSONL, CSV or TSV with the columns score,
    sentence1, sentence2 and, if any, id; or a TSV of SemEval without a header. The results are Pearson's and
    Spearman's correlation of cosine and score, and tests of the differences between encoders.
    """

    command = "evaluate sts"
    refused = TASKS["sts"].refused()

    files: Annotated[tuple[Path, ...], argument("FILE…", "Files of sentence pairs with scores.")]
    language: Annotated[
        str, option("Language of all sentences, such as en.", names=("--lang",), metavar="TAG")
    ]
    text_encoders: TextEncoders
    baseline: Annotated[
        str | None,
        option("The encoder to compare the others with.", metavar="NAME", otherwise="the best one"),
    ] = None
    trivial: Annotated[
        bool,
        option(
            "Also evaluate simple lexical encoders: word-overlap, tfidf (words), chargram (character "
            "n-grams).",
            names=("--baselines",),
        ),
    ] = False
    keeping: Keeping
    seed: Annotated[Natural, option("Seed of the bootstrap.")] = 0
    threads: Threads = field(default_factory=available_cores)
    output: Output
