"""The picture of an embedding space: two languages on the first two principal components.

LAReQA (Roy et al. 2020), Figure 5: where the languages form two clouds, the vectors are about the language
before they are about the meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.evaluation.multilingual_pool.space import PoolSide, SpaceStatistics
from xlingual.evaluation.multilingual_pool.views import View
from xlingual.ranking import one_library_thread
from xlingual.results.views import SpaceAxes
from xlingual.streams import stream

MOST_POINTS = 600  # of each language and role
ROLES = ("question", "candidate")


@dataclass(frozen=True, eq=False)
class SpacePicture:
    """Points of two languages' questions and candidates, and the share of the variance on each axis.

    The components are those of all vectors of the two languages, the points a sample of them. The second
    language lies to the right of the first, and above it.
    """

    languages: tuple[str, str]
    role: Ints  # [p], index into ROLES
    language: Ints  # [p], index into the pool's languages
    row: Ints  # [p], row of the questions or of the candidates
    x: Vectors  # [p]
    y: Vectors  # [p]
    explained: tuple[float, float]  # shares of the variance, 0 to 1

    def view(self) -> View:
        """Return the record that an entry keeps; the points are kept in a separate table."""
        return View({"picture": SpaceAxes(list(self.languages), list(self.explained))})


def most_apart(space: SpaceStatistics) -> tuple[str, str]:
    """Return the two languages whose mean unit vectors (of the training part) are furthest apart.

    Languages with questions and candidates go first, then those with candidates: otherwise questions of one
    language might be compared with sentences of another, which differ in more than their language.

    Raises:
        ValueError: there are vectors of fewer than two languages.

    """
    present = [np.bincount(side.language, minlength=len(space.languages)) > 0 for side in space.sides]
    codes = np.flatnonzero(space.sizes)
    for wanted in (present[0] & present[1], present[1]):
        if np.count_nonzero(wanted[codes]) > 1:
            codes = codes[wanted[codes]]
            break
    if len(codes) < 2:
        raise ValueError(f"a picture needs vectors of two languages, there are {len(codes)}")
    means = space.sums[codes] / space.sizes[codes, None]
    squares = np.einsum("ij,ij->i", means, means)
    distance = squares[:, None] + squares - 2 * means @ means.T
    distance[np.tril_indices(len(codes))] = -1.0
    first, second = np.unravel_index(int(distance.argmax()), distance.shape)
    return space.languages[codes[first]], space.languages[codes[second]]


def picture(space: SpaceStatistics, pair: tuple[str, str], points: int = MOST_POINTS) -> SpacePicture:
    """Return the first two principal components of the unit vectors of two languages.

    Give all encoders the same pair, so that their pictures can stand side by side (`most_apart` of the first
    encoder, say). At most `points` vectors of each language and role are shown; which ones depends on the
    seed and the number of rows alone, so that encoders show the same texts.

    Raises:
        ValueError: a language is not one of the pool's, or both are the same.

    """
    if pair[0] == pair[1] or not set(pair) <= set(space.languages):
        raise ValueError(f"expected two of the languages {', '.join(space.languages)}, got {pair}")
    codes = [space.languages.index(name) for name in pair]
    with one_library_thread():
        mean, axes, explained = _components(space, codes)
    found = []
    for role, side in enumerate(space.sides):
        for code, name in zip(codes, pair, strict=True):
            rows = _sample(side, code, points, stream(space.seed, f"picture {ROLES[role]} {name}"))
            unit = side.vectors.screened(rows)
            at: Floats = (space.frame.coordinates(unit)[0].astype(np.float64) - mean) @ axes
            labels = (np.full(len(rows), label, dtype=np.int64) for label in (role, code))
            found.append((*labels, rows, at))
    role_of, language, row, at = (np.concatenate(column) for column in zip(*found, strict=True))
    x, y = at.T.astype(np.float32)
    return SpacePicture(pair, role_of, language, row, x, y, explained)


def _components(space: SpaceStatistics, codes: list[int]) -> tuple[Floats, Floats, tuple[float, float]]:
    """Return the mean [k], two axes [k, 2] (zero where there is no variance) and their shares of variance."""
    from scipy.linalg import eigh

    first, second = (space.moments(code, False) + space.moments(code, True) for code in codes)
    both = first + second
    scatter = both.scatter()
    k = len(scatter)
    values, vectors = eigh(scatter, subset_by_index=[max(k - 2, 0), k - 1], check_finite=False)
    total = both.squares - float(both.total @ both.mean) if both.n else 0.0
    axes, shares = np.zeros((k, 2)), [0.0, 0.0]
    for axis in range(min(k, 2)):
        if total > 1e-12 * both.n and values[-1 - axis] > 1e-12 * total:
            axes[:, axis] = _turned(vectors[:, -1 - axis], second.mean - first.mean)
            shares[axis] = float(values[-1 - axis] / total)
    return both.mean, axes, (shares[0], shares[1])


def _turned(axis: Floats, towards: Floats) -> Floats:
    """Return the axis [k], or its negative, so that it points the same way as `towards`.

    Where the two are at right angles the largest loading is positive.
    """
    along = float(axis @ towards)
    if abs(along) < 1e-9:
        along = float(axis[np.abs(axis).argmax()])
    return axis if along >= 0 else -axis


def _sample(side: PoolSide, code: int, most: int, random: np.random.Generator) -> Ints:
    """Return at most so many rows of a language, in order."""
    rows = np.flatnonzero(side.language == code)
    if len(rows) <= most:
        return rows
    return np.sort(random.choice(rows, most, replace=False))
