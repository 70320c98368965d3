"""`bm25:`: the words that a query shares with a candidate, weighted by BM25, as search engines rank.

A candidate is the sparse row of what each of its terms adds to a score, a query the counts of its terms, so
that their dot product is the BM25 score (eager scoring: Lù, "BM25S", 2024).

Robertson, Walker, Jones, Hancock-Beaulieu and Gatford, "Okapi at TREC-3", 1994; the variants as Kamphuis, de
Vries, Boytsov and Lin, "Which BM25 do you mean?", ECIR 2020, list them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache, cached_property
from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.encoders.base import Encoder
from xlingual.encoders.runtime import require
from xlingual.encoders.scheme import FIT, TEXTS, Context, Option, Scheme, amount, not_empty, one_of, share
from xlingual.errors import InputError, did_you_mean, listed, warn
from xlingual.forms import COSINE, DOT, SparseVectors
from xlingual.models.words import primary, terms
from xlingual.records import Texts, digest

SCHEME = Scheme(
    "bm25",
    (TEXTS,),
    "BM25: shared words of query and candidate, weighted as in search engines",
    __name__,
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
)

_LISTS = (  # of stop words in bm25s
    "da:DANISH de:GERMAN en:EN es:SPANISH fr:FRENCH it:ITALIAN ko:KOREAN nb:NORWEGIAN nl:DUTCH no:NORWEGIAN "
    "pt:PORTUGUESE ru:RUSSIAN sv:SWEDISH tr:TURKISH zh:CHINESE"
)


class Bm25Encoder(Encoder):
    """BM25 of a collection, which is what `over` was given.

    A term that is tf times in a candidate of `length` terms adds to its score, where df of n candidates have
    the term and a candidate has `average` terms:

        lucene      ln(1 + (n − df + ½)/(df + ½)) · tf / (tf + k1·(1 − b + b·length/average))
        robertson   ln(max(1, (n − df + ½)/(df + ½))) · the same
        atire       ln(n/max(df, 1)) · (k1 + 1) · the same

    df, n and average are those of the candidates, or of the texts that `fit` loads; with index=language those
    of the candidate's language. A text without a role is a candidate among the batch, compared by the cosine.
    """

    origin = "surface"
    by_role = True

    def __init__(self, options: Mapping[str, Any], fit: Callable[[], Texts] | None = None) -> None:
        self.options, self.fit = options, fit
        self.candidates: tuple[list[str], list[str]] | None = None  # texts and languages

    @property
    def depends_on_batch(self) -> bool:
        """Whether its candidates are not known yet."""
        return self.candidates is None and self.fit is None

    @cached_property
    def identity(self) -> str:
        """The options, and a digest of the fit texts, or `df=collection` where the candidates are counted."""
        options = {name: self.options[name] for name in ("method", "k1", "b", "index", "field")}
        options |= {name: f"{options[name]:g}" for name in ("k1", "b")}
        for name, package in (("stopwords", "bm25s"), ("stemmer", "PyStemmer")):
            value = self.options[name]
            options[name] = value if value == "none" else f"{value}-{version(package)}"
        options["df"] = "collection" if self.fit is None else digest(*sorted(self.fitted_on)).hex()
        return "bm25:v1?" + "&".join(f"{name}={value}" for name, value in options.items())

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows whose words were counted; empty without `fit`."""
        return frozenset() if self._fit is None else self._fit.row_digests()

    def over(self, candidates: Texts, /) -> Bm25Encoder:
        """Return the encoder of a search among these candidates."""
        read = self._read(candidates), list(candidates.language)
        if read == self.candidates:
            return self
        search = copy(self)
        search.candidates = read
        for name in ("_collection", "_statistics"):
            search.__dict__.pop(name, None)
        return search

    def fit_model(self) -> None:
        """Read the fit texts, where there are some."""
        _ = self._fit

    def encode(self, batch: Texts, /) -> Any:  # noqa: ANN401  (SparseVectors, which `Encoder` allows)
        """Return sparse float32 [n, terms of the candidates]."""
        if self.candidates is None and batch.role == "query":
            raise InputError("bm25: queries need the candidates that they are searched among (`over`)")
        encoder = self.over(batch) if self.candidates is None else self
        counts, lengths = encoder._counted(self._read(batch), list(batch.language))
        if batch.role == "query":
            return SparseVectors.of(counts, DOT)
        weights = encoder._weighted(counts, lengths, batch.language)
        return SparseVectors.of(weights, COSINE if self.candidates is None and batch.role is None else DOT)

    def _read(self, batch: Texts) -> list[str]:
        """Return the text of each row, or its columns one after another."""
        columns = {"text": batch.text, **batch.fields}
        names = [name.strip() for name in self.options["field"].split(",")]
        for name in names:
            if name not in columns:
                raise InputError(
                    f"bm25: field= names no column of the data: {name!r}.{did_you_mean(name, columns)} "
                    f"They have {listed(columns)}"
                )
        return ["\n".join(row) for row in zip(*(columns[name] for name in names), strict=True)]

    def _terms(self, text: str, language: str) -> list[str]:
        """Return the terms of a text, in its order."""
        words, tag = terms(text, language), primary(language)
        if self.options["stopwords"] != "none":
            words = [word for word in words if word not in _stop_words(tag)]
        if self.options["stemmer"] != "none" and (stem := _stemmer(tag)):
            words = stem(words)
        return words

    @cached_property
    def _collection(self) -> tuple[dict[str, int], Any, Ints]:
        """The column of each term of the candidates, and their counts."""
        texts, languages = self.candidates or ([], [])
        split = [self._terms(text, tag) for text, tag in zip(texts, languages, strict=True)]
        column = {term: place for place, term in enumerate(sorted(set(chain.from_iterable(split))))}
        return column, *_counts(split, column)

    def _counted(self, texts: list[str], languages: list[str]) -> tuple[Any, Ints]:
        """Count the candidates' terms in texts."""
        column, counts, lengths = self._collection
        if (texts, languages) == self.candidates:
            return counts, lengths
        return _counts([self._terms(text, tag) for text, tag in zip(texts, languages, strict=True)], column)

    def _weighted(self, counts: Any, lengths: Ints, languages: Sequence[str]) -> Any:  # noqa: ANN401
        """Compute what each term of candidates adds to a score, CSR of scipy."""
        k1, b, method = (self.options[name] for name in ("k1", "b", "method"))
        weights, sizes, tags = counts.copy(), np.diff(counts.indptr), np.array(self._tags(languages))
        for tag in dict.fromkeys(tags.tolist()):
            if tag not in self._statistics:
                raise InputError(
                    f"bm25: fit= has no texts in {tag!r}, only in {listed(self._statistics)}, and words are "
                    "counted by language: name texts that have it, or write index=all"
                )
            n, average, df = self._statistics[tag]
            odds = (n - df + 0.5) / (df + 0.5)
            ratio = {"lucene": 1 + odds, "robertson": np.maximum(odds, 1), "atire": n / np.maximum(df, 1)}
            here = np.repeat(tags == tag, sizes)
            tf, relative = counts.data[here], np.repeat(lengths / max(average, 1e-9), sizes)[here]
            saturated = tf / (tf + k1 * (1 - b + b * relative)) * (k1 + 1 if method == "atire" else 1)
            weights.data[here] = np.log(ratio[method])[counts.indices[here]] * saturated
        return weights

    def _tags(self, languages: Sequence[str]) -> list[str]:
        """Name the index of each text."""
        return list(languages) if self.options["index"] == "language" else ["all"] * len(languages)

    @cached_property
    def _statistics(self) -> dict[str, tuple[int, float, Floats]]:
        """The number of texts of each index, their average length, and how many have each term [terms]."""
        texts, languages = self.candidates or ([], [])
        if self._fit is not None:
            texts, languages = self._read(self._fit), list(self._fit.language)
        counts, lengths = self._counted(texts, languages)
        tags, statistics = np.array(self._tags(languages)), {}
        for tag in dict.fromkeys(tags.tolist()):
            rows = np.flatnonzero(tags == tag)
            df = np.bincount(counts[rows].indices, minlength=counts.shape[1]).astype(np.float64)
            statistics[tag] = len(rows), float(lengths[rows].mean()), df
        return statistics

    @cached_property
    def _fit(self) -> Texts | None:
        return None if self.fit is None else self.fit().plain()


