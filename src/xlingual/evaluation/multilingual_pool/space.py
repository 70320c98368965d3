"""The space of a pool's vectors: how well a linear model finds a text's language, and a picture of two.

The model is least squares from unit vectors, with an intercept, to an indicator of each language; the largest
score wins. It is fitted on the questions and candidates of two thirds of the clusters (paragraphs) and tested
on the others. LAReQA (Roy et al. 2020, section 5.4) does this for
English and Chinese; here it is done for all pairs of languages, and for all languages together. The picture
(Figure 5) shows two languages on the first two principal components of their vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.estimates import Score
from xlingual.evaluation.multilingual_pool.views import View, mean_score
from xlingual.ranking import UnitVectors, one_library_thread
from xlingual.stats import ResidualPart
from xlingual.stats.intervals import FEW_CLUSTERS
from xlingual.streams import stream

MOST_DIMENSIONS = 1024  # beyond, vectors are projected: bounds each Gram matrix to 8 MiB
MOST_LANGUAGES = 24  # beyond, pairs of languages are left out
MOST_POINTS = 600  # of each language and role
HELD_OUT = 3  # one cluster in so many is held out
ROLES = ("question", "candidate")
RIDGE = 1e-5  # penalty on squared weights, as a share of the mean eigenvalue of the scatter matrix
_NO_VARIANCE = 1e-12  # per vector: less is what float32 leaves of equal unit vectors
_BLOCK = 2048  # rows multiplied at a time
Hits = list[tuple[Floats, Ints]]  # of each language: whether held-out vectors are identified, their clusters


@dataclass(frozen=True, eq=False)
class Moments:
    """Number, sum [k], Gram matrix [k, k] and sum of squares (over all d dimensions) of some vectors."""

    n: int
    total: Floats
    gram: Floats
    squares: float

    def __add__(self, other: Moments) -> Moments:
        total, gram = self.total + other.total, self.gram + other.gram
        return Moments(self.n + other.n, total, gram, self.squares + other.squares)

    @property
    def mean(self) -> Floats:
        """The mean vector, float64 [k]; zero where there are no vectors."""
        return self.total / max(self.n, 1)

    @property
    def scatter(self) -> Floats:
        """Σ (x − mean)(x − mean)ᵀ, float64 [k, k]."""
        return np.asarray(self.gram - np.outer(self.total, self.mean))


@dataclass(frozen=True, eq=False)
class Side:
    """The vectors of one role [n, d], with language and cluster of each; `held_out` [n] is the test."""

    vectors: UnitVectors
    language: Ints
    cluster: Ints
    held_out: np.ndarray


class Space:
    """Questions and candidates in the coordinates in which vectors are multiplied.

    These are shifted by a mean, without which float32 products would spend their digits on what all vectors
    have in common; no model with an intercept is changed by it. With more dimensions than vectors, or than
    `MOST_DIMENSIONS`, all is done on the span of at most so many vectors drawn evenly from all of them: exact
    where there are no more, a close approximation otherwise. With fewer than three clusters none is held out.
    `fold(k)` holds out the k-th third.
    """

    def __init__(
        self, pool: MultilingualPool, questions: Vectors, candidates: Vectors, seed: int = 0, fold: int = 0
    ) -> None:
        self.languages, self.seed = pool.languages, seed
        clusters = np.unique(np.concatenate([pool.questions.cluster, pool.candidates.cluster]))
        self.n_clusters, n_tested = len(clusters), len(clusters) // HELD_OUT
        shuffled = stream(seed, "language identification").permutation(clusters)
        tested = shuffled[fold * n_tested : (fold + 1) * n_tested]
        self.n_folds = self.n_clusters // n_tested if 0 < n_tested < FEW_CLUSTERS else 1
        self.fold = partial(Space, pool, questions, candidates, seed)
        self.sides = [
            Side(UnitVectors(vectors), side.language, side.cluster, np.isin(side.cluster, tested))
            for vectors, side in ((questions, pool.questions), (candidates, pool.candidates))
        ]
        sizes = [len(side.language) for side in self.sides]
        size = min(sum(sizes), MOST_DIMENSIONS)
        drawn = np.sort(stream(seed, "embedding space").choice(sum(sizes), size, replace=False))
        rows = drawn[drawn < sizes[0]], drawn[drawn >= sizes[0]] - sizes[0]
        parts = [side.vectors.screened(row) for side, row in zip(self.sides, rows, strict=True)]
        sample = np.concatenate(parts).astype(np.float64)
        mean = sample.mean(axis=0)
        self.centre, self.basis = mean.astype(np.float32), None  # [d]; [d, k] of orthonormal columns
        self.dim, self.width = len(mean), min(len(mean), size)
        with one_library_thread():  # the number of threads must not change the rounding of products
            if len(mean) > size:
                self.basis = np.linalg.qr((sample - mean).T)[0].astype(np.float32)
            self.by_language = [self.moments(code, held_out=False) for code in range(len(self.languages))]
        self.sizes = np.array([moments.n for moments in self.by_language])

    def coordinates(self, side: Side, rows: Ints) -> tuple[Vectors, float]:
        """Return the coordinates [n, k] of some rows, and the sum of the squares of all d dimensions."""
        shifted: Vectors = np.subtract(side.vectors.screened(rows), self.centre, dtype=np.float32)
        squares = float(np.einsum("ij,ij->i", shifted, shifted).sum(dtype=np.float64))
        return shifted if self.basis is None else np.matmul(shifted, self.basis), squares

    def moments(self, language: int, *, held_out: bool) -> Moments:
        """Return the moments of a language's vectors in one part: float32 products, summed in float64."""
        moments = Moments(0, np.zeros(self.width), np.zeros((self.width, self.width)), 0.0)
        for side in self.sides:
            rows = np.flatnonzero((side.language == language) & (side.held_out == held_out))
            for start in range(0, len(rows), _BLOCK):
                block, squares = self.coordinates(side, rows[start : start + _BLOCK])
                gram = (block.T @ block).astype(np.float64)
                moments += Moments(len(block), block.sum(axis=0, dtype=np.float64), gram, squares)
        return moments

    @cached_property
    def held(self) -> list[tuple[Vectors, Ints]]:
        """Coordinates [h, k] and clusters [h] of the held-out vectors of each language."""
        parts = []
        with one_library_thread():
            for code in range(len(self.languages)):
                rows = [np.flatnonzero((side.language == code) & side.held_out) for side in self.sides]
                both = list(zip(self.sides, rows, strict=True))
                vectors = np.concatenate([self.coordinates(side, row)[0] for side, row in both])
                parts.append((vectors, np.concatenate([side.cluster[row] for side, row in both])))
        return parts

    def hits(self, codes: Sequence[int]) -> Hits:
        """Return the hits of the model of some languages among their held-out vectors.

        A vector for which several languages are equally likely counts in part.
        """
        parts, hits = [self.by_language[code] for code in codes], []
        everything = sum(parts[1:], parts[0])
        shares = np.array([moments.n for moments in parts]) / everything.n
        sums = np.stack([moments.total for moments in parts], axis=1)
        with one_library_thread():
            weights = _ridge(everything, sums - np.outer(everything.total, shares), self.dim)
            intercept = shares - everything.mean @ weights
            for place, code in enumerate(codes):
                vectors, clusters = self.held[code]
                scores = vectors.astype(np.float64) @ weights + intercept
                best = scores == scores.max(axis=1, keepdims=True)
                hits.append((best[:, place] / best.sum(axis=1), clusters))
        return hits


