"""`chargram:` and `wordgram:`: hashed character n-grams or words, weighted by TF-IDF.

Both are baselines without learning: texts that are spelt alike, or that share words, are near.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Floats, Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.scheme import FIT, SEED, TEXTS, Context, Option, Scheme, not_empty, one_of, positive
from xlingual.models.words import normalized, words
from xlingual.records import Texts, digest

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def ngram_lengths(text: str) -> tuple[int, int]:
    """Read `3-5`, or `3` for `3-3`."""
    match = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", text)
    low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= low <= high:
        raise ValueError("a range such as 3-5, or one number of at least 1")
    return low, high


_FIT = Option("fit", not_empty, None, f"{FIT}; without it the texts that are encoded")
SCHEMES = (
    Scheme(
        "chargram",
        (TEXTS,),
        "character n-grams with TF-IDF: finds texts with similar spelling",
        __name__,
        options=(
            Option("dim", positive, 256, "number of dimensions"),
            Option("n", ngram_lengths, (3, 5), "lengths of the n-grams"),
            SEED,
            _FIT,
        ),
    ),
    Scheme(
        "wordgram",
        (TEXTS,),
        "shared words: word overlap, or weighted by TF-IDF",
        __name__,
        options=(
            Option("weight", one_of("tfidf", "overlap"), "tfidf", "overlap: every word counts as one"),
            Option("dim", positive, 4096, "number of dimensions"),
            SEED,
            _FIT,
        ),
    ),
)

FEATURES = 2**18  # hashed n-grams or words
_BLOCK = 512  # texts that are counted at once


class GramEncoder(Encoder):
    """Hashed terms, weighted by TF-IDF, scaled to unit length and projected by random signs.

    A term's weight in a text is (1 + ln tf)·(ln((1 + N)/(1 + df)) + 1), and it adds to `spread` of the
    dimensions. Document frequencies df are those of the N distinct texts that `fit` loads. Without it they
    are those of the batch, all languages together, as a search engine counts its collection: a collection is
    then encoded in one call. With `overlap` a text is the set of its words, and the cosine is
    |A ∩ B| / √(|A|·|B|), the baseline of SemEval's similarity task (Agirre et al. 2012).
    """

    origin = "surface"

    def __init__(
        self,
        stated: str,  # the options, as the identity has them
        terms: Mapping[str, Any],  # what scikit-learn's HashingVectorizer counts
        spread: int,
        dim: int,
        seed: int,
        fit: Callable[[], Texts] | None = None,
        overlap: bool = False,
    ) -> None:
        self.stated, self.terms, self.spread, self.dim, self.seed = stated, terms, spread, dim, seed
        self.fit, self.overlap = fit, overlap

    @property
    def depends_on_batch(self) -> bool:
        """Whether the vector of a text depends on the other texts of the batch."""
        return self.fit is None and not self.overlap

    @cached_property
    def identity(self) -> str:
        """The options, and a digest of the fit texts, or `df=collection` where the batch is counted."""
        if self.overlap:
            return self.stated
        df = "collection" if self._fit is None else digest(*sorted(set(self._fit.text))).hex()
        return f"{self.stated}&df={df}"

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows whose texts were counted; empty without `fit`."""
        return frozenset() if self._fit is None else self._fit.row_digests()

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, dim]; a text without terms gets the zero vector."""
        from sklearn.preprocessing import normalize

        idf = self._idf(batch.text) if self.depends_on_batch else self._fitted_idf
        vectors = np.zeros((len(batch), self.dim), dtype=np.float32)
        for start in range(0, len(batch), _BLOCK):
            rows = slice(start, start + _BLOCK)
            counts = self._vectorizer.transform(batch.text[rows])
            counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
            projected = (normalize(counts, copy=False) @ self._projection).tocoo()
            vectors[rows][projected.row, projected.col] = projected.data
        return vectors

    @cached_property
    def _fit(self) -> Texts | None:
        return None if self.fit is None else self.fit()

    @cached_property
    def _fitted_idf(self) -> Floats:
        return np.ones(FEATURES) if self._fit is None else self._idf(self._fit.text)

    def _idf(self, texts: Sequence[str]) -> Floats:
        """Compute the weight of each feature [FEATURES] from its frequency in the distinct texts."""
        distinct = list(dict.fromkeys(texts))
        df = np.zeros(FEATURES)
        for start in range(0, len(distinct), _BLOCK):
            counts = self._vectorizer.transform(distinct[start : start + _BLOCK])
            df += np.bincount(counts.indices, minlength=FEATURES)
        return np.log((1 + len(distinct)) / (1 + df)) + 1

    @cached_property
    def _vectorizer(self) -> Any:  # noqa: ANN401  (of scikit-learn)
        from sklearn.feature_extraction.text import HashingVectorizer

        return HashingVectorizer(
            **self.terms, n_features=FEATURES, alternate_sign=False, norm=None, binary=self.overlap
        )

    @cached_property
    def _projection(self) -> csr_matrix:
        """Draw the projection, sparse [FEATURES, dim]: a sign in `spread` dimensions of each feature."""
        from scipy.sparse import csr_matrix

        generator, size = np.random.default_rng(self.seed), FEATURES * self.spread
        dims, signs = generator.integers(self.dim, size=size), generator.choice([-1.0, 1.0], size=size)
        ends = np.arange(0, size + 1, self.spread)
        return csr_matrix((signs / np.sqrt(self.spread), dims, ends), shape=(FEATURES, self.dim))


def build(argument: str, options: Mapping[str, Any], context: Context) -> GramEncoder:
    """Make the encoder of a spec."""
    name, dim, seed = context.scheme, options["dim"], options["seed"]
    fit = context.loader(name, options["fit"])
    if name == "chargram":
        low, high = options["n"]
        terms = {"analyzer": "char_wb", "ngram_range": (low, high), "preprocessor": normalized}
        return GramEncoder(f"chargram:v1?dim={dim}&n={low}-{high}&seed={seed}", terms, 8, dim, seed, fit)
    stated = f"wordgram:v1?dim={dim}&weight={options['weight']}&seed={seed}"
    overlap = options["weight"] == "overlap"
    return GramEncoder(stated, {"analyzer": words}, 1, dim, seed, None if overlap else fit, overlap)
