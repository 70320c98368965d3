"""The table of schemes: one row each. A new adapter is one more file and one more row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xlingual.encoders.api_profiles import OPENAI, PROFILES
from xlingual.encoders.base import Encoder
from xlingual.encoders.options import (
    BATCH,
    DEPTH,
    DEVICE,
    DIM,
    FIT,
    FUSION,
    MODEL,
    POOL,
    PROMPT_NAMES,
    REMOTE_CODE,
    SEED,
    TEXT,
    TRAINED_ON,
    Option,
    amount,
    anything,
    integer,
    not_empty,
    number_range,
    one_of,
    share,
    whole_number,
)
from xlingual.errors import InputError
from xlingual.records import Texts

TEXTS, IMAGES = "texts", "images"
LISTS = "lists"  # of a system that returns candidates, and no vectors (`xlingual.systems`)
PICTURES = "pictures"  # the word for images in older plug-ins, which still get it
OVER = ("no", "may", "must")  # whether a scheme stands on another encoder


@dataclass(frozen=True)
class Scheme:
    """A row of the table: what a scheme encodes, its options, and the module whose `build` makes it."""

    name: str
    takes: tuple[str, ...]  # TEXTS, IMAGES or both
    summary: str
    module: str  # imported when the scheme is used, so that unused adapters cost nothing
    argument: str | None = None  # what the argument is called; None where there is none
    options: tuple[Option, ...] = ()
    extra: str | None = None  # the optional packages it needs
    over: str = "no"  # whether it stands on another encoder, scheme:…::SPEC: one of `OVER`

    @property
    def kinds(self) -> tuple[str, ...]:
        """What it encodes: TEXTS, IMAGES or both."""
        return tuple(IMAGES if kind == PICTURES else kind for kind in self.takes)

    @property
    def form(self) -> str:
        """How its specs are written, options apart."""
        below = {"no": "", "may": "[::SPEC]", "must": "::SPEC"}[self.over]
        return f"{self.name}:{self.argument or ''}{below}"


@dataclass(frozen=True)
class Context:
    """The caller's settings that an adapter may need."""

    languages: Sequence[str]  # of all texts
    role_languages: Mapping[str, Sequence[str]] | None = None  # role of a text → languages; None: all in each
    fit_texts: Callable[[str], Texts] | None = None  # loads the texts that `fit=` names
    seed: int = 0  # of encoders whose spec has none
    kind: str = TEXTS  # texts or images, for a scheme that takes both
    base: Encoder | None = None  # the encoder below, for a scheme that stands on another
    scheme: str = ""  # the scheme's name, for a module that several schemes share

    def loader(self, scheme: str, reference: str | None) -> Callable[[], Texts] | None:
        """Return a function that loads the texts of `fit=reference`; None where there is no reference."""
        load = self.fit_texts
        if reference is None:
            return None
        if load is None:
            raise InputError(
                f"{scheme}: nothing here loads fit={reference}; pass `fit_texts`, which loads it"
            )
        return lambda: load(reference)


_FIT = Option("fit", not_empty, None, f"{FIT}; required")
_BY = Option(
    "by", one_of("language", "all"), "language", "language: each by its own texts; all: by all texts"
)
_TO = Option("to", not_empty, None, "language that the others are mapped to; unless given, with most pairs")


def _transform(name: str, summary: str, *options: Option, argument: str | None = None) -> Scheme:
    """Return the row of a map of vectors that is fitted on texts."""
    return Scheme(
        name,
        (TEXTS,),
        summary,
        "xlingual.encoders.transform",
        argument=argument,
        options=(*options, _FIT),
        over="must",
    )