def language_identification(space: Space) -> View:
    """Return the shares of held-out vectors whose language is identified, by "all" and by pair ("ar-de").

    Where a language has a hyphen, pairs are "ar:zh-Hant": "aa-bb-cc" could be two of them. Chance is the
    share of the commonest language among the held-out vectors. Where a number cannot be given, a note says
    why; the key "pairs" stands for all pairs.
    """
    problem, languages = None, space.languages
    if space.n_clusters < HELD_OUT:
        problem = f"too few clusters to hold out a third: {space.n_clusters}, at least {HELD_OUT} are needed"
    elif np.count_nonzero(space.sizes) < 2:
        problem = "there are training vectors of fewer than two languages"
    elif not any(side.held_out.any() for side in space.sides):
        problem = "there are no vectors in the held-out clusters"
    if problem:
        return {"language_id_accuracy": {}, "language_id_chance": {}, "language_id_notes": {"all": problem}}
    between, notes = ":" if any("-" in tag for tag in languages) else "-", {}
    models = {"all": tuple(range(len(languages)))}
    if len(languages) > MOST_LANGUAGES:
        notes["pairs"] = f"left out: {len(languages)} languages, pairs are for at most {MOST_LANGUAGES}"
    else:
        models |= {between.join(languages[c] for c in pair): pair for pair in combinations(models["all"], 2)}
    spaces = [space, *(space.fold(k) for k in range(1, space.n_folds))]
    scores, chance = {}, {}
    for name, codes in models.items():
        lost = [languages[code] for code in codes if not (space.sizes[code] and len(space.held[code][0]))]
        if lost and name != "all":
            notes[name] = f"no vectors of {' and '.join(lost)} in the training or the held-out part"
            continue
        hits, *others = [each.hits(codes) for each in spaces]
        scores[name] = _score(hits, others)
        sizes = [len(values) for values, _ in hits]
        chance[name] = max(sizes) / sum(sizes)
    view: View = {"language_id_accuracy": scores, "language_id_chance": chance}
    return view | ({"language_id_notes": notes} if notes else {})


