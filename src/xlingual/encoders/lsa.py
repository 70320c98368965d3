"""`lsa:`: cross-lingual latent semantic analysis (Dumais et al. 1997; Littman, Dumais and Landauer 1998)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Floats, Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.options import FIT, SEED, Option, not_empty, whole_number
from xlingual.encoders.runtime import rows_by_language
from xlingual.encoders.scheme import TEXTS, Context, Scheme
from xlingual.errors import InputError, listed, warn
from xlingual.models.words import is_spaced, words
from xlingual.records import Texts, digest

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SCHEME = Scheme(
    "lsa",
    (TEXTS,),
    "cross-lingual latent semantic analysis, fitted on translated texts",
    __name__,
    options=(
        Option("pairs", whole_number(1), None, "number of items it is fitted on (all)"),
        Option("dim", whole_number(1), 150, "most dimensions"),
        SEED,
        Option("fit", not_empty, None, f"{FIT}; required"),
    ),
)

_NO_SIGNAL = 1e-6  # singular values below this part of the largest one are rounding
_POWERS = (0.0, 0.5, 1.0)  # of the singular values, by which axes may be weighted
_HELD_OUT = 5  # a fifth of the items is held out to choose among them
_MOST_HELD_OUT, _LEAST_HELD_OUT = 500, 20  # items; with fewer there is no choice
_CLEAR = 2.0  # standard errors


@dataclass(frozen=True)
class LsaModel:
    """A fitted model: for each language its TF-IDF and its rows V_l of the right singular vectors."""

    tfidf: Mapping[str, Any]  # language → fitted TfidfVectorizer
    axes: Mapping[str, Floats]  # language → [terms of the language, d]
    values: Floats  # the singular values, descending [d]

    def fold_in(self, texts: Sequence[str], language: str) -> Floats:
        """Return tfidf_l · V_l, float64 [n, d]."""
        return np.asarray(self.tfidf[language].transform(texts) @ self.axes[language])

    def weighted(self, power: float) -> LsaModel:
        """Return the model whose axes are weighted by a power of their singular values."""
        weight = (self.values / self.values[0]) ** power
        return replace(self, axes={language: axes * weight for language, axes in self.axes.items()})


class LsaEncoder(Encoder):
    """Translated texts as one document each, a truncated SVD over all of them, new texts folded in.

    Each item that is fitted on is one row: the TF-IDF vectors of its texts, one block of terms per language,
    each block of unit length. A term and its translation stand in the same rows, so the right singular
    vectors V bring them together. A text of language l becomes tfidf_l · V_l; languages without spaces
    between words use characters and pairs of characters as terms. Fitted once, when first needed.

    Where few terms occur in many items, the later axes separate languages instead of bringing them together
    (with as many axes as terms, V only turns the space). The axes are therefore weighted by a power of their
    singular values where that finds the translations of held-out items clearly better.
    """

    origin = "fitted"
    languages: tuple[str, ...] = ()

    def __init__(
        self,
        fit: Callable[[], Texts],
        languages: Sequence[str],
        *,
        pairs: int | None = None,
        dim: int = 150,
        seed: int = 0,
    ) -> None:
        self.fit, self.languages = fit, tuple(sorted(set(languages)))
        self.pairs, self.dim, self.seed = pairs, dim, seed

    @cached_property
    def chosen(self) -> Texts:
        """The texts it is fitted on."""
        return choose(self.fit(), self.languages, self.pairs, self.seed)

    @cached_property
    def model(self) -> LsaModel:
        """The fitted model."""
        found = fit_lsa(self.chosen, self.languages, self.dim, self.seed)
        return found.weighted(self.power) if self.power else found

    @cached_property
    def power(self) -> float:
        """The power of the singular values by which the axes are weighted."""
        return choose_power(self.chosen, self.languages, self.dim, self.seed)

    def fit_model(self) -> None:
        """Fit it now, where it is not fitted yet."""
        _ = self.model

    @cached_property
    def fitted_on(self) -> frozenset[bytes]:
        """Digests of the rows it is fitted on; known before it is fitted, which takes time."""
        return self.chosen.row_digests()

    @cached_property
    def identity(self) -> str:
        """The parameters, the languages, a digest of the rows it is fitted on, and its power."""
        parts = {
            "pairs": "all" if self.pairs is None else self.pairs,
            "dim": self.dim,
            "seed": self.seed,
            "languages": ",".join(self.languages),
            "fit": digest(*sorted(self.fitted_on)).hex(),
        } | ({"power": f"{self.power:g}"} if self.power else {})
        return "lsa:v1?" + "&".join(f"{name}={value}" for name, value in parts.items())

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, min(dim, rank)]; a text without known terms gets the zero vector."""
        if unknown := sorted(set(batch.language) - set(self.languages)):
            raise InputError(
                f"lsa is not fitted on the language {listed(unknown)}; it has {listed(self.languages, 20)}"
            )
        vectors = np.zeros((len(batch), len(self.model.values)), dtype=np.float32)
        for tag, rows in rows_by_language(batch):
            vectors[rows] = self.model.fold_in([batch.text[row] for row in rows.tolist()], tag)
        return vectors


def character_terms(text: str) -> list[str]:
    """Return every character and every pair of neighbours within a word or clause."""
    return [run[i : i + n] for run in words(text) for n in (1, 2) for i in range(len(run) - n + 1)]


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
        which = f"{'all of the languages' if pairs else 'two of'} {listed(languages, 20)}"
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
    right, values = _right_singular_vectors(hstack(blocks, format="csr"), dim, seed)
    ends = np.cumsum([block.shape[1] for block in blocks])
    return LsaModel(tfidf, dict(zip(languages, np.split(right, ends[:-1]), strict=True)), values)


