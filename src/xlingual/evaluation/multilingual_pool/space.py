"""Sums over the vectors of a pool, by language: the input of linear models of language and of the picture.

One pass over the training vectors leaves, for each language, how many there are, their sum and their Gram
matrix XᵀX. Every model of two languages, the model of all languages and the covariance of any two languages
follow from sums of these, without another product of vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.ranking import UnitVectors, one_library_thread
from xlingual.streams import stream

MOST_DIMENSIONS = 1024  # beyond, vectors are projected: bounds each Gram matrix to 8 MiB
MOST_LANGUAGES = 24  # beyond, pairs of languages are left out: bounds the Gram matrices to 200 MiB in all
HELD_OUT = 3  # one cluster in so many is held out
FEWEST_CLUSTERS = 3
_SCATTER_ROWS = 32  # of a scatter matrix, made at a time
BLOCK_ROWS = 2048  # rows multiplied at a time
_VECTORS, _SPLIT = "embedding space", "language identification"  # names of random streams

# coordinates [b, k] of some vectors, the sum of the squares of all their dimensions, their clusters [b]
Block: TypeAlias = tuple[Vectors, float, Ints]


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The coordinates in which vectors are multiplied: shifted by `centre` and, perhaps, projected.

    A shift changes no model with an intercept and no covariance, but without it float32 products would spend
    their digits on what all vectors have in common.
    """

    centre: Vectors  # [d]
    basis: Vectors | None  # [d, k], orthonormal columns; None: all dimensions are kept

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors, d."""
        return len(self.centre)

    @property
    def kept(self) -> int:
        """Number of coordinates, k."""
        return self.dim if self.basis is None else self.basis.shape[1]

    def coordinates(self, unit: Vectors) -> tuple[Vectors, float]:
        """Return the coordinates [n, k] of unit vectors [n, d] and the sum of the squares of all d."""
        shifted: Vectors = np.subtract(unit, self.centre, dtype=np.float32)
        squares = float(np.einsum("ij,ij->i", shifted, shifted).sum(dtype=np.float64))
        if self.basis is None:
            return shifted, squares
        projected: Vectors = np.matmul(shifted, self.basis, dtype=np.float32)
        return projected, squares


@dataclass(frozen=True, eq=False)
class Moments:
    """Number, sum [k], Gram matrix [k, k] and sum of squares (over all d dimensions) of some vectors."""

    n: int
    total: Floats
    gram: Floats
    squares: float

    @property
    def mean(self) -> Floats:
        """The mean vector, float64 [k]; zero where there are no vectors."""
        return self.total / max(self.n, 1)

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.n + other.n, self.total + other.total, self.gram + other.gram, self.squares + other.squares
        )

    def scatter(self) -> Floats:
        """Return Σ (x − mean)(x − mean)ᵀ, float64 [k, k]."""
        scatter: Floats = np.outer(self.total, self.mean)
        return np.subtract(self.gram, scatter, out=scatter)

    def add(self, other: Moments) -> Moments:
        """Return the sum with others, as `+` does; it takes over the arrays of this one."""
        self.total[...] += other.total
        self.gram[...] += other.gram
        return Moments(self.n + other.n, self.total, self.gram, self.squares + other.squares)


def upper_scatter(parts: Sequence[Moments], out: Floats) -> Floats:
    """Write the scatter of all parts together on and above the diagonal of `out` [k, k], and return it.

    The same numbers as `scatter` of their sum, made by blocks of rows that stay in the cache.
    """
    n, total = sum(part.n for part in parts), sum((part.total for part in parts[1:]), parts[0].total)
    mean = total / max(n, 1)
    for start in range(0, len(out), _SCATTER_ROWS):
        block = slice(start, start + _SCATTER_ROWS), slice(start, None)
        gram: Floats = parts[0].gram[block]
        for part in parts[1:]:
            gram = gram + part.gram[block]
        np.subtract(gram, np.outer(total[block[0]], mean[start:]), out=out[block])
    return out


def moments_of(frame: Coordinates, blocks: Iterable[Block]) -> Moments:
    """Return the moments of the blocks: float32 products, summed over blocks in float64."""
    n, squares = 0, 0.0
    total, gram = np.zeros(frame.kept), None
    for block, own_squares, _ in blocks:
        n += len(block)
        squares += own_squares
        total += block.sum(axis=0, dtype=np.float64)
        own = block.T @ block
        gram = own.astype(np.float64) if gram is None else np.add(gram, own, out=gram)
    return Moments(n, total, np.zeros((frame.kept, frame.kept)) if gram is None else gram, squares)


@dataclass(frozen=True, eq=False)
class PoolSide:
    """The vectors of one role [n, d], with language and cluster of each; `held_out` [n] is the test."""

    vectors: UnitVectors
    language: Ints
    cluster: Ints
    held_out: np.ndarray

    def rows(self, language: int, held_out: bool) -> Ints:
        """Return the rows of a language in one of the two parts."""
        return np.flatnonzero((self.language == language) & (self.held_out == held_out))


@dataclass(frozen=True, eq=False)
class SpaceStatistics:
    """The result of one pass: moments of the training vectors of each language, and of all of them.

    Above `MOST_LANGUAGES` languages `by_language` is empty. `clusters` counts them all, held out or not; with
    fewer than `FEWEST_CLUSTERS` nothing is held out.
    """

    languages: tuple[str, ...]
    sides: tuple[PoolSide, PoolSide]  # questions, candidates
    frame: Coordinates
    sizes: Ints  # [L] training vectors of each language
    sums: Floats  # [L, k]
    by_language: tuple[Moments, ...]
    everything: Moments
    clusters: int
    seed: int

    def blocks(self, language: int, held_out: bool) -> Iterator[Block]:
        """Yield coordinates [b, k], the sum of squares and clusters [b] of the vectors of one part."""
        for side in self.sides:
            yield from _blocks(side, self.frame, language, held_out)

    def moments(self, language: int, held_out: bool) -> Moments:
        """Return the moments of a language's vectors in one part."""
        if not held_out and self.by_language:
            return self.by_language[language]
        return moments_of(self.frame, self.blocks(language, held_out))


