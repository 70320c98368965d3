"""`chargram:`: character n-grams weighted by TF-IDF; it finds texts that are spelt alike, in any language."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.ngrams import blocks, counts, hashed_ngrams
from xlingual.encoders.options import FIT, SEED, Option, not_empty, number_range, whole_number
from xlingual.encoders.scheme import TEXTS, Context, Scheme
from xlingual.errors import InputError
from xlingual.models.words import normalized
from xlingual.records import Texts, digest

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SCHEME = Scheme(
    "chargram",
    (TEXTS,),
    "character n-grams with TF-IDF: finds texts with similar spelling",
    __name__,
    options=(
        Option("dim", whole_number(1), 256, "number of dimensions"),
        Option("n", number_range, (3, 5), "lengths of the n-grams"),
        SEED,
        Option("fit", not_empty, None, f"{FIT}; without it the texts that are encoded"),
    ),
)

FEATURES = 2**18  # hashed n-grams
NONZEROS = 8  # of each n-gram's row of the projection
_TERMS = 1 << 15  # n-grams that are projected at once


@dataclass(eq=False)
class ChargramEncoder(Encoder):
    """Hashed character n-grams, TF-IDF, and a fixed random projection to `dim` dimensions.

    n-grams lie within words (the blanks around a word count as characters). The weights (1 + ln tf)·idf of a
    text, scaled to unit length, are projected by a sparse matrix of random signs that only the seed chooses.

    Document frequencies come from the texts that `fit` loads. Without it they come from the distinct texts of
    the batch, all languages together, as a search engine counts its collection: a text's vector then depends
    on what it is encoded with (`depends_on_batch`), so a collection must be encoded in one call.
    """

    origin = "surface"
    dim: int = 256
    n: tuple[int, int] = (3, 5)
    seed: int = 0
    fit: Callable[[], Texts] | None = None

    @property
    def depends_on_batch(self) -> bool:
        """Whether the vector of a text depends on the other texts of the batch."""
        return self.fit is None

    @cached_property
    def identity(self) -> str:
        """The parameters, and a digest of the fit texts, or `df=collection` where the batch is counted."""
        df = "collection" if self.fit is None else digest(*sorted(set(self._fit.text))).hex()
        return f"chargram:v1?dim={self.dim}&n={self.n[0]}-{self.n[1]}&seed={self.seed}&df={df}"

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows whose texts were counted; empty without `fit`."""
        return frozenset() if self.fit is None else self._fit.row_digests()

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, dim]; a text without n-grams gets the zero vector."""
        idf = self._idf(batch.text) if self.fit is None else self._fitted_idf
        vectors = np.zeros((len(batch), self.dim), dtype=np.float32)
        for block in blocks(batch.text):
            self._project(self._weights(batch.text[block], idf), vectors[block])
        return vectors

    @cached_property
    def _fit(self) -> Texts:
        assert self.fit is not None
        texts = self.fit()
        if not len(texts):
            raise InputError("chargram: fit= names no texts; choose a split that has some")
        return texts

    @cached_property
    def _fitted_idf(self) -> Floats:
        return self._idf(self._fit.text)

    def _idf(self, texts: Sequence[str]) -> Floats:
        """Return ln((1 + N)/(1 + df)) + 1 for each feature, [FEATURES], of the N distinct texts."""
        distinct = list(dict.fromkeys(texts))
        df = np.zeros(FEATURES)
        for block in blocks(distinct):
            df += np.bincount(self._counts(distinct[block]).indices, minlength=FEATURES)
        return np.log((1 + len(distinct)) / (1 + df)) + 1

    def _weights(self, texts: Sequence[str], idf: Floats) -> csr_matrix:
        """Return the unit-length TF-IDF rows, sparse [n, FEATURES]."""
        found = self._counts(texts)
        found.data = (1 + np.log(found.data)) * idf[found.indices]
        rows = np.repeat(np.arange(len(texts)), np.diff(found.indptr))
        found.data /= np.sqrt(np.bincount(rows, weights=found.data**2))[rows]
        return found

    def _counts(self, texts: Sequence[str]) -> csr_matrix:
        """Return how often each n-gram is in each text, sparse [n, FEATURES]."""
        return counts(
            [normalized(text).split() for text in texts], FEATURES, partial(hashed_ngrams, n=self.n)
        )

    def _project(self, weights: csr_matrix, out: Vectors) -> None:
        """Write the projections of sparse rows into `out` [n, dim], a few rows at a time.

        A dimension is the sum of its terms in the order of the features, whatever stands in other rows.
        """
        from scipy.sparse import csr_matrix

        dims, signs = self._projection
        scaled = weights.data * (1 / np.sqrt(dims.shape[1]))
        for rows in _row_blocks(weights.indptr):
            begin, end = weights.indptr[rows.start], weights.indptr[rows.stop]
            feature = weights.indices[begin:end]
            terms = scaled[begin:end, None] * np.take(signs, feature, axis=0)
            ends = (weights.indptr[rows.start : rows.stop + 1] - begin) * dims.shape[1]
            shape = (rows.stop - rows.start, self.dim)
            out[rows] = csr_matrix(
                (terms.ravel(), np.take(dims, feature, axis=0).ravel(), ends), shape
            ).toarray()

    @cached_property
    def _projection(self) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
        """Return the dimensions to which each n-gram adds, and its signs there, [FEATURES, NONZEROS]."""
        generator, size = np.random.default_rng(self.seed), FEATURES * NONZEROS
        dims, signs = generator.integers(self.dim, size=size), generator.choice([-1.0, 1.0], size=size)
        return dims.astype(np.int32).reshape(-1, NONZEROS), signs.astype(np.int8).reshape(-1, NONZEROS)


def _row_blocks(indptr: Ints) -> Iterator[slice]:
    """Yield slices of the rows of a sparse matrix, of some _TERMS numbers each; a row is never cut."""
    start = 0
    while start < len(indptr) - 1:
        stop = int(np.searchsorted(indptr, indptr[start] + _TERMS, side="right")) - 1
        stop = max(stop, start + 1)
        yield slice(start, stop)
        start = stop


def build(argument: str, options: Mapping[str, Any], context: Context) -> ChargramEncoder:
    """Return the encoder for a spec."""
    fitted_on = context.loader("chargram", options["fit"])
    return ChargramEncoder(options["dim"], options["n"], options["seed"], fitted_on)