def choose_power(chosen: Texts, languages: Sequence[str], dim: int, seed: int) -> float:
    """Return which power of the singular values weights the axes: 0 unless another is clearly better.

    Judged by the mean reciprocal rank of the translations of held-out items, the last fifth of those chosen,
    in a model that is fitted on the others; clearly means two standard errors over these items. A warning
    says so where none of the powers clearly finds them better than chance.
    """
    items = list(dict.fromkeys(chosen.items))
    n_held_out = min(len(items) // _HELD_OUT, _MOST_HELD_OUT)
    if n_held_out < _LEAST_HELD_OUT:
        return 0.0
    out = set(items[-n_held_out:])
    is_out = np.array([item in out for item in chosen.items])
    rest, held_out = chosen.take(np.flatnonzero(~is_out)), chosen.take(np.flatnonzero(is_out))
    if set(rest.language) != set(languages):
        return 0.0
    plain, *others, chance = _reciprocal_ranks(fit_lsa(rest, languages, dim, seed), held_out)
    if not len(plain):  # no item that is held out has texts in two languages
        return 0.0
    power, best = max(zip(_POWERS[1:], others, strict=True), key=lambda pair: float(pair[1].mean()))
    power, best = (power, best) if _is_clear(best - plain) else (0.0, plain)
    if len(plain) >= _LEAST_HELD_OUT and not _is_clear(best - chance):
        warn(
            f"lsa: among {len(plain)} items that were held out of the fit texts it does not clearly find "
            "translations better than chance: it may have learnt nothing from them; are texts of one item "
            "translations of each other? If they are, fit it on more of them"
        )
    return power


def _reciprocal_ranks(model: LsaModel, texts: Texts) -> list[Floats]:
    """Return the mean reciprocal rank of each item [n] for each power, and last what chance gives it.

    The mean is over all (source, target) languages that the item has texts in; ties share their ranks.
    """
    first: dict[str, dict[str, str]] = {language: {} for language in model.axes}
    for item, language, text in zip(texts.items, texts.language, texts.text, strict=True):
        first[language].setdefault(item, text)
    folded = {tag: model.fold_in(list(known.values()), tag) for tag, known in first.items() if known}
    line = {tag: {item: row for row, item in enumerate(known)} for tag, known in first.items()}
    found: dict[str, list[list[float]]] = {}  # item → for each pair of languages, one number for each column
    for source, target in permutations(folded, 2):
        both = [item for item in line[source] if item in line[target]]
        ranks = []
        for power in _POWERS:
            queries, candidates = (
                _unit(folded[tag][[line[tag][item] for item in both]] * model.values**power)
                for tag in (source, target)
            )
            similarity = queries @ candidates.T
            right = similarity.diagonal()[:, None]
            ranks.append(0.5 + (similarity > right).sum(axis=1) + (similarity == right).sum(axis=1) / 2)
        by_chance = np.mean(1 / np.arange(1, len(both) + 1)) if both else 0.0
        columns = np.column_stack([*(1 / rank for rank in ranks), np.full(len(both), by_chance)])
        for item, values in zip(both, columns.tolist(), strict=True):
            found.setdefault(item, []).append(values)
    means = np.array([np.mean(values, axis=0) for values in found.values()]).reshape(-1, len(_POWERS) + 1)
    return list(means.T)


def _unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, np.where(length > 0, length, 1))


def _is_clear(differences: Floats) -> bool:
    """Return whether the mean is more than two standard errors above zero."""
    if len(differences) < _LEAST_HELD_OUT:
        return False
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    return bool(differences.mean() > _CLEAR * error)


def _fit_tfidf(documents: Sequence[str], language: str) -> tuple[Any, csr_matrix]:
    """Return TF-IDF fitted on the documents that are not empty, and the rows of all: [n, terms]."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    terms = words if is_spaced(language) else character_terms
    present = [document for document in documents if document]
    if not any(map(terms, present)):
        raise InputError(f"lsa: the fit texts hold no words of the language {language}")
    vectorizer = TfidfVectorizer(analyzer=terms, sublinear_tf=True)
    return vectorizer.fit(present), vectorizer.transform(documents)


def _right_singular_vectors(rows: csr_matrix, dim: int, seed: int) -> tuple[Floats, Floats]:
    """Return V, float64 [terms, min(dim, rank)], and the singular values: the same on every run."""
    from scipy.sparse.linalg import svds

    if dim < min(rows.shape):
        start = np.random.default_rng(seed).standard_normal(min(rows.shape))
        _, values, right = svds(rows, k=dim, v0=start)
        order = np.argsort(-values)
        values, right = values[order], right[order]
    else:
        _, values, right = np.linalg.svd(rows.toarray(), full_matrices=False)
        values, right = values[:dim], right[:dim]
    kept = values > _NO_SIGNAL * values[0]
    vectors: Floats = right[kept].T
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.ascontiguousarray(vectors * signs), values[kept]


def build(argument: str, options: Mapping[str, Any], context: Context) -> LsaEncoder:
    """Return the encoder for a spec."""
    fit = context.loader("lsa", options["fit"])
    if fit is None:
        example = "lsa:?pairs=200&fit=products.parquet#train"
        if context.role_languages is not None:  # only texts of a pool have roles
            example = "lsa:?fit=POOL#train, with --split test"
        raise InputError(f"lsa: is fitted on translated texts: say which, for example {example}")
    return LsaEncoder(
        fit, context.languages, pairs=options["pairs"], dim=options["dim"], seed=options["seed"]
    )