_TRANSFORMS = (
    _transform("centre", "vectors less the mean of their language", _BY),
    _transform("standardize", "vectors less their mean, each dimension divided by its deviation", _BY),
    _transform(
        "whiten",
        "vectors less their mean, made to vary alike in all directions",
        _BY,
        Option("shrink", share, None, "part of the covariance that is shrunk, 0 to 1; from the data (OAS)"),
    ),
    _transform(
        "all-but-the-top",
        "vectors less their mean and the K directions in which all vary most",
        argument="K or auto",
    ),
    _transform("lir", "vectors less the first K principal directions of their language", argument="K"),
    _transform(
        "lsar", "vectors less the R directions in which the means of languages differ", argument="R or auto"
    ),
    _transform("pca", "the D principal components of the vectors", argument="D"),
    _transform(
        "delta",
        "vectors of one language moved by the mean difference to another",
        Option("from", not_empty, None, "language that is moved; required"),
        Option("to", not_empty, None, "language that it is moved to; required"),
    ),
    _transform("procrustes", "vectors rotated to those of their translations", _TO),
    _transform("ridge", "vectors mapped to those of their translations, linearly", _TO),
    _transform("cca", "the K directions in which translations vary together", argument="K or auto"),
)

_SMALLER = "xlingual.encoders.compressed"
_COMPRESSED = (
    Scheme(
        "truncate", (TEXTS,), "the first D dimensions of the vectors", _SMALLER, argument="D", over="must"
    ),
    Scheme(
        "quantize",
        (TEXTS,),
        "vectors of fewer bits a number: f16, int8 or binary (their signs)",
        _SMALLER,
        argument="f16, int8 or binary",
        options=(Option("fit", not_empty, None, f"{FIT}; required for int8"),),
        over="must",
    ),
)


