"""`wordgram:`: words that two texts share, each counted as one (word overlap) or weighted by TF-IDF.

With `weight=overlap` a text is the set of its words, so the cosine of two texts is |A ∩ B| / √(|A|·|B|): the
baseline of SemEval's similarity task (Agirre et al. 2012, "token cosine").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Floats, Vectors
from xlingual.encoders.chargram import FEATURES, ChargramEncoder
from xlingual.encoders.ngrams import counts, hashed_words
from xlingual.encoders.options import FIT, SEED, Option, not_empty, one_of, whole_number
from xlingual.encoders.scheme import TEXTS, Context, Scheme
from xlingual.models.words import words
from xlingual.records import digest

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SCHEME = Scheme(
    "wordgram",
    (TEXTS,),
    "shared words: word overlap, or weighted by TF-IDF",
    __name__,
    options=(
        Option("weight", one_of("tfidf", "overlap"), "tfidf", "overlap: every word counts as one"),
        Option("dim", whole_number(1), 4096, "number of dimensions"),
        SEED,
        Option("fit", not_empty, None, f"{FIT}; without it the texts that are encoded"),
    ),
)

OVERLAP, TFIDF = "overlap", "tfidf"


@dataclass(eq=False)
class WordgramEncoder(ChargramEncoder):
    """Hashed words with weight 1 (`overlap`) or (1 + ln tf)·idf (`tfidf`), each in one of `dim` dimensions.

    Two words of a pair of texts share a dimension with the chance 1/dim; but for these the cosine is exact.
    Document frequencies are counted as by `chargram`. Words are runs of letters and digits: a language that
    puts no spaces between words has few of them, so take `chargram` there.
    """

    dim: int = 4096
    weight: str = TFIDF

    @property
    def depends_on_batch(self) -> bool:
        """Whether the vector of a text depends on the other texts of the batch."""
        return self.weight == TFIDF and self.fit is None

    @cached_property
    def identity(self) -> str:
        """The parameters, and what document frequencies are counted in."""
        df = "collection" if self.fit is None else digest(*sorted(set(self._fit.text))).hex()
        counted = f"&df={df}" if self.weight == TFIDF else ""
        return f"wordgram:v1?dim={self.dim}&weight={self.weight}&seed={self.seed}{counted}"

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows whose texts were counted; empty where none were."""
        return frozenset() if self.fit is None or self.weight == OVERLAP else self._fit.row_digests()

    def _idf(self, texts: Sequence[str]) -> Floats:
        return np.ones(FEATURES) if self.weight == OVERLAP else super()._idf(texts)

    def _counts(self, texts: Sequence[str]) -> csr_matrix:
        found = counts([words(text) for text in texts], FEATURES, hashed_words)
        if self.weight == OVERLAP:
            found.data = np.ones_like(found.data)
        return found

    def _project(self, weights: csr_matrix, out: Vectors) -> None:
        """Write the projections of sparse rows into `out` [n, dim], which is zero: they are sparse, too."""
        found = (weights @ self._random_dims).tocoo()
        out[found.row, found.col] = found.data

    @cached_property
    def _random_dims(self) -> csr_matrix:
        """Return the projection, sparse [FEATURES, dim]: one random dimension and sign for each word."""
        from scipy.sparse import csr_matrix

        generator = np.random.default_rng(self.seed)
        columns, signs = generator.integers(self.dim, size=FEATURES), generator.choice([-1.0, 1.0], FEATURES)
        return csr_matrix((signs, columns, np.arange(FEATURES + 1)), shape=(FEATURES, self.dim))


def build(argument: str, options: Mapping[str, Any], context: Context) -> WordgramEncoder:
    """Return the encoder for a spec."""
    fit = context.loader("wordgram", options["fit"])
    return WordgramEncoder(options["dim"], seed=options["seed"], fit=fit, weight=options["weight"])