def _counts(split: Sequence[Sequence[str]], column: Mapping[str, int]) -> tuple[Any, Ints]:
    """Count the terms that have a column, CSR of scipy [n, columns], and all terms of each text [n]."""
    from scipy.sparse import csr_array

    columns = [[column[term] for term in words if term in column] for words in split]
    ends = np.cumsum([0, *map(len, columns)])
    indices = np.fromiter(chain.from_iterable(columns), dtype=np.int64, count=ends[-1])
    counts = csr_array((np.ones(ends[-1]), indices, ends), shape=(len(split), max(len(column), 1)))
    counts.sum_duplicates()
    return counts, np.array(list(map(len, split)), dtype=np.int64)


@cache
def _stop_words(tag: str) -> frozenset[str]:
    from bm25s import stopwords

    name = dict(pair.split(":") for pair in _LISTS.split()).get(tag)
    return frozenset(getattr(stopwords, f"STOPWORDS_{name}", ()))


@cache
def _stemmer(tag: str) -> Callable[[list[str]], list[str]] | None:
    import Stemmer

    stems: Callable[[list[str]], list[str]] | None = None
    with suppress(KeyError):
        stems = Stemmer.Stemmer(tag).stemWords
    return stems


def build(argument: str, options: Mapping[str, Any], context: Context) -> Bm25Encoder:
    """Make the encoder of a spec."""
    for name, package, of in (("stopwords", "bm25s", _stop_words), ("stemmer", "Stemmer", _stemmer)):
        if options[name] != "none":
            require(f"bm25: {name}={options[name]}", "bm25", package)
            lacking = sorted({primary(tag) for tag in context.languages if not of(primary(tag))})
            if lacking:
                warn(f"bm25: {name}={options[name]} has nothing for {listed(lacking, 20)}: all words count")
    return Bm25Encoder(options, context.loader("bm25", options["fit"]))
