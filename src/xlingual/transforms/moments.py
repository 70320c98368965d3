"""What transforms are fitted from: counts, means and covariances by language, found in one pass.

Rows are read a piece at a time, from a file where they lie in one, so that a million of them are as easily
fitted as a thousand. Everything that is fitted later shares one `FitData`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError, listed
from xlingual.transforms.affine import Affine, rows_of_each

_ROWS = 8192  # of a piece
_ROUNDING = 1e-13  # the variance of a dimension, by its mean square, that is none: float32 has no such digits
Axes: TypeAlias = tuple[Floats, Floats]
FOLDS = 5  # parts of the pairs, on which options are chosen


@dataclass(frozen=True)
class Moments:
    """The number of rows, their mean [d] and their covariance [d, d] about it (divisor n)."""

    count: int
    mean: Floats
    covariance: Floats

    @property
    def second(self) -> Floats:
        """The mean of x·xᵀ, [d, d], about zero."""
        about_zero: Floats = self.covariance + np.outer(self.mean, self.mean)
        return about_zero

    @cached_property
    def axes(self) -> Axes:
        """The eigenvalues of the covariance and its eigenvectors, the largest first."""
        return eigen(self.covariance)

    @cached_property
    def axes_about_zero(self) -> Axes:
        """The same of `second`."""
        return eigen(self.second)

    def mapped(self, matrix: Floats | None, offset: Floats) -> Moments:
        """Return those of the rows x·matrix + offset."""
        if matrix is None:
            return Moments(self.count, self.mean + offset, self.covariance)
        return Moments(self.count, self.mean @ matrix + offset, matrix.T @ self.covariance @ matrix)


def eigen(symmetric: Floats) -> Axes:
    """Return eigenvalues [d] and eigenvectors [d, d], the largest first, their largest entries positive."""
    values, axes = np.linalg.eigh(symmetric)
    values, axes = values[::-1], axes[:, ::-1]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(axes))])
    return values, axes * signs


def pooled(parts: Sequence[Moments]) -> Moments:
    """Return the moments of all rows of the parts together, each row counting once."""
    count = sum(part.count for part in parts)
    mean: Floats = np.sum([part.count * part.mean for part in parts], axis=0) / count
    second: Floats = np.sum([part.count * part.second for part in parts], axis=0) / count
    return Moments(count, mean, _covariance(second, mean))


def _covariance(second: Floats, mean: Floats) -> Floats:
    """Return the covariance, exactly 0 in a dimension that does not vary by more than rounding."""
    covariance: Floats = second - np.outer(mean, mean)
    constant = np.diagonal(covariance) <= _ROUNDING * np.diagonal(second)
    covariance[constant, :] = covariance[:, constant] = 0
    return covariance


@dataclass(frozen=True)
class PairMoments:
    """Moments of the pairs (x, y) of two languages, in folds: of z = (x, y), [2·d]."""

    folds: tuple[Moments, ...]

    @property
    def count(self) -> int:
        """The number of pairs."""
        return sum(fold.count for fold in self.folds)

    def whole(self, without: int | None = None) -> Moments:
        """Return the moments of z over all pairs, or over those of all folds but one."""
        return pooled([fold for place, fold in enumerate(self.folds) if place != without])


@dataclass
class FitData:
    """Vectors that transforms are fitted on, with their languages and, where they are known, items.

    `vectors` float32 [n, d] are brought to unit length where `unit` is True; zero vectors are left out. Equal
    `items` are translations of each other: `pairs` needs them. `map`, where it is there, is applied to all
    rows first: its effect on moments is computed from theirs, without another pass.
    """

    vectors: Any  # an array, or rows read on demand
    languages: Sequence[str]
    items: Sequence[str] = ()
    unit: bool = True
    map: Affine | None = None
    memo: dict[str, Any] = field(default_factory=dict)  # what several fits on these data share
    _moments: dict[str, Moments] = field(default_factory=dict)
    _pairs: dict[tuple[str, ...], PairMoments] = field(default_factory=dict)

    @property
    def moments(self) -> dict[str, Moments]:
        """The moments of each language; raise InputError where there is no vector other than zero."""
        if not self._moments:
            self._moments.update(self._count())
        if self.map is None:
            return dict(self._moments)
        return self._mapped

    @cached_property
    def _mapped(self) -> dict[str, Moments]:
        assert self.map is not None
        return {tag: part.mapped(*self.map.of(tag)) for tag, part in self._moments.items()}

    @cached_property
    def all(self) -> Moments:
        """The moments of the rows of all languages together."""
        return pooled(list(self.moments.values()))

    def pairs(self, *languages: str) -> PairMoments:
        """Return the moments of the items that have texts in all of the languages, side by side.

        An item with several texts in a language stands with their mean. Raises InputError where no item has
        texts in all of them.
        """
        if languages not in self._pairs:
            self._pairs[languages] = self._count_pairs(languages)
        found = self._pairs[languages]
        if self.map is None:
            return found
        own = [self.map.of(tag) for tag in languages]
        dim = found.folds[0].mean.shape[0] // len(languages)
        offset = np.concatenate([each for _, each in own])
        if own[0][0] is None:
            return PairMoments(tuple(fold.mapped(None, offset) for fold in found.folds))
        matrices = [np.eye(dim) if each is None else each for each, _ in own]
        block = np.zeros((dim * len(own), sum(m.shape[1] for m in matrices)))
        for place, matrix in enumerate(matrices):
            width = matrix.shape[1]
            block[place * dim : (place + 1) * dim, place * width : (place + 1) * width] = matrix
        return PairMoments(tuple(fold.mapped(block, offset) for fold in found.folds))

    def through(self, after: Affine) -> FitData:
        """Return the data with a map applied on top; what was counted is shared."""
        whole = after if self.map is None else self.map.then(after)
        return FitData(
            self.vectors,
            self.languages,
            self.items,
            self.unit,
            whole,
            _moments=self._moments,
            _pairs=self._pairs,
        )

    def in_pieces(self, rows: Ints) -> Iterator[tuple[Ints, Floats]]:
        """Yield (rows, their vectors float64, at unit length where `unit`), a piece at a time."""
        for start in range(0, len(rows), _ROWS):
            piece = rows[start : start + _ROWS]
            yield piece, self._rows(piece)

    def _rows(self, rows: Ints) -> Floats:
        found = np.asarray(self.vectors[rows], dtype=np.float64)
        if not self.unit:
            return found
        length = np.sqrt(np.einsum("nd,nd->n", found, found))[:, None]
        unit: Floats = np.divide(found, length, out=np.zeros_like(found), where=length > 0)
        return unit

    def _count(self) -> dict[str, Moments]:
        found: dict[str, Moments] = {}
        for language, rows in rows_of_each(self.languages).items():
            part = _moments_of(x for _, x in self.in_pieces(rows))
            if part is not None:
                found[language] = part
        if not found:
            raise InputError("all vectors of the texts that it is fitted on are zero: fit it on other texts")
        return found

    def _count_pairs(self, languages: Sequence[str]) -> PairMoments:
        """Return the moments of items with texts in all of the languages, dealt out to the folds in turn."""
        rows_of: dict[str, dict[str, list[int]]] = {tag: {} for tag in languages}
        for row, (item, tag) in enumerate(zip(self.items, self.languages, strict=False)):
            if tag in rows_of:
                rows_of[tag].setdefault(item, []).append(row)
        items = [item for item in rows_of[languages[0]] if all(item in rows_of[tag] for tag in languages)]
        if not items:
            raise InputError(
                f"no item that it is fitted on has texts in all of {listed(languages, 20)}: it needs items "
                "whose texts are translations of each other"
            )
        parts = [_moments_of(self._side_by_side(rows_of, items[fold::FOLDS])) for fold in range(FOLDS)]
        folds = tuple(part for part in parts if part is not None)
        if not folds:
            raise InputError(
                f"no item that it is fitted on has vectors other than zero in all of {listed(languages, 20)}"
            )
        return PairMoments(folds)

    def _side_by_side(
        self, rows_of: Mapping[str, Mapping[str, Sequence[int]]], items: Sequence[str]
    ) -> Iterator[Floats]:
        """Yield float64 [items, languages · d], a piece at a time, without items that lack a vector."""
        for start in range(0, len(items), _ROWS):
            piece = items[start : start + _ROWS]
            sides = [self._mean_of_items(rows, piece) for rows in rows_of.values()]
            known = np.logical_and.reduce([side.any(axis=1) for side in sides])
            yield np.hstack(sides)[known]

    def _mean_of_items(self, rows_of: Mapping[str, Sequence[int]], items: Sequence[str]) -> Floats:
        """Return the mean vector of each item's rows, float64 [items, d]."""
        counts = np.array([len(rows_of[item]) for item in items])
        rows = self._rows(np.array([row for item in items for row in rows_of[item]], dtype=np.int64))
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        means: Floats = np.add.reduceat(rows, starts, axis=0) / counts[:, None]
        return means


def _moments_of(pieces: Iterator[Floats]) -> Moments | None:
    """Return the moments of the rows that are not zero; None where there are none."""
    count, total, squares = 0, None, None
    for piece in pieces:
        rows = piece[piece.any(axis=1)]
        if not len(rows):
            continue
        one, two = rows.sum(axis=0), rows.T @ rows
        total = one if total is None else total + one
        squares = two if squares is None else squares + two
        count += len(rows)
    if total is None or squares is None:
        return None
    mean = total / count
    return Moments(count, mean, _covariance(squares / count, mean))