def _score(hits: Hits, others: Sequence[Hits]) -> Score | None:
    """Score hits; where a third has few clusters, models of other thirds say how much hits vary."""
    values, clusters = (np.concatenate(columns) for columns in zip(*hits, strict=True))
    score = mean_score(values, clusters)
    if score is None or not others:
        return score
    folds = [*hits, *(part for fold in others for part in fold)]
    every, labels = (np.concatenate(columns) for columns in zip(*folds, strict=True))
    share = len(np.unique(clusters)) / len(np.unique(labels))
    residuals = (every - every.mean()) * np.sqrt(share) / len(values)
    return replace(score, parts=(ResidualPart(residuals, (labels,)),))


def _ridge(moments: Moments, right: Floats, dim: int) -> Floats:
    """Solve (scatter + penalty) w = right, [k, c], by Cholesky; zero where the vectors do not vary.

    The penalty is RIDGE times the mean eigenvalue (trace/d). Rounding of float32 products stays far below it
    (about 1e-7 of the mean eigenvalue for vectors spread evenly); should it not, the penalty grows tenfold.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    scatter = moments.scatter
    trace = float(np.trace(scatter))
    if not np.isfinite(trace):
        raise ValueError("vectors hold NaN or infinity")
    if trace <= _NO_VARIANCE * moments.n:
        return np.zeros_like(right)
    penalty, identity = RIDGE * trace / dim, np.eye(len(scatter))
    while True:
        try:
            return np.asarray(cho_solve(cho_factor(scatter + penalty * identity, lower=True), right))
        except LinAlgError:
            penalty *= 10


def most_apart(space: Space) -> tuple[str, str]:
    """Return the two languages whose mean unit vectors (of the training part) are furthest apart.

    Languages with questions and candidates go first, then those with candidates: otherwise questions of one
    language might be compared with sentences of another, which differ in more than their language.
    """
    asked, held = (np.bincount(side.language, minlength=len(space.languages)) > 0 for side in space.sides)
    codes = np.flatnonzero(space.sizes)
    for present in (asked & held, held):
        if np.count_nonzero(present[codes]) > 1:
            codes = codes[present[codes]]
            break
    means = {code: space.by_language[code].mean for code in codes.tolist()}
    pairs = combinations(means, 2)
    first, second = max(pairs, key=lambda pair: float(((means[pair[0]] - means[pair[1]]) ** 2).sum()))
    return space.languages[first], space.languages[second]


def picture_of(space: Space, pair: Sequence[str]) -> tuple[list[dict[str, Any]], tuple[float, float]]:
    """Return points of two languages' questions and candidates, and the share of the variance on each axis.

    The axes are the first two principal components of all vectors of the two languages, the points a sample
    of them: which ones depends on the seed and the number of rows alone, so that encoders show the same
    texts. The second language lies to the right of the first, and above it. Of a point, "row" is the row of
    the questions or of the candidates.
    """
    from scipy.linalg import eigh

    codes, shares, points = [space.languages.index(tag) for tag in pair], [0.0, 0.0], []
    with one_library_thread():
        first, second = (
            space.moments(code, held_out=False) + space.moments(code, held_out=True) for code in codes
        )
        both = first + second
        k, total = space.width, both.squares - float(both.total @ both.mean)
        values, vectors = eigh(both.scatter, subset_by_index=[max(k - 2, 0), k - 1], check_finite=False)
    axes = np.zeros((k, 2))  # zero where there is no variance
    for place in range(min(k, 2)):
        if total > _NO_VARIANCE * both.n and values[-1 - place] > _NO_VARIANCE * total:
            axis = vectors[:, -1 - place]
            along = float(axis @ (second.mean - first.mean))
            if abs(along) < 1e-9:  # at right angles: the largest loading is positive
                along = float(axis[np.abs(axis).argmax()])
            axes[:, place] = axis if along >= 0 else -axis
            shares[place] = float(values[-1 - place] / total)
    for side, role in zip(space.sides, ROLES, strict=True):
        for code, tag in zip(codes, pair, strict=True):
            rows = np.flatnonzero(side.language == code)
            if len(rows) > MOST_POINTS:
                random = stream(space.seed, f"picture {role} {tag}")
                rows = np.sort(random.choice(rows, MOST_POINTS, replace=False))
            at = ((space.coordinates(side, rows)[0].astype(np.float64) - both.mean) @ axes).astype(np.float32)
            points += [
                {"language": tag, "role": role, "row": row, "x": float(x), "y": float(y)}
                for row, (x, y) in zip(rows.tolist(), at, strict=True)
            ]
    return points, (shares[0], shares[1])
