"""The table of schemes: one row each. A new adapter is one more file and one more row."""

from __future__ import annotations

from collections.abc import Mapping

from xlingual.encoders import api, small
from xlingual.encoders.options import (
    BATCH,
    DEVICE,
    DIM,
    FIT,
    KIND,
    MODEL,
    POOL,
    PROMPT_NAMES,
    SEED,
    TEXT,
    TRAINED_ON,
    Option,
    amount,
    not_empty,
    number_range,
    one_of,
    share,
    whole_number,
)
from xlingual.encoders.scheme import IMAGES, LISTS, TEXTS, Scheme
from xlingual.encoders.transform_schemes import COMPRESSED, TRANSFORMS

SCHEMES: Mapping[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme(
            "vectors",
            (TEXTS, IMAGES),
            "vectors that you have: in arrays, or in a column of a table",
            "xlingual.encoders.vectors",
            argument="PATH",
            options=(
                Option("key", not_empty, None, "name of the tensor in a .safetensors file"),
                Option("column", not_empty, None, "column of vectors in a Parquet or Arrow table"),
                Option("id", not_empty, None, "column of ids: vectors belong to texts or items by these"),
                TRAINED_ON,
                KIND,
            ),
        ),
        *small.SCHEMES,
        Scheme(
            "random",
            (TEXTS,),
            "random vectors without any knowledge: their 95 % interval contains chance in about 95 of 100 "
            "cases",
            "xlingual.encoders.random",
            options=(Option("dim", whole_number(1), 64, "number of dimensions"), SEED),
        ),
        Scheme(
            "chargram",
            (TEXTS,),
            "character n-grams with TF-IDF: finds texts with similar spelling",
            "xlingual.encoders.chargram",
            options=(
                Option("dim", whole_number(1), 256, "number of dimensions"),
                Option("n", number_range, (3, 5), "lengths of the n-grams"),
                SEED,
                Option("fit", not_empty, None, f"{FIT}; without it the texts that are encoded"),
            ),
        ),
        Scheme(
            "wordgram",
            (TEXTS,),
            "shared words: word overlap, or weighted by TF-IDF",
            "xlingual.encoders.wordgram",
            options=(
                Option("weight", one_of("tfidf", "overlap"), "tfidf", "overlap: every word counts as one"),
                Option("dim", whole_number(1), 4096, "number of dimensions"),
                SEED,
                Option("fit", not_empty, None, f"{FIT}; without it the texts that are encoded"),
            ),
        ),
        Scheme(
            "bm25",
            (TEXTS,),
            "BM25: shared words of query and candidate, weighted as in search engines",
            "xlingual.encoders.bm25",
            options=(
                Option("method", one_of("lucene", "robertson", "atire"), "lucene", "which BM25"),
                Option("k1", amount, 1.5, "saturation of repeated words (k1)"),
                Option("b", share, 0.75, "weight of the candidate's length, 0 to 1 (b)"),
                Option("field", not_empty, "text", "columns that are read, such as title or title,text"),
                Option(
                    "index",
                    one_of("language", "all"),
                    "language",
                    "language: words are counted in each language for itself; all: in one index",
                ),
                Option("stopwords", one_of("none", "bm25s"), "none", "bm25s: its lists, by language"),
                Option("stemmer", one_of("none", "snowball"), "none", "snowball: stems, by language"),
                Option("fit", not_empty, None, f"{FIT}; without it the candidates that are encoded"),
            ),
        ),
        Scheme(
            "lsa",
            (TEXTS,),
            "cross-lingual latent semantic analysis, fitted on translated texts",
            "xlingual.encoders.lsa",
            options=(
                Option("pairs", whole_number(1), None, "number of items it is fitted on (all)"),
                Option("dim", whole_number(1), 150, "most dimensions"),
                SEED,
                Option("fit", not_empty, None, f"{FIT}; required"),
            ),
        ),
        Scheme(
            "st",
            (TEXTS, IMAGES),
            "models of sentence-transformers, sparse and multi-vector too, for texts; (CLIP) for images",
            "xlingual.encoders.network",
            argument="NAME_OR_PATH",
            options=(
                *MODEL,
                *TEXT,
                *PROMPT_NAMES,
                DIM,
                Option(
                    "prompts", one_of("model", "none"), "model", "whether the model's own prompts are used"
                ),
                TRAINED_ON,
                KIND,
            ),
            extra="st",
        ),
        Scheme(
            "hf",
            (TEXTS, IMAGES),
            "models of transformers: BERT-like for texts, ResNet, ViT, CLIP and the like for images",
            "xlingual.encoders.network",
            argument="NAME_OR_PATH",
            options=(
                *MODEL,
                *TEXT,
                POOL,
                DIM,
                TRAINED_ON,
                KIND,
            ),
            extra="st",
        ),
        Scheme(
            "onnx",
            (TEXTS, IMAGES),
            "a folder with an ONNX graph and its tokenizer or image processor",
            "xlingual.encoders.onnx",
            argument="DIR",
            options=(
                BATCH,
                *TEXT,
                POOL,
                Option("file", not_empty, None, "the graph, where the folder has several"),
                Option("output", not_empty, None, "the output that is read, where the graph has several"),
                TRAINED_ON,
                KIND,
            ),
            extra="onnx",
        ),
        Scheme(
            "wordvec",
            (TEXTS,),
            "word vectors in text form (fastText, MUSE, RCSLS, GloVe), averaged",
            "xlingual.encoders.wordvec",
            argument="PATH",
            options=(
                Option("weight", one_of("tfidf", "sif", "mean"), "tfidf", "how words are weighted"),
                Option("fit", not_empty, None, f"{FIT}, for the weights; without it the texts encoded"),
                Option("words", whole_number(1), None, "read only so many lines of a file"),
            ),
        ),
        Scheme(
            "translate",
            (TEXTS,),
            "translates word by word or with a model, then encodes with the encoder below",
            "xlingual.encoders.translate",
            argument="DICT.tsv or hf-MODEL",
            options=(
                Option("to", not_empty, "en", "language that texts are translated to"),
                *MODEL,
                Option("beams", whole_number(1), 1, "width of the model's search"),
                Option("unknown", one_of("keep", "drop"), "keep", "words that the dictionary does not have"),
            ),
            over="must",
        ),
        Scheme(
            "concat",
            (TEXTS,),
            "title and body, each encoded by the encoder below, side by side",
            "xlingual.encoders.concat",
            options=(
                Option("title", not_empty, "title", "column of titles"),
                Option("body", not_empty, "body", 'column of bodies; "text" is the text itself'),
                Option(
                    "split",
                    one_of("first-sentence", "halves"),
                    None,
                    "make title and body of the text itself: its first sentence and the rest, or its halves",
                ),
                Option(
                    "scaling",
                    one_of("unit", "raw"),
                    "unit",
                    "unit: title and body count alike; raw: by the length of their vectors",
                ),
            ),
            over="must",
        ),
        Scheme(
            "model",
            (TEXTS, IMAGES),
            "a model that xlingual has trained; for images on top of the encoder that it was trained on",
            "xlingual.encoders.trained",
            argument="DIR",
            options=(
                Option("batch", whole_number(1), 128, "texts at a time; changes no vector"),
                DEVICE,
                Option(
                    "base",
                    one_of("same", "trusted"),
                    "same",
                    "same: only the encoder below that it was trained on; trusted: any of its dimensions",
                ),
                Option(
                    "hubs",
                    one_of("corrected", "plain"),
                    "corrected",
                    "of a repaired encoder: whether its own correction of hubs ranks texts",
                ),
            ),
            extra="torch",
            over="may",
        ),
        api.SCHEME,
        Scheme(
            "python",
            (TEXTS, IMAGES),
            "a function or class of your own, on the import path or in a file",
            "xlingual.encoders.python_function",
            argument="MODULE:FUNCTION",
            options=(
                Option(
                    "revision",
                    not_empty,
                    None,
                    "version of your code: vectors are stored only if you give it",
                ),
            ),
        ),
        Scheme(
            "run",
            (LISTS,),
            "what a search engine returned: TREC run, JSON lines, Parquet, ranx' JSON",
            "xlingual.evaluation.run_systems",
            argument="FILE",
            options=(
                Option(
                    "order",
                    one_of("score", "rank"),
                    None,
                    "field that orders candidates if both are present: score",
                ),
                Option("latency", amount, None, "latency of a query in milliseconds, if the file has none"),
            ),
        ),
        *TRANSFORMS,
        *COMPRESSED,
        Scheme(
            "pixels",
            (IMAGES,),
            "colours and edges of an image, without learning",
            "xlingual.encoders.pixels",
        ),
    )
}
