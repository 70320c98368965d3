"""Encoders of Table 1 for emoji and scenes: ten families of rising quality, fitted on other items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

PAIRS = (40, 150, None)  # translated texts that an encoder is fitted on; None: all
RANK, TERMS, FITTED = 60, 2500, 800


@dataclass
class Made:
    """An encoder from a function that turns the texts of a language into vectors."""

    identity: str
    of: Callable[[Sequence[str], str], np.ndarray]

    def encode(self, batch) -> np.ndarray:
        """Return float32 [n, d]."""
        languages = np.array(list(batch.language))
        found: np.ndarray | None = None
        for language in np.unique(languages):
            rows = np.flatnonzero(languages == language)
            vectors = np.asarray(self.of([batch.text[i] for i in rows], str(language)), dtype=np.float32)
            found = np.zeros((len(languages), vectors.shape[1]), np.float32) if found is None else found
            found[rows] = vectors
        assert found is not None
        return found


def encoders(train: Mapping[str, Sequence[str]]) -> dict[str, Made]:
    """Return encoders fitted on aligned texts, by language; the family is the name before the dot."""
    train = {language: list(texts)[:FITTED] for language, texts in train.items()}
    terms = {language: _Terms(texts) for language, texts in train.items()}
    first = next(iter(train))
    found = {}
    for seed in (1, 2):
        found[f"chance.{seed}"] = Made(f"chance {seed}", lambda texts, _, s=seed: _noise(texts, s))
    found["length.1"] = Made("length", lambda texts, _: np.array([[len(t) ** 0.5, 8.0] for t in texts]))
    for n in (2, 4):
        shared = TfidfVectorizer(analyzer="char_wb", ngram_range=(n, n), max_features=600)
        shared.fit([text for texts in train.values() for text in texts])
        found[f"spelling.{n}"] = Made(
            f"spelling {n}", lambda texts, _, s=shared: s.transform(texts).toarray()
        )
    for count in PAIRS:
        texts = {language: own[:count] for language, own in train.items()}
        name = count or "all"
        views = {lang: _View(terms[lang], own) for lang, own in texts.items()}
        pivot = views[first].of_fit
        maps = {lang: _ridge(view.of_fit, pivot, 1.0) for lang, view in views.items()}
        turns = {lang: _turn(view.of_fit, pivot) for lang, view in views.items()}
        shared_space = _shared([view.of_fit for view in views.values()])
        joint = {lang: _ridge(view.of_fit, shared_space, 0.1) for lang, view in views.items()}
        few = {lang: weight[:, :6] for lang, weight in joint.items()}
        words = {lang: _Words(terms[lang], own, terms[first], texts[first]) for lang, own in texts.items()}
        methods: dict[str, Callable[[Sequence[str], str], np.ndarray]] = {
            "ridge": lambda t, lang, v=views, m=maps: v[lang](t) @ m[lang],
            "rotation": lambda t, lang, v=views, m=turns: v[lang](t) @ m[lang],
            "joint": lambda t, lang, v=views, m=joint: v[lang](t) @ m[lang],
            "topics": lambda t, lang, v=views, m=few: v[lang](t) @ m[lang],
            "examples": lambda t, lang, v=views: v[lang].examples(t),
            "noisy": lambda t, lang, v=views, m=joint: _disturbed(v[lang](t) @ m[lang], t, lang),
            "words": lambda t, lang, w=words: w[lang](t),
        }
        for method, of in methods.items():
            found[f"{method}.{name}"] = Made(f"{method} {name}", of)
    return found


class _Terms:
    """The texts of one language as character n-grams and as words; what was asked for last is kept."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), max_features=TERMS).fit(texts)
        self.words = TfidfVectorizer(token_pattern=r"\w+", max_features=TERMS).fit(texts)
        self.last: dict[str, tuple[tuple[str, ...], csr_matrix]] = {}

    def __call__(self, kind: str, texts: Sequence[str]) -> csr_matrix:
        key = tuple(texts)
        if kind not in self.last or self.last[kind][0] != key:
            self.last[kind] = key, getattr(self, kind).transform(key)
        return self.last[kind][1]


class _View:
    """The texts of one language as singular vectors of their character n-grams."""

    def __init__(self, terms: _Terms, texts: Sequence[str]) -> None:
        self.terms, self.table = terms, terms("grams", texts)
        self.axes = randomized_svd(self.table, min(RANK, len(texts) - 1), random_state=0)[2].T
        self.of_fit = normalize(self.table @ self.axes)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        return normalize(self.terms("grams", texts) @ self.axes)

    def examples(self, texts: Sequence[str]) -> np.ndarray:
        """Return how alike the texts are to each of the first texts of the fit, faint likeness left out."""
        alike = (self.terms("grams", texts) @ self.table[:200].T).toarray()
        return np.where(alike > 0.05, alike, 0.0)


class _Words:
    """Texts as words of the pivot language, by how often words occur in aligned texts."""

    def __init__(self, own: _Terms, texts: Sequence[str], pivot: _Terms, others: Sequence[str]) -> None:
        self.own = own
        together = (own("words", texts).T @ pivot("words", others)).power(1.5).toarray()
        left, strength, right = randomized_svd(normalize(together, norm="l1"), RANK, random_state=0)
        self.map = left * strength @ right[:, :]

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        return self.own("words", texts) @ self.map


def _ridge(x: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    return np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ y)


def _turn(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    left, _, right = np.linalg.svd(x.T @ y)
    return left @ right


def _shared(views: Sequence[np.ndarray]) -> np.ndarray:
    """Return the directions that the views have in common."""
    white = [np.linalg.svd(view - view.mean(axis=0), full_matrices=False)[0] for view in views]
    left, strength, _ = np.linalg.svd(np.concatenate(white, axis=1), full_matrices=False)
    kept = min(60, left.shape[1])
    return left[:, :kept] * strength[:kept]


def _noise(texts: Sequence[str], seed: int) -> np.ndarray:
    found = [np.random.default_rng([seed, *text.encode()[:40]]).standard_normal(32) for text in texts]
    return np.array(found)


def _disturbed(vectors: np.ndarray, texts: Sequence[str], language: str) -> np.ndarray:
    rows = [np.random.default_rng([7, *f"{language} {t}".encode()[:60]]) for t in texts]
    noise = np.stack([rng.standard_normal(vectors.shape[1]) for rng in rows]) / vectors.shape[1] ** 0.5
    return normalize(vectors) + 1.2 * noise
