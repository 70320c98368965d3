"""`bm25:`: the words that a query shares with a candidate, weighted by BM25, as search engines rank.

A candidate is the sparse row of what each of its terms adds to a score, a query the counts of its terms, so
that their dot product is the BM25 score (eager scoring: Lù, "BM25S", 2024). The formula is Lucene's:
Kamphuis, de Vries, Boytsov and Lin, "Which BM25 do you mean?", ECIR 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.encoders.base import Encoder
from xlingual.encoders.scheme import FIT, TEXTS, Context, Option, Scheme, amount, not_empty, share
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.forms import COSINE, DOT, SparseVectors
from xlingual.models.words import terms
from xlingual.records import Texts, digest

SCHEME = Scheme(
    "bm25",
    (TEXTS,),
    "BM25: shared words of query and candidate, weighted as in search engines",
    __name__,
    options=(
        Option("k1", amount, 1.5, "saturation of repeated words (k1)"),
        Option("b", share, 0.75, "weight of the candidate's length, 0 to 1 (b)"),
        Option("field", not_empty, "text", "columns that are read, such as title or title,text"),
        Option("fit", not_empty, None, f"{FIT}; without it the candidates that are encoded"),
    ),
)


class Bm25Encoder(Encoder):
    """BM25 of a collection, which is what `over` was given.

    A term that is tf times in a candidate of `length` terms adds to its score, where df of n candidates have
    the term and a candidate has `average` terms:

        ln(1 + (n − df + ½)/(df + ½)) · tf / (tf + k1·(1 − b + b·length/average))

    df, n and average are those of the candidates in the candidate's language, or of the texts that `fit`
    loads. A text without a role is a candidate among the batch, compared by the cosine.
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
        k1, b, field = (self.options[name] for name in ("k1", "b", "field"))
        df = "collection" if self.fit is None else digest(*sorted(self.fitted_on)).hex()
        return f"bm25:v2?k1={k1:g}&b={b:g}&field={field}&df={df}"

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows whose words were counted; empty without `fit`."""
        return frozenset() if self._fit is None else self._fit.row_digests()

    def over(self, candidates: Texts, /) -> Bm25Encoder:
        """Make the encoder of a search among these candidates."""
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
        """Give sparse float32 [n, terms of the candidates]."""
        if self.candidates is None and batch.role == "query":
            raise InputError("bm25: queries need the candidates that they are searched among (`over`)")
        encoder = self.over(batch) if self.candidates is None else self
        counts, lengths = encoder._counted(self._read(batch), list(batch.language))
        if batch.role == "query":
            return SparseVectors.of(counts, DOT)
        k1, b = self.options["k1"], self.options["b"]
        weights, tags = counts.copy(), np.array(batch.language)
        for tag in dict.fromkeys(tags.tolist()):
            if tag not in encoder._statistics:
                raise InputError(
                    f"bm25: fit= has no texts in {tag!r}, only in {listed(encoder._statistics)}, and words "
                    "are counted by language: name texts that have it"
                )
            n, average, df = encoder._statistics[tag]
            here = np.repeat(tags == tag, np.diff(counts.indptr))
            tf, length = counts.data[here], np.repeat(lengths, np.diff(counts.indptr))[here]
            saturated = tf / (tf + k1 * (1 - b + b * (length / max(average, 1e-9))))
            weights.data[here] = np.log(1 + (n - df + 0.5) / (df + 0.5))[counts.indices[here]] * saturated
        return SparseVectors.of(weights, COSINE if self.candidates is None and batch.role is None else DOT)

    def _read(self, batch: Texts) -> list[str]:
        """Give the text of each row, or its columns one after another."""
        columns = {"text": batch.text, **batch.fields}
        names = [name.strip() for name in self.options["field"].split(",")]
        for name in names:
            if name not in columns:
                raise InputError(
                    f"bm25: field= names no column of the data: {name!r}.{did_you_mean(name, columns)} "
                    f"They have {listed(columns)}"
                )
        return ["\n".join(row) for row in zip(*(columns[name] for name in names), strict=True)]

    @cached_property
    def _collection(self) -> tuple[dict[str, int], Any, Ints]:
        """The column of each term of the candidates, and their counts."""
        split = [terms(text, tag) for text, tag in zip(*(self.candidates or ([], [])), strict=True)]
        column = {term: place for place, term in enumerate(sorted(set(chain.from_iterable(split))))}
        return column, *_counts(split, column)

    def _counted(self, texts: list[str], languages: list[str]) -> tuple[Any, Ints]:
        """Count the candidates' terms in texts."""
        column, counts, lengths = self._collection
        if (texts, languages) == self.candidates:
            return counts, lengths
        return _counts([terms(text, tag) for text, tag in zip(texts, languages, strict=True)], column)

    @cached_property
    def _statistics(self) -> dict[str, tuple[int, float, Floats]]:
        """The number of texts of each language, their average length, and how many have each term [terms]."""
        texts, languages = self.candidates or ([], [])
        if self._fit is not None:
            texts, languages = self._read(self._fit), list(self._fit.language)
        counts, lengths = self._counted(texts, languages)
        tags, statistics = np.array(languages), {}
        for tag in dict.fromkeys(languages):
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


def build(argument: str, options: Mapping[str, Any], context: Context) -> Bm25Encoder:
    """Make the encoder of a spec."""
    return Bm25Encoder(options, context.loader("bm25", options["fit"]))
