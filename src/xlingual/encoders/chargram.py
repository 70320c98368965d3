"""`chargram:`: character n-grams weighted by TF-IDF; it finds texts that are spelt alike, in any language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Floats, Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.scheme import Context
from xlingual.errors import InputError
from xlingual.models.words import normalized
from xlingual.records import Texts, digest

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

FEATURES = 2**18  # hashed n-grams
NONZEROS = 8  # of each n-gram's row of the projection
_BLOCK = 4096  # texts whose n-grams are held at once


@dataclass(eq=False)
class ChargramEncoder(Encoder):
    """Hashed character n-grams, TF-IDF, and a fixed random projection to `dim` dimensions.

    n-grams lie within words (the blanks around a word count as characters). The weights (1 + ln tf)·idf of a
    text, scaled to unit length, are projected by a sparse matrix of random signs that only the seed chooses.

    Document frequencies come from the texts that `fit` loads. Without it they come from the distinct texts of
    the batch, all languages together, as a search engine counts its collection: a text's vector then depends
    on what it is encoded with (`depends_on_batch`), so a collection must be encoded in one call.
    """

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
        for start in range(0, len(batch), _BLOCK):
            block = slice(start, start + _BLOCK)
            vectors[block] = (self._weights(batch.text[block], idf) @ self._projection).toarray()
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
        distinct = sorted(set(texts))
        df = np.zeros(FEATURES)
        for start in range(0, len(distinct), _BLOCK):
            df += np.bincount(self._counts(distinct[start : start + _BLOCK]).indices, minlength=FEATURES)
        return np.log((1 + len(distinct)) / (1 + df)) + 1

    def _weights(self, texts: Sequence[str], idf: Floats) -> csr_matrix:
        """Return the unit-length TF-IDF rows, sparse [n, FEATURES]."""
        counts = self._counts(texts)
        counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
        rows = np.repeat(np.arange(len(texts)), np.diff(counts.indptr))
        counts.data /= np.sqrt(np.bincount(rows, weights=counts.data**2))[rows]
        return counts

    def _counts(self, texts: Sequence[str]) -> csr_matrix:
        """Return how often each n-gram is in each text, sparse [n, FEATURES]."""
        counts = self._vectorizer.transform(texts)
        counts.sort_indices()  # the order of a row's sum must not depend on its neighbours
        return counts

    @cached_property
    def _vectorizer(self) -> Any:  # noqa: ANN401  (scikit-learn has no types)
        from sklearn.feature_extraction.text import HashingVectorizer

        return HashingVectorizer(
            analyzer="char_wb",
            ngram_range=self.n,
            n_features=FEATURES,
            preprocessor=normalized,
            alternate_sign=False,
            norm=None,
        )

    @cached_property
    def _projection(self) -> csr_matrix:
        """Return the projection, sparse [FEATURES, dim]: a few random signs for each n-gram."""
        from scipy.sparse import csr_matrix

        generator, size = np.random.default_rng(self.seed), FEATURES * NONZEROS
        columns = generator.integers(self.dim, size=size)
        signs = generator.choice([-1.0, 1.0], size=size) / np.sqrt(NONZEROS)
        return csr_matrix((signs, columns, np.arange(0, size + 1, NONZEROS)), shape=(FEATURES, self.dim))


def build(argument: str, options: Mapping[str, Any], context: Context) -> ChargramEncoder:
    """Return the encoder for a spec."""
    fitted_on = context.loader("chargram", options["fit"])
    return ChargramEncoder(options["dim"], options["n"], options["seed"], fitted_on)
