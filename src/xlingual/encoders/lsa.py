"""`lsa:`: cross-lingual latent semantic analysis (Dumais et al. 1997; Littman, Dumais and Landauer 1998)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.encoders.schemes import Context
from xlingual.encoders.words import character_terms
from xlingual.errors import InputError, listed
from xlingual.models.words import is_spaced, words
from xlingual.records import Texts, digest

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from xlingual.records import Floats, Vectors

_NO_SIGNAL = 1e-6  # singular values below this part of the largest one are rounding


@dataclass(frozen=True)
class LsaModel:
    """A fitted model: for each language its TF-IDF and its rows V_l of the right singular vectors."""

    tfidf: Mapping[str, Any]  # language → fitted TfidfVectorizer
    axes: Mapping[str, Floats]  # language → [terms of the language, d]

    def fold_in(self, texts: Sequence[str], language: str) -> Floats:
        """Return tfidf_l · V_l, float64 [n, d]."""
        vectors: Floats = self.tfidf[language].transform(texts) @ self.axes[language]
        return vectors


class LsaEncoder:
    """Translated texts as one document each, a truncated SVD over all of them, new texts folded in.

    Each item that is fitted on is one row: the TF-IDF vectors of its texts, one block of terms per language,
    each block of unit length. A term and its translation stand in the same rows, so the right singular
    vectors V bring them together. A text of language l becomes tfidf_l · V_l; languages without spaces
    between words use characters and pairs of characters as terms. Fitted once, when first needed.
    """

    def __init__(
        self,
        fit: Callable[[], Texts],
        languages: Sequence[str],
        *,
        pairs: int | None = None,
        dim: int = 150,
        seed: int = 0,
    ) -> None:
        self.fit = fit
        self.languages = tuple(sorted(set(languages)))
        self.pairs = pairs
        self.dim = dim
        self.seed = seed

    @cached_property
    def chosen(self) -> Texts:
        """The texts it is fitted on."""
        return choose(self.fit(), self.languages, self.pairs, self.seed)

    @cached_property
    def model(self) -> LsaModel:
        """The fitted model."""
        return fit_lsa(self.chosen, self.languages, self.dim, self.seed)

    def fit_model(self) -> None:
        """Fit it now, where it is not fitted yet."""
        _ = self.model

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows it is fitted on; known before it is fitted, which takes time."""
        return self.chosen.row_digests()

    @cached_property
    def identity(self) -> str:
        """The parameters, the languages and a digest of the rows it is fitted on."""
        pairs = "all" if self.pairs is None else self.pairs
        rows = digest(*sorted(self.fitted_on)).hex()
        languages = ",".join(self.languages)
        return f"lsa:v1?pairs={pairs}&dim={self.dim}&seed={self.seed}&languages={languages}&fit={rows}"

    def encode(self, batch: Texts) -> Vectors:
        """Return float32 [n, min(dim, rank)]; a text without known terms gets the zero vector."""
        unknown = sorted(set(batch.language) - set(self.languages))
        if unknown:
            raise InputError(
                f"lsa is not fitted on the language {listed(unknown)}; it has {listed(self.languages, 20)}"
            )
        dim = self.model.axes[self.languages[0]].shape[1]
        vectors = np.zeros((len(batch), dim), dtype=np.float32)
        language = np.asarray(batch.language, dtype=object)
        for tag in dict.fromkeys(batch.language):
            rows = np.flatnonzero(language == tag)
            vectors[rows] = self.model.fold_in([batch.text[int(row)] for row in rows], tag)
        return vectors