def space_statistics(
    questions: np.ndarray | UnitVectors,
    candidates: np.ndarray | UnitVectors,
    *,
    question_language: Ints,
    candidate_language: Ints,
    question_cluster: Ints,
    candidate_cluster: Ints,
    languages: Sequence[str],
    seed: int = 0,
) -> SpaceStatistics:
    """Sum the training vectors of each language: two thirds of the clusters, chosen by the seed.

    Vectors [n, d] and [m, d] may be of any length and floating type; they are scaled to unit length by blocks
    (zero stays zero), or come as `UnitVectors`. Languages are indices into `languages`; clusters are codes
    that mean the same for questions and candidates.

    With more dimensions than vectors, or than `MOST_DIMENSIONS`, all is done on the span of at most
    `MOST_DIMENSIONS` vectors drawn evenly from all of them (without their languages). That is exact where
    there are no more vectors than that, and a close approximation otherwise.

    Raises:
        ValueError: questions and candidates differ in dimensions, or a column has another length.

    """
    of_questions, of_candidates = (
        given if isinstance(given, UnitVectors) else UnitVectors(given) for given in (questions, candidates)
    )
    if of_questions.dim != of_candidates.dim:
        raise ValueError(f"questions have {of_questions.dim} dimensions, candidates {of_candidates.dim}")
    clusters = np.unique(np.concatenate([question_cluster, candidate_cluster]))
    test_clusters = clusters[:0]
    if len(clusters) >= FEWEST_CLUSTERS:
        test_clusters = stream(seed, _SPLIT).permutation(clusters)[: len(clusters) // HELD_OUT]
    sides = (
        _side(of_questions, question_language, question_cluster, test_clusters),
        _side(of_candidates, candidate_language, candidate_cluster, test_clusters),
    )
    with one_library_thread():  # the number of threads must not change the rounding of products
        return _summed(sides, tuple(languages), len(clusters), seed)


def _summed(
    sides: tuple[PoolSide, PoolSide], languages: tuple[str, ...], clusters: int, seed: int
) -> SpaceStatistics:
    """Make the pass over the training vectors, language by language."""
    frame = _frame(sides, seed)
    sizes, sums = np.zeros(len(languages), dtype=np.int64), np.zeros((len(languages), frame.kept))
    by_language: list[Moments] = []
    everything = moments_of(frame, ())
    for code in range(len(languages)):
        found = moments_of(frame, (b for side in sides for b in _blocks(side, frame, code, False)))
        sizes[code], sums[code] = found.n, found.total
        everything = everything.add(found)
        if len(languages) <= MOST_LANGUAGES:
            by_language.append(found)
    return SpaceStatistics(
        languages, sides, frame, sizes, sums, tuple(by_language), everything, clusters, seed
    )


def _side(vectors: UnitVectors, language: Ints, cluster: Ints, test_clusters: Ints) -> PoolSide:
    if not len(vectors) == len(language) == len(cluster):
        raise ValueError(f"{len(vectors)} vectors, {len(language)} languages, {len(cluster)} clusters")
    return PoolSide(vectors, language, cluster, np.isin(cluster, test_clusters))


def _frame(sides: tuple[PoolSide, PoolSide], seed: int) -> Coordinates:
    """Return where the coordinates start and, for many dimensions, the directions that are kept."""
    sizes = [len(side.vectors) for side in sides]
    dim = sides[0].vectors.dim
    size = min(sum(sizes), MOST_DIMENSIONS)
    drawn = np.sort(stream(seed, _VECTORS).choice(sum(sizes), size, replace=False))
    rows = (drawn[drawn < sizes[0]], drawn[drawn >= sizes[0]] - sizes[0])
    parts = [side.vectors.screened(own) for side, own in zip(sides, rows, strict=True)]
    sample = np.concatenate(parts).astype(np.float64)
    centre = sample.mean(axis=0) if size else np.zeros(dim)
    if dim <= size or size == 0:
        return Coordinates(centre.astype(np.float32), None)
    return Coordinates(centre.astype(np.float32), np.linalg.qr((sample - centre).T)[0].astype(np.float32))


def _blocks(side: PoolSide, frame: Coordinates, language: int, held_out: bool) -> Iterator[Block]:
    rows = side.rows(language, held_out)
    for start in range(0, len(rows), BLOCK_ROWS):
        own = rows[start : start + BLOCK_ROWS]
        yield (*frame.coordinates(side.vectors.screened(own)), side.cluster[own])
