"""Weakened image vectors: fewer principal components, noise, or the images of other items.

Every level has the same images; only their vectors get worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.embed.sides import ImageIndex
from xlingual.errors import InputError, did_you_mean
from xlingual.ranking import Pool
from xlingual.streams import stream

_COMPARED = 1000  # images whose neighbours are compared
_BLOCK = 50
KINDS = ("dims", "noise", "shuffle")
_EXPECTED = "expected dims=2,4,8, noise=0.5,1 or shuffle, several separated by ';'"


@dataclass(frozen=True)
class Weakening:
    """One way of weakening: `kind` is none, dims, noise or shuffle; a shuffle differs from seed to seed."""

    kind: str
    level: float | None = None


NONE = Weakening("none")


def parse_levels(text: str) -> list[Weakening]:
    """Return the levels named by, for instance, "dims=2,4;noise=0.5;shuffle"; raise InputError otherwise."""
    levels: list[Weakening] = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        kind, equals, values = (piece.strip() for piece in part.partition("="))
        if kind not in KINDS:
            problem = f"unknown kind {kind!r}.{did_you_mean(kind, KINDS)}"
            raise InputError(f"--degrade-images {text!r}: {problem} {_EXPECTED}")
        if kind == "shuffle":
            if equals:
                raise InputError(f"--degrade-images {text!r}: shuffle takes no value; write just shuffle")
            levels.append(Weakening(kind))
            continue
        for value in map(str.strip, values.split(",")):
            try:
                number = float(value)
            except ValueError:
                number = float("nan")
            least, numbers = (1, "whole numbers of at least 1") if kind == "dims" else (0, "numbers above 0")
            if not (least <= number < np.inf and number > 0) or (least and number % 1):
                raise InputError(
                    f"--degrade-images {text!r}: {kind} takes {numbers}, found {value!r}; {_EXPECTED}"
                )
            levels.append(Weakening(kind, number))
    if not levels:
        raise InputError(f"--degrade-images {text!r} names nothing: {_EXPECTED}")
    return list(dict.fromkeys(levels))


def neighbours_kept(images: ImageIndex, weakened: ImageIndex, k: int, seed: int) -> float | None:
    """Return the share of the k nearest images of an image that are still its k nearest when weakened.

    Of up to a thousand images, drawn by the seed. None with no more than k others. Of equal
    vectors the earlier counts as nearer.
    """
    _, rows = np.unique(images.code, return_index=True)
    rows = rows[images.code[rows] >= 0]  # one text row for each image
    if len(rows) <= k + 1:
        return None
    chosen = stream(seed, "neighbours kept").permutation(len(rows))[:_COMPARED]
    views = [_units(index)[index.code[rows]] for index in (images, weakened)]
    shares = []
    for block in np.array_split(chosen, -(-len(chosen) // _BLOCK)):
        nearest = []
        for vectors in views:
            scores = vectors[block] @ vectors.T
            scores[np.arange(len(block)), block] = -np.inf
            nearest.append(np.argsort(-scores, axis=1, kind="stable")[:, :k])
        shares += [len(np.intersect1d(*pair)) / k for pair in zip(*nearest, strict=True)]
    return float(np.mean(shares))


def _units(images: ImageIndex) -> Floats:
    """Return the unit vector of each image, float64 [images, d]."""
    pool = images.pool
    return np.asarray(pool.vectors.stored(pool.code) * pool.vectors.inverse_norms[pool.code, None])


class Weakened:
    """The images of a run at every level; `images` are all distinct ones."""

    def __init__(self, images: ImageIndex, levels: Sequence[Weakening], seed: int) -> None:
        self._images, self._seed = images, seed
        dim = images.pool.vectors.dim
        for level in levels:
            if level.kind == "dims" and level.level is not None and level.level > dim:
                raise InputError(
                    f"--degrade-images dims={level.level:g}: the image vectors have {dim} dimensions; ask "
                    "for fewer"
                )

    def at(self, level: Weakening, seed: int) -> ImageIndex:
        """Return the images as they are seen at a level; only a shuffle depends on the sample's `seed`."""
        code, vectors = self._images.code, _units(self._images)
        if level.kind == "shuffle":  # the images are dealt to the items anew
            order: Ints = stream(seed, "shuffled pictures").permutation(len(self._images))
            return ImageIndex(np.where(code >= 0, order[np.maximum(code, 0)], -1), self._images.pool)
        if level.level is None:
            return self._images
        if level.kind == "dims":
            vectors = self._components(vectors, int(level.level))
        else:
            rng = stream(self._seed, f"image noise {level.level:g}")
            vectors = vectors + rng.standard_normal(vectors.shape) * (level.level / vectors.shape[1] ** 0.5)
        return ImageIndex(code, Pool.of(vectors.astype(np.float32)))

    def _components(self, vectors: Floats, count: int) -> Floats:
        """Return the vectors with the first `count` principal components about their mean, float64.

        The mean is kept, so that all components together give the vectors back; it adds one coordinate, its
        length across the components.
        """
        mean, axes = self._principal
        first = axes[:, :count]
        across = float(np.linalg.norm(mean - first @ (first.T @ mean)))
        return np.concatenate([vectors @ first, np.full((len(vectors), 1), across)], axis=1)

    @cached_property
    def _principal(self) -> tuple[Floats, Floats]:
        """The mean [d] and the principal axes [d, d] of the unit vectors, those of most variance first."""
        vectors = _units(self._images)
        mean = vectors.mean(axis=0)
        centred = vectors - mean
        return mean, np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