def choose(texts: Texts, languages: Sequence[str], pairs: int | None, seed: int) -> Texts:
    """Return the fit texts of the chosen items, in the order in which the items are chosen.

    With `pairs`: that many of the items that have texts in all languages, the first ones of a seeded
    permutation. Without: every item that has texts in two of the languages or more.
    """
    if not len(texts.items):
        raise InputError("lsa: fit texts carry no items: equal items say which texts mean the same")
    rows_of: dict[str, list[int]] = {}
    for row, (item, language) in enumerate(zip(texts.items, texts.language, strict=True)):
        if language in languages:
            rows_of.setdefault(item, []).append(row)
    least = min(2, len(languages)) if pairs is None else len(languages)
    usable = [rows for rows in rows_of.values() if len({texts.language[row] for row in rows}) >= least]
    wanted = max(pairs or 0, 1)
    if len(usable) < wanted:
        which = (
            f"all of the languages {listed(languages, 20)}" if pairs else f"two of {listed(languages, 20)}"
        )
        raise InputError(
            f"lsa: {wanted} items with texts in {which} are needed to fit it, the fit texts have "
            f"{len(usable)}: lower pairs= or name other texts with fit="
        )
    order = np.random.default_rng(seed).permutation(len(usable))[: pairs or len(usable)]
    return texts.take(np.array([row for item in order for row in usable[item]], dtype=np.int64))


def fit_lsa(texts: Texts, languages: Sequence[str], dim: int, seed: int) -> LsaModel:
    """Fit on all rows of `texts`; several texts of one item and language count as one document."""
    from scipy.sparse import hstack

    number = {item: i for i, item in enumerate(dict.fromkeys(texts.items))}
    tfidf: dict[str, Any] = {}
    blocks: list[csr_matrix] = []
    for language in languages:
        documents = [""] * len(number)
        for item, tag, text in zip(texts.items, texts.language, texts.text, strict=True):
            if tag == language:
                documents[number[item]] += f"{text}\n"
        tfidf[language], block = _fit_tfidf(documents, language)
        blocks.append(block)
    right = _right_singular_vectors(hstack(blocks, format="csr"), dim, seed)
    ends = np.cumsum([block.shape[1] for block in blocks])
    axes = dict(zip(languages, np.split(right, ends[:-1]), strict=True))
    return LsaModel(tfidf, axes)


def _fit_tfidf(documents: Sequence[str], language: str) -> tuple[Any, csr_matrix]:
    """Return TF-IDF fitted on the documents that are not empty, and the rows of all: [n, terms]."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    terms = words if is_spaced(language) else character_terms
    present = [document for document in documents if document]
    if not any(map(terms, present)):
        raise InputError(f"lsa: the fit texts hold no words of the language {language}")
    vectorizer = TfidfVectorizer(analyzer=terms, sublinear_tf=True)
    return vectorizer.fit(present), vectorizer.transform(documents)


def _right_singular_vectors(rows: csr_matrix, dim: int, seed: int) -> Floats:
    """Return V, float64 [terms, min(dim, rank)]: the same on every run."""
    from scipy.sparse.linalg import svds

    if dim < min(rows.shape):
        start = np.random.default_rng(seed).standard_normal(min(rows.shape))
        _, values, right = svds(rows, k=dim, v0=start)
        order = np.argsort(-values)
        values, right = values[order], right[order]
    else:
        _, values, right = np.linalg.svd(rows.toarray(), full_matrices=False)
        values, right = values[:dim], right[:dim]
    vectors: Floats = right[values > _NO_SIGNAL * values[0]].T
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.ascontiguousarray(vectors * signs)


def build(argument: str, options: Mapping[str, Any], context: Context) -> LsaEncoder:
    """Return the encoder for a spec."""
    fit = context.loader("lsa", options["fit"])
    if fit is None:
        pool = context.role_languages is not None  # only texts of a pool have roles
        example = (
            "lsa:?fit=POOL#train, with --split test" if pool else "lsa:?pairs=200&fit=products.parquet#train"
        )
        raise InputError(f"lsa: is fitted on translated texts: say which, for example {example}")
    return LsaEncoder(
        fit, context.languages, pairs=options["pairs"], dim=options["dim"], seed=options["seed"]
    )
