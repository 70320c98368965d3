"""`lsa:`: cross-lingual latent semantic analysis (Dumais et al. 1997; Littman, Dumais and Landauer 1998)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Floats, Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.scheme import FIT, SEED, TEXTS, Context, Option, Scheme, not_empty, positive
from xlingual.errors import InputError, listed
from xlingual.models.words import is_spaced, words
from xlingual.records import Texts, digest
from xlingual.transforms.affine import rows_of_each

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SCHEME = Scheme(
    "lsa",
    (TEXTS,),
    "cross-lingual latent semantic analysis, fitted on translated texts",
    __name__,
    options=(
        Option("pairs", positive, None, "number of items it is fitted on (all)"),
        Option("dim", positive, 150, "most dimensions"),
        SEED,
        Option("fit", not_empty, None, f"{FIT}; required"),
    ),
)

_NO_SIGNAL = 1e-6  # singular values below this part of the largest one are rounding


class LsaEncoder(Encoder):
    """Translated texts as one document each, a truncated SVD over all of them, new texts folded in.

    Each item that is fitted on is one row: the TF-IDF vectors of its texts, one block of terms per language,
    each block of unit length. A term and its translation stand in the same rows, so the right singular
    vectors V bring them together. A text of language l becomes tfidf_l · V_l; languages without spaces
    between words use characters and pairs of characters as terms.

    With as many dimensions as terms, V only turns the space: where few terms occur in many items, a lower
    `dim` brings translations nearer.
    """

    origin = "fitted"
    languages: tuple[str, ...] = ()
    who = "lsa"

    def __init__(
        self, fit: Callable[[], Texts], languages: Sequence[str], options: Mapping[str, Any]
    ) -> None:
        self.fit, self.languages = fit, tuple(sorted(set(languages)))
        self.pairs, self.dim, self.seed = (options[name] for name in ("pairs", "dim", "seed"))

    @cached_property
    def chosen(self) -> Texts:
        """The texts of the items it is fitted on.

        With `pairs`: that many of the items that have texts in all languages, the first ones of a seeded
        permutation. Without: every item that has texts in two of the languages or more.
        """
        texts, pairs = self.fit(), self.pairs
        rows_of: dict[str, list[int]] = {}
        for row, (item, language) in enumerate(zip(texts.items or texts.ids, texts.language, strict=True)):
            if language in self.languages:
                rows_of.setdefault(item, []).append(row)
        least = min(2, len(self.languages)) if pairs is None else len(self.languages)
        usable = [rows for rows in rows_of.values() if len({texts.language[row] for row in rows}) >= least]
        if len(usable) < (pairs or 1):
            raise InputError(
                f"lsa: {pairs or 1} items with texts in {least} of the languages {listed(self.languages)} "
                f"are needed to fit it, fit= has {len(usable)}: lower pairs= or name other texts"
            )
        order = np.random.default_rng(self.seed).permutation(len(usable))[:pairs]
        return texts.take(np.array([row for item in order for row in usable[item]], dtype=np.int64))

    @cached_property
    def model(self) -> dict[str, tuple[Any, Floats]]:
        """The fitted TF-IDF of each language, and the axes of its terms, float64 [terms, d]."""
        from scipy.sparse import hstack
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts, tfidf, blocks = self.chosen, list[Any](), list[Any]()
        number = {item: place for place, item in enumerate(dict.fromkeys(texts.items))}
        for language in self.languages:
            documents = [""] * len(number)  # several texts of an item and language are one document
            for item, tag, text in zip(texts.items, texts.language, texts.text, strict=True):
                documents[number[item]] += f"{text}\n" if tag == language else ""
            terms = words if is_spaced(language) else character_terms
            if not any(map(terms, documents)):
                raise InputError(f"lsa: the fit texts hold no words of the language {language}")
            tfidf.append(TfidfVectorizer(analyzer=terms, sublinear_tf=True).fit(filter(None, documents)))
            blocks.append(tfidf[-1].transform(documents))
        right = right_singular_vectors(hstack(blocks, format="csr"), self.dim, self.seed)
        ends = np.cumsum([block.shape[1] for block in blocks])[:-1]
        axes = np.split(right, ends)
        return dict(zip(self.languages, zip(tfidf, axes, strict=True), strict=True))

    def fit_model(self) -> None:
        """Fit it now, where it is not fitted yet."""
        _ = self.model

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows it is fitted on; known before it is fitted, which takes time."""
        return self.chosen.row_digests()

    @cached_property
    def identity(self) -> str:
        """The parameters, the languages, and a digest of the rows it is fitted on."""
        parts = {"pairs": self.pairs or "all", "dim": self.dim, "seed": self.seed}
        parts |= {"languages": ",".join(self.languages), "fit": digest(*sorted(self.fitted_on)).hex()}
        return "lsa:v1?" + "&".join(f"{name}={value}" for name, value in parts.items())

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, min(dim, rank)]; a text without known terms gets the zero vector."""
        self.check_languages(batch.language)
        dim = self.model[self.languages[0]][1].shape[1]
        vectors = np.zeros((len(batch), dim), dtype=np.float32)
        for tag, rows in rows_of_each(batch.language).items():
            tfidf, axes = self.model[tag]
            vectors[rows] = tfidf.transform([batch.text[row] for row in rows.tolist()]) @ axes
        return vectors


def character_terms(text: str) -> list[str]:
    """Return every character and every pair of neighbours within a word or clause."""
    return [run[i : i + n] for run in words(text) for n in (1, 2) for i in range(len(run) - n + 1)]


def right_singular_vectors(rows: csr_matrix, dim: int, seed: int) -> Floats:
    """Compute V, float64 [terms, min(dim, rank)]: the same on every run."""
    from scipy.sparse.linalg import svds

    if dim < min(rows.shape):
        start = np.random.default_rng(seed).standard_normal(min(rows.shape))
        _, values, right = svds(rows, k=dim, v0=start)
        order = np.argsort(-values)
        values, right = values[order], right[order]
    else:
        _, values, right = np.linalg.svd(rows.toarray(), full_matrices=False)
        values, right = values[:dim], right[:dim]
    signal = values > _NO_SIGNAL * values[0]
    vectors: Floats = right[signal].T
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.ascontiguousarray(vectors * signs)


def build(argument: str, options: Mapping[str, Any], context: Context) -> LsaEncoder:
    """Make the encoder of a spec."""
    fit = context.loader("lsa", options["fit"])
    if fit is None:
        raise InputError(
            "lsa: fit= is missing: it is fitted on translated texts that are not evaluated, such as "
            "lsa:?pairs=200&fit=FILE#train"
        )
    return LsaEncoder(fit, context.languages, options)