SCHEMES: Mapping[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme(
            "vectors",
            (TEXTS, IMAGES),
            "vectors that you have: in arrays, in a column of a table, in an index",
            "xlingual.encoders.vectors",
            argument="PATH",
            options=(
                Option("key", not_empty, None, "name of the array in a .safetensors or .npz file"),
                Option("column", not_empty, None, "column of vectors in a Parquet, Arrow or Lance table"),
                Option("id", not_empty, None, "column of ids: vectors belong to texts or items by these"),
                Option("lang", not_empty, None, "column of languages, where an id has a vector in each"),
                Option(
                    "packed", one_of("1"), None, "1: each bit is a dimension (binary and ubinary vectors)"
                ),
                TRAINED_ON,
            ),
        ),
        Scheme(
            "random",
            (TEXTS,),
            "random vectors that know nothing: chance lies within their interval in about 95 of 100 cases",
            "xlingual.encoders.random",
            options=(Option("dim", whole_number(1), 64, "number of dimensions"), SEED),
        ),
        Scheme(
            "chargram",
            (TEXTS,),
            "character n-grams, TF-IDF: finds texts that are spelt alike",
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
            "words that texts share: word overlap, or weighted by TF-IDF",
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
            "words that a query and a candidate share, weighted by BM25, as search engines rank",
            "xlingual.encoders.bm25",
            options=(
                Option("method", one_of("lucene", "robertson", "atire"), "lucene", "which BM25"),
                Option("k1", amount, 1.5, "how soon a word that is repeated counts no more"),
                Option("b", share, 0.75, "how much the length of a candidate counts, 0 to 1"),
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
            "xlingual.encoders.sentence_transformer",
            argument="NAME_OR_PATH",
            options=(
                *MODEL,
                *TEXT,
                *PROMPT_NAMES,
                DIM,
                Option(
                    "prompts", one_of("model", "none"), "model", "whether the model's own prompts are used"
                ),
                REMOTE_CODE,
                TRAINED_ON,
            ),
            extra="st",
        ),
        Scheme(
            "hf",
            (TEXTS, IMAGES),
            "models of transformers: BERT-like for texts, ResNet, ViT, CLIP and the like for images",
            "xlingual.encoders.huggingface",
            argument="NAME_OR_PATH",
            options=(
                *MODEL,
                *TEXT,
                POOL,
                DIM,
                Option("layer", integer, -1, "hidden layer: 0 the embeddings, -1 the last"),
                Option("pair", one_of("context"), None, "candidates are read as a pair with their context"),
                REMOTE_CODE,
                TRAINED_ON,
            ),
            extra="hf",
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
                Option("output", not_empty, None, "the value that is read, of an inner layer too"),
                TRAINED_ON,
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
            ),
            extra="torch",
            over="may",
        ),
        Scheme(
            "api",
            (TEXTS,),
            "an embeddings service: OpenAI, others that speak its protocol, and those of a profile",
            "xlingual.encoders.api",
            argument="MODEL",
            options=(
                Option("profile", one_of(*PROFILES), OPENAI, f"how it is asked: {', '.join(PROFILES)}"),
                Option("base_url", not_empty, None, "where the service is; unless given, as the profile"),
                Option("key_env", not_empty, None, "environment variable that holds the key; as the profile"),
                Option("key_header", not_empty, None, "header that carries the key; as the profile"),
                Option("batch", whole_number(1), None, "texts of one request; as the profile"),
                Option("parallel", whole_number(1), 1, "requests at a time; changes no vector"),
                Option("dim", whole_number(1), None, "dimensions to ask for"),
                Option("body.NAME", anything, None, "a field of requests; empty: not that of the profile"),
                Option("query_body.NAME", anything, None, "the same for queries, instead of body.NAME"),
                Option("candidate_body.NAME", anything, None, "the same for candidates"),
                Option("url.NAME", not_empty, None, "a parameter of the address, such as api-version"),
                Option("rate", amount, None, "most requests a minute"),
                Option("price", amount, None, "price of a million tokens, for the estimate"),
                Option("max_cost", amount, None, "refuse to start where the estimate is higher"),
                Option(
                    "retries", whole_number(0), 6, "how often a request that failed in passing is repeated"
                ),
                Option("timeout", amount, 60.0, "seconds to wait for an answer"),
                Option(
                    "encoding_format",
                    one_of("float", "base64", "none"),
                    None,
                    "how vectors travel: float, base64, or none to leave it out; as the profile",
                ),
                Option("revision", not_empty, None, "of your own: a new one makes all vectors anew"),
                *(option for option in TEXT if "prompt" in option.name),
                TRAINED_ON,
            ),
            extra="api",
        ),
        Scheme(
            "python",
            (TEXTS, IMAGES),
            "a function or class of your own, on the import path or in a file",
            "xlingual.encoders.python_function",
            argument="MODULE:FUNCTION",
            options=(Option("revision", not_empty, None, "names its version: only then are vectors kept"),),
        ),
        Scheme(
            "run",
            (LISTS,),
            "what a search engine returned: TREC run, JSON lines, Parquet, ranx' JSON, answers of _msearch",
            "xlingual.systems.run",
            argument="FILE",
            options=(
                Option("order", one_of("score", "rank"), None, "what decides where both are there: score"),
                Option("ids", not_empty, None, "for answers of _msearch: the file of the queries' ids"),
                Option("latency", amount, None, "milliseconds that a query takes, where the file says none"),
            ),
        ),
        Scheme(
            "rrf",
            (LISTS,),
            "several systems of the command as one, by the ranks of their results (reciprocal rank fusion)",
            "xlingual.systems.fusion",
            argument="NAME+NAME",
            options=(
                Option("k", whole_number(0), 60, "a result counts 1/(k + rank)"),
                *FUSION,
            ),
        ),
        Scheme(
            "sum",
            (LISTS,),
            "several systems of the command as one, by a weighted sum of their scores",
            "xlingual.systems.fusion",
            argument="NAME+NAME",
            options=(
                Option("scale", one_of("minmax", "zscore", "none"), "minmax", "of the scores of each list"),
                *FUSION,
            ),
        ),
        Scheme(
            "cross-encoder",
            (LISTS,),
            "the first results of another system, ordered by a cross-encoder of sentence-transformers",
            "xlingual.systems.reranker",
            argument="NAME_OR_PATH",
            options=(
                Option("first", whole_number(1), 100, "how many results of the system are read"),
                DEPTH,
                *MODEL,
                Option("max_length", whole_number(1), None, "most tokens of a pair; the model's own limit"),
                REMOTE_CODE,
                Option("over", not_empty, None, "the system's name, where no ::NAME follows"),
            ),
            extra="st",
            over="may",
        ),
        *_TRANSFORMS,
        *_COMPRESSED,
        Scheme(
            "pixels",
            (IMAGES,),
            "colours and edges of an image, without any learning",
            "xlingual.encoders.pixels",
        ),
    )
}
