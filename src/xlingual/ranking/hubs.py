"""Corrections of hubs: scores less an offset of each candidate, learnt from a bank of training queries.

    csls                2·cos(x, y) − mean of the k largest cos(b, y)
    inverted-softmax    cos(x, y) − (1/β)·log mean_b exp(β·cos(b, y))

The bank b holds queries that are not evaluated, so a score depends on the pair and the bank alone. Terms
that are the same for all candidates of a query x order nothing, and are left out. Cosines are rounded to 9
decimals, and so are all offsets. Sums go over the bank in an order of its vectors: neither the bank's order,
nor tiles, nor the back end change a number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.forms import AnyVectors, SparseVectors, TokenVectors
from xlingual.ragged import groups
from xlingual.ranking.passes import Progress, Ranker, rank
from xlingual.ranking.pools import Pool, TextRows, TextSimilarity, rows_of, similarity_of
from xlingual.ranking.rankers import one_library_thread
from xlingual.ranking.similarity import ROUNDING, UNIT, Panel
from xlingual.ranking.tiles import Array, Device
from xlingual.ranking.top import Top, TopK
from xlingual.ranking.vectors import CHUNK
from xlingual.records import digest

LEAST_BETA, LARGEST_BETA = 0.001, 10_000.0
_BUDGET = 1 << 26  # speed: bytes of keys of the bank at a time
_QUERIES = 4096  # speed: of the bank, scored at a time
_WHOLE = 1 << 50  # keys below are told apart in float64


@dataclass(frozen=True)
class Offsets:
    """The key of a pair is scale · (key of the similarity) − candidates[j].

    Offsets int64 [m] are in the unit of keys: whole numbers, nothing is rounded later, and equal means tied.
    """

    scale: int
    candidates: Ints

    def keys(self, keys: Ints, candidate: Ints) -> Ints:
        """Correct the keys of pairs with these candidates."""
        return self.scale * keys - self.candidates[candidate]

    def take(self, candidates: Any) -> Offsets:  # noqa: ANN401  (Ints or a slice)
        """Select those of some candidates, numbered from zero."""
        return replace(self, candidates=self.candidates[candidates])

    @cached_property
    def most(self) -> int:
        """The largest absolute offset."""
        return int(np.abs(self.candidates).max(initial=0))


class Corrected:
    """A similarity less offsets of its candidates."""

    def __init__(self, similarity: TextSimilarity, offsets: Offsets) -> None:
        self.similarity, self.offsets = similarity, offsets

    @property
    def shape(self) -> tuple[int, int]:
        """(queries, candidates)."""
        return self.similarity.shape

    @property
    def _largest(self) -> float:
        return getattr(self.similarity, "largest", 1.0) + self.similarity.band

    @property
    def band(self) -> float:
        """The band of the similarity, scaled, and the roundings of float32.

        Offsets are rounded, and so is every step: at most four roundings of each of two scores, and of the
        limit that one of them becomes.
        """
        rounding = 4 * ROUNDING * (self.offsets.scale * self._largest + self.offsets.most * UNIT)
        return self.offsets.scale * self.similarity.band + 3 * rounding

    def identity(self) -> bytes | None:
        """Identify the similarity and its offsets."""
        identity = self.similarity.identity()
        if identity is None:
            return None
        return digest("corrected", identity, str(self.offsets.scale), self.offsets.candidates.tobytes())

    def panel(self, columns: slice, device: Device) -> Panel:
        """Prepare some candidates; the function screens queries against them."""
        panel = self.similarity.panel(columns, device)
        offsets = device.put((self.offsets.candidates[columns] * UNIT).astype(np.float32))

        def screen(rows: slice, room: np.ndarray | None) -> Array:
            scores = panel(rows, room)
            scores *= self.offsets.scale
            scores -= offsets
            return scores

        return screen

    def keys(self, queries: Ints, candidates: Ints) -> Ints:
        """Compute the exact keys of pairs, int64 [p]."""
        return self.offsets.keys(self.similarity.keys(queries, candidates), candidates)

    def key_block(self, queries: Ints, candidates: Ints) -> np.ndarray:
        """Compute the exact keys of all pairs, whole numbers [a, b] in float64 or int64."""
        keys = self.similarity.key_block(queries, candidates)
        if self.offsets.scale * self._largest / UNIT + self.offsets.most > _WHOLE:
            keys = keys.astype(np.int64)
        return self.offsets.keys(keys, candidates)


@dataclass(frozen=True)
class Bank:
    """Vectors of queries that are not evaluated: distinct ones in an order of their own, and how often."""

    vectors: TextRows
    weights: Ints

    @classmethod
    def of(cls, vectors: AnyVectors) -> Bank:
        """Collapse equal vectors, and order them by their contents."""
        pool = Pool.of(vectors)
        rows = pool.vectors.rows
        weights = np.bincount(pool.code, minlength=len(rows)).astype(np.int64)
        digests = _digests(vectors, rows)
        order = np.array(sorted(range(len(rows)), key=digests.__getitem__), dtype=np.int64)
        return cls(rows_of(vectors, rows[order]), weights[order])

    def __len__(self) -> int:
        return int(self.weights.sum())


def _digests(vectors: AnyVectors, rows: Ints) -> list[bytes]:
    """Compute a digest of each of some rows of vectors, by which they are ordered."""
    if isinstance(vectors, SparseVectors | TokenVectors):
        return [digest(vectors.row_bytes(row)) for row in rows.tolist()]
    digests: list[bytes] = []
    for start in range(0, len(rows), CHUNK):
        block = np.ascontiguousarray(vectors[rows[start : start + CHUNK]])
        digests += [digest(row.tobytes()) for row in block + block.dtype.type(0)]  # -0 counts as 0
    return digests


@dataclass(frozen=True)
class Csls:
    """CSLS with r_S by the bank: 2·cos(x, y) less the mean of y's `k` largest cosines to queries of the bank.

    r_T(x) is one number for all candidates of x, and left out (Conneau, Lample, Ranzato, Denoyer and Jégou,
    Word translation without parallel data, ICLR 2018, section 2.3).
    """

    k: int = 10

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"csls: k must be 1 at least, found {self.k}")

    @property
    def name(self) -> str:
        """The name in signatures."""
        return f"csls?k={self.k}"

    def offsets(
        self, similarity: TextSimilarity, bank: Bank, ranker: Ranker, progress: Progress | None
    ) -> Offsets:
        """Learn the offsets of the candidates."""
        top = Top(self.k, similarity.shape, weights=bank.weights, cap=1, columns=True)
        rank(similarity, [top], ranker, progress=progress)
        return Offsets(2, _mean_keys(top.result(), min(self.k, len(bank)), similarity))


def _mean_keys(best: TopK, k: int, similarity: TextSimilarity) -> Ints:
    """Average the keys of the k best of the bank for each candidate, int64 [m]; 0 for one without any.

    One line of each level of ties stands for all of the level.
    """
    lines = groups(best.query, best.above)[0]
    owner, above = best.query[lines], best.above[lines]
    taken = np.minimum(k, above + best.tied[lines]) - above
    total = np.zeros(len(best.unlisted), dtype=np.int64)
    np.add.at(total, owner, taken * similarity.keys(best.candidate[lines], owner))
    means: Ints = np.rint(total / max(k, 1)).astype(np.int64)
    return means


@dataclass(frozen=True)
class InvertedSoftmax:
    """cos(x, y) − (1/β)·log mean_b exp(β·cos(b, y)).

    That is (1/β)·log of exp(β·cos(x, y)) / Σ_b exp(β·cos(b, y)), but for a number that all pairs share
    (Smith, Turban, Hamblin and Hammerla, Offline bilingual word vectors, orthogonal transformations and the
    inverted softmax, ICLR 2017); their α_x is one number for all candidates of x, and left out.
    """

    beta: float = 20.0

    def __post_init__(self) -> None:
        if not LEAST_BETA <= self.beta <= LARGEST_BETA:
            raise ValueError(
                f"inverted-softmax: beta must be from {LEAST_BETA:g} to {LARGEST_BETA:g}, found {self.beta}"
            )

    @property
    def name(self) -> str:
        """The name in signatures."""
        return f"inverted-softmax?beta={self.beta:g}"

    def offsets(
        self, similarity: TextSimilarity, bank: Bank, ranker: Ranker, progress: Progress | None
    ) -> Offsets:
        """Learn the offsets of the candidates, some of them at a time."""
        m = similarity.shape[1]
        step = max(1, _BUDGET // (8 * len(bank.weights)))  # speed
        means: list[Floats] = []
        with one_library_thread():
            for start in range(0, m, step):
                candidates = np.arange(start, min(start + step, m))
                means.append(self._log_means(similarity, bank, candidates))
                if progress is not None:
                    progress(start + len(candidates), m)
        return Offsets(1, np.rint(np.concatenate(means)).astype(np.int64))

    def _log_means(self, similarity: TextSimilarity, bank: Bank, candidates: Ints) -> Floats:
        """Compute (1/β)·log mean exp(β·cosine) over the bank for some candidates, in the unit of keys."""
        keys = np.empty((len(candidates), len(bank.weights)), dtype=np.int64)
        for start in range(0, len(bank.weights), _QUERIES):
            queries = np.arange(start, min(start + _QUERIES, len(bank.weights)))
            keys[:, queries] = similarity.key_block(queries, candidates).T
        most = keys.max(axis=1)
        terms = np.exp(self.beta * UNIT * (keys - most[:, None])) * bank.weights
        means: Floats = most + np.log(terms.sum(axis=1) / bank.weights.sum()) / (self.beta * UNIT)
        return means


Correction: TypeAlias = Csls | InvertedSoftmax


@dataclass(frozen=True)
class Banked:
    """A correction of hubs with its bank: what an evaluation ranks by."""

    correction: Correction
    bank: Bank
    name: str

    def offsets(
        self, similarity: TextSimilarity, ranker: Ranker, progress: Progress | None = None
    ) -> Offsets:
        """Learn the offsets of the candidates of a similarity, which counts the work."""
        if similarity.candidates.dim != self.bank.vectors.dim:
            raise InputError(
                f"{self.name}: the bank has {self.bank.vectors.dim} dimensions and the candidates have "
                f"{similarity.candidates.dim}: both must come from one encoder"
            )
        scores = similarity_of(self.bank.vectors, similarity.candidates)
        offsets = self.correction.offsets(scores, self.bank, ranker, progress)
        similarity.screened += scores.screened
        similarity.decided += scores.decided
        return offsets

    def column(self, candidates: AnyVectors, ranker: Ranker, progress: Progress | None = None) -> Floats:
        """Compute one more dimension of the candidates, float64 [m], for any search by inner product.

        With unit vectors x and y and the offset o of a correction s·cos(x, y) − o(y), candidates are ordered
        as by [x, 1]·[y, −o(y)/s].
        """
        pool = Pool.of(candidates)
        offsets = self.offsets(similarity_of(self.bank.vectors, pool.vectors), ranker, progress)
        numbers: Floats = offsets.candidates[pool.code].astype(np.float64)
        return numbers * (-UNIT / offsets.scale)
