"""`bm25:`: the words that a query shares with a candidate, weighted by BM25, as search engines rank.

A candidate is the sparse row of what each of its terms adds to a score, a query the counts of its terms, so
that their dot product is the BM25 score (eager scoring: Lù, "BM25S", 2024).

Robertson, Walker, Jones, Hancock-Beaulieu and Gatford, "Okapi at TREC-3", 1994; the variants as Kamphuis, de
Vries, Boytsov and Lin, "Which BM25 do you mean?", ECIR 2020, list them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.encoders.base import Encoder
from xlingual.encoders.bm25_terms import TermReader
from xlingual.encoders.options import FIT, Option, amount, not_empty, one_of, share
from xlingual.encoders.scheme import TEXTS, Context, Scheme
from xlingual.errors import InputError, listed
from xlingual.forms import COSINE, DOT, SparseVectors
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

LUCENE, ROBERTSON, ATIRE = "lucene", "robertson", "atire"
LANGUAGE, ALL = "language", "all"


@dataclass(frozen=True)
class Weighting:
    """BM25: what a term adds to a score that is `tf` times in a candidate of `length` terms.

    `df` of `n` candidates have the term, and these have `average` terms.

        lucene      ln(1 + (n − df + ½)/(df + ½)) · tf / (tf + k1·(1 − b + b·length/average))
        robertson   ln(max(1, (n − df + ½)/(df + ½))) · the same
        atire       ln(n/df) · (k1 + 1) · the same
    """

    method: str = LUCENE
    k1: float = 1.5
    b: float = 0.75

    def idf(self, df: Floats, n: int) -> Floats:
        """Return the weight of terms; of one that no text has (df 0) by ATIRE that of one in one text."""
        if self.method == ATIRE:
            return np.asarray(np.log(n / np.maximum(df, 1)))
        odds = (n - df + 0.5) / (df + 0.5)
        return np.asarray(np.log(1 + odds if self.method == LUCENE else np.maximum(odds, 1)))

    def saturated(self, tf: Floats, relative_length: Floats) -> Floats:
        """Return the part that depends on the candidate, below 1, or below k1 + 1 by ATIRE."""
        found = tf / (tf + self.k1 * (1 - self.b + self.b * relative_length))
        return np.asarray(found * (self.k1 + 1 if self.method == ATIRE else 1))


@dataclass(frozen=True, eq=False)
class Collection:
    """Candidates that are searched: their terms in order, and how often each text has each."""

    texts: Sequence[str]
    language: Sequence[str]
    column: Mapping[str, int]  # of each term
    counts: Any  # CSR of scipy [n, terms]
    lengths: Ints  # [n] terms of a text, repeated ones too


class Bm25Encoder(Encoder):
    """BM25 of a collection, which is what `over` was given.

    Document frequencies and the average length are those of the candidates, or of the texts that `fit` loads;
    with `index` "language" of the candidate's own language, as in an index for each. A text without a role
    has the vector of a candidate among the batch, and is compared by the cosine.
    """

    origin = "surface"
    by_role = True
    zero_vector = "no known word"

    def __init__(
        self,
        weighting: Weighting | None = None,
        reader: TermReader | None = None,
        index: str = LANGUAGE,
        fit: Callable[[], Texts] | None = None,
    ) -> None:
        self.weighting, self.reader = weighting or Weighting(), reader or TermReader()
        self.index, self.fit = index, fit
        self.among: Collection | None = None

    @property
    def depends_on_batch(self) -> bool:
        """Whether its candidates are not known yet."""
        return self.among is None and self.fit is None

    @cached_property
    def identity(self) -> str:
        """The options, and a digest of the fit texts, or `df=collection` where the candidates are counted."""
        own = self.weighting
        df = "collection" if self.fit is None else digest(*sorted(self._fit.row_digests())).hex()
        return (
            f"bm25:v1?method={own.method}&k1={own.k1:g}&b={own.b:g}&index={self.index}&"
            f"{self.reader.identity}&df={df}"
        )

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows whose words were counted; empty without `fit`."""
        return frozenset() if self.fit is None else self._fit.row_digests()

    def over(self, candidates: Texts, /) -> Bm25Encoder:
        """Return the encoder of a search among these candidates."""
        read, known = self.reader.read(candidates), self.among
        if known is not None and known.texts == read and known.language == list(candidates.language):
            return self
        found = copy(self)
        found.__dict__.pop("_statistics", None)
        found.among = self._collected(candidates)
        return found

    def fit_model(self) -> None:
        """Read the words of the fit texts, where there are some."""
        if self.fit is not None:
            _ = self._fit_terms

    def encode(self, batch: Texts, /) -> Any:  # noqa: ANN401  (SparseVectors, which `Encoder` allows)
        """Return sparse float32 [n, terms of the candidates]."""
        if self.among is None:
            if batch.role == "query":
                raise InputError("bm25: queries need the candidates that they are searched among (`over`)")
            weights = self.over(batch)._weighted(batch)
            return SparseVectors.of(weights, COSINE if batch.role is None else DOT)
        if batch.role == "query":
            return SparseVectors.of(self._counts(self.reader.read(batch), batch.language)[0], DOT)
        return SparseVectors.of(self._weighted(batch), DOT)

    def notes(self) -> list[str]:
        """Return which languages have no stop words or stemmer."""
        return self.reader.notes()

    def _collected(self, texts: Texts) -> Collection:
        read, language = self.reader.read(texts), list(texts.language)
        split = [self.reader.terms(text, tag) for text, tag in zip(read, language, strict=True)]
        column = {term: place for place, term in enumerate(sorted({term for own in split for term in own}))}
        if read and not column:
            raise InputError(
                f"bm25: none of the {len(read):,} candidates has a word (first: {texts.ids[0]!r}): give "
                "other texts or columns (field=), or leave out stopwords="
            )
        return Collection(read, language, column, *_counted(split, column))

    def _counts(self, read: Sequence[str], language: Sequence[str]) -> tuple[Any, Ints]:
        """Return how often each text has each term of the collection, and how many terms it has."""
        among = self.among
        assert among is not None
        if among.texts == read and among.language == list(language):
            return among.counts, among.lengths
        split = [self.reader.terms(text, tag) for text, tag in zip(read, language, strict=True)]
        return _counted(split, among.column)

    def _weighted(self, batch: Texts) -> Any:  # noqa: ANN401  (CSR of scipy)
        """Return the weights of each text's terms, CSR of scipy."""
        counts, lengths = self._counts(self.reader.read(batch), batch.language)
        weights = counts.copy()
        sizes = np.diff(counts.indptr)
        tags = np.array([self._index_of(tag) for tag in batch.language], dtype=object)
        for tag in dict.fromkeys(tags):
            df, n, average = self._statistics[self._known(tag)]
            here = np.repeat(tags == tag, sizes)
            relative = np.repeat(lengths / max(average, 1e-9), sizes)[here]
            idf = self.weighting.idf(df, n)[counts.indices[here]]
            weights.data[here] = idf * self.weighting.saturated(counts.data[here], relative)
        return weights

    @cached_property
    def _statistics(self) -> dict[str, tuple[Floats, int, float]]:
        """(texts with each term, texts, average length) of each index."""
        among = self.among
        assert among is not None
        language, counts, lengths = among.language, among.counts, among.lengths
        if self.fit is not None:
            language = list(self._fit.language)
            counts, lengths = _counted(self._fit_terms, among.column)
        tags = np.array([self._index_of(tag) for tag in language], dtype=object)
        found = {}
        for tag in dict.fromkeys(tags):
            rows = np.flatnonzero(tags == tag)
            df = np.bincount(counts[rows].indices, minlength=len(among.column)).astype(np.float64)
            found[tag] = df, len(rows), float(lengths[rows].mean())
        return found

    def _index_of(self, language: str) -> str:
        return language if self.index == LANGUAGE else ALL

    def _known(self, index: str) -> str:
        if index in self._statistics:
            return index
        raise InputError(
            f"bm25: fit= has no texts in {index!r}, only in {listed(self._statistics)}, and words are "
            f"counted by language: name texts that have it, or write index={ALL}"
        )

    @cached_property
    def _fit(self) -> Texts:
        assert self.fit is not None
        texts = self.fit()
        if not len(texts):
            raise InputError("bm25: fit= names no texts; choose a split that has some")
        return texts.plain()

    @cached_property
    def _fit_terms(self) -> list[Sequence[str]]:
        texts = self._fit
        read = self.reader.read(texts)
        return [self.reader.terms(text, tag) for text, tag in zip(read, texts.language, strict=True)]


def _counted(split: Sequence[Sequence[str]], column: Mapping[str, int]) -> tuple[Any, Ints]:
    """Return how often each text has each known term, CSR of scipy, and how many terms it has in all."""
    from scipy.sparse import csr_array

    known = [[column[term] for term in own if term in column] for own in split]
    bounds = np.concatenate([[0], np.cumsum([len(own) for own in known], dtype=np.int64)])
    indices = np.array([place for own in known for place in own], dtype=np.int64)
    shape = len(split), max(len(column), 1)
    counts = csr_array((np.ones(len(indices)), indices, bounds), shape=shape)
    counts.sum_duplicates()
    return counts, np.array([len(own) for own in split], dtype=np.int64)


def build(argument: str, options: Mapping[str, Any], context: Context) -> Bm25Encoder:
    """Return the encoder for a spec."""
    columns = tuple(name.strip() for name in options["field"].split(","))
    reader = TermReader(columns, options["stopwords"], options["stemmer"])
    reader.check()
    weighting = Weighting(options["method"], options["k1"], options["b"])
    return Bm25Encoder(weighting, reader, options["index"], context.loader("bm25", options["fit"]))
