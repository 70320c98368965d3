"""Slices of queries that an encoder serves worse than the rest: found among very many, and few by chance.

A *feature* gives each text one of a few labels (category shoes; short). A *slice* is the texts with one
label, or with two labels of two features. For each slice the mean of its values, less those of their language
pairs, is compared with that of all other texts.

**Chance.** With thousands of slices some look bad by chance. Which values belong to which texts is therefore
shuffled many times, features stay: whole clusters of texts change places with clusters of the same make (as
many texts in the same languages), so that what is dependent stays together. A slice counts where its
standardised sum lies below the least of *all* slices in all but 5 % of the shuffles (Westfall and Young 1993,
"Resampling-based multiple testing", single step). Where features say nothing of the values this finds any
slice at all in at most 5 % of data sets, however the slices overlap; what was observed is itself one of the
shuffles, so that this is no approximation.

**Overlap.** One cause shows in many slices. The clearest is taken (of one property rather than of two, where
both are about as clear), its effect is taken out, and those of the
others that no longer differ from chance are listed under it; then the clearest of the rest, and so on.
(Chung and others 2019, "Slice Finder", and Sagadeeva and Boehm 2021, "SliceLine", search more conditions at
once; neither controls errors over clusters of dependent queries.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from scipy.special import stdtrit

from xlingual.arrays import Floats, Ints
from xlingual.ragged import groups, sums
from xlingual.results import Interval
from xlingual.streams import stream

LEAST = 20  # texts in a slice, and outside it
LEAST_CLUSTERS = 10  # of them
SHUFFLES = 999
ALPHA = 0.05
_AS_CLEAR = 0.9  # of the lowest score: a slice of one property is preferred to two that are little clearer
MOST = 8  # slices that are taken; by then a list explains no more
_AT_ONCE = 1 << 24  # numbers of shuffled values kept at a time
_SLICES_AT_ONCE = 512
_MARGIN = 1e-9  # by which sums may differ in rounding


@dataclass(frozen=True)
class Feature:
    """What divides texts into parts; `code` [n] is an index into `labels`, −1 where it says nothing."""

    name: str
    labels: Sequence[str]
    code: Ints
    alone: bool = True  # False: it makes slices with other features only

    def take(self, rows: Ints) -> Feature:
        """Return the feature of some texts."""
        return replace(self, code=self.code[rows])


@dataclass(frozen=True)
class Values:
    """The values of n texts as queries: `above` is what is over the mean of their language pairs."""

    value: Floats  # [n] in [0, 1], means over pairs and seeds
    above: Floats  # [n]
    cluster: Ints  # [n]
    language: Ints  # [n]

    def take(self, chosen: np.ndarray) -> Values:
        """Return the values of some texts."""
        return Values(*(column[chosen] for column in (self.value, self.above, self.cluster, self.language)))


@dataclass(frozen=True)
class Slice:
    """Texts that share one label, or two; `conditions` are (feature, label), `rows` [m] are ascending."""

    conditions: tuple[tuple[str, str], ...]
    rows: Ints


@dataclass(frozen=True)
class FoundSlice:
    """A slice that is worse than the rest, and the others that show the same."""

    slice: Slice
    p: float  # chance that the worst of all slices is as bad where features say nothing
    overlaps: Sequence[tuple[Slice, float]] = field(default_factory=tuple)  # with the part of them inside it


@dataclass(frozen=True)
class Search:
    """What a search for slices found."""

    found: Sequence[FoundSlice]
    n_slices: int  # that were tested
    fixed: float  # share of the texts whose cluster has no other of the same make to change places with


def find_slices(
    values: Values,
    features: Sequence[Feature],
    *,
    shuffles: int = SHUFFLES,
    alpha: float = ALPHA,
    seed: int = 0,
) -> Search:
    """Return the slices that are worse than the rest, the clearest first."""
    places = _Places(values.cluster, values.language)
    slices = list(slices_of(features, values.cluster, values.language))
    if not slices:
        return Search((), 0, places.fixed)
    scores = _scores(values.above, slices, places, shuffles, seed)
    worse = _worse(scores, range(len(slices)), alpha)
    found: list[FoundSlice] = []
    while worse and len(found) < MOST:
        first = _clearest(slices, worse)
        best, rest = slices[first], [number for number in worse if number != first]
        left = _without(values.above, [*(one.slice for one in found), best], places)
        again = _scores(left, [slices[number] for number in rest], places, shuffles, seed)
        worse = _worse(again, rest, alpha)
        inside = np.zeros(len(values.value), dtype=bool)
        inside[best.rows] = True
        same = [slices[number] for number in rest if number not in worse]
        overlaps = sorted(((one, float(inside[one.rows].mean())) for one in same), key=lambda pair: -pair[1])
        found.append(FoundSlice(best, float(scores.p[first]), overlaps))
    return Search(tuple(found), len(slices), places.fixed)


def _worse(scores: _Scores, numbers: Sequence[int], alpha: float) -> dict[int, float]:
    """Return the numbers of the slices that are worse than chance gives, with their scores."""
    both = zip(scores.z.tolist(), scores.p.tolist(), strict=True)
    return {number: z for number, (z, p) in zip(numbers, both, strict=True) if p <= alpha}


def _clearest(slices: Sequence[Slice], worse: Mapping[int, float]) -> int:
    """Return the slice with the lowest score; of those about as low the simplest, then the largest."""
    limit = _AS_CLEAR * min(worse.values())
    return min(
        (number for number, z in worse.items() if z <= limit),
        key=lambda number: (len(slices[number].conditions), -len(slices[number].rows), worse[number]),
    )


def difference_of(values: Values, slice: Slice, level: float = 0.95) -> tuple[float, Interval]:
    """Return how much higher the mean over a slice is than that of the other texts, and its interval.

    Texts are compared with those of their language, in clusters of the same make, as in the test. The
    interval is by t, over clusters, and for this slice alone.
    """
    apart = _Places(values.cluster, values.language).apart(slice)
    weight = float(apart @ apart)
    found = float(apart @ values.above) / weight
    own, code = np.unique(values.cluster, return_inverse=True)
    inside = len(np.unique(values.cluster[slice.rows]))
    sums_of = sums(code, apart * (values.above - apart * found), len(own))
    error = np.sqrt(np.sum(sums_of**2) * inside / (inside - 1)) / weight
    reach = float(stdtrit(inside - 1, (1 + level) / 2) * error)
    return found, Interval(found - reach, found + reach, level, "t over clusters of queries")


def slices_of(features: Sequence[Feature], cluster: Ints, language: Ints | None = None) -> Iterator[Slice]:
    """Yield the slices that are large enough, of one feature, then of two; none of the same texts twice.

    With `language` the texts outside must be large enough in the languages of those inside: the letters of a
    language are no slice of it because a few names are written in others.
    """
    n, seen = len(cluster), set[bytes]()
    singles = [((feature,), feature.code) for feature in features if feature.alone]
    pairs = [
        ((one, two), np.where((one.code < 0) | (two.code < 0), -1, one.code * len(two.labels) + two.code))
        for one, two in combinations(features, 2)
    ]
    for parts, code in (*singles, *pairs):
        order = np.argsort(code, kind="stable")
        first, size = groups(code[order])
        for low, count in zip(first.tolist(), size.tolist(), strict=True):
            rows = np.sort(order[low : low + count])
            label = int(code[rows[0]])
            if label < 0 or not LEAST <= count <= n - LEAST or rows.tobytes() in seen:
                continue
            outside = np.ones(n, dtype=bool)
            outside[rows] = False
            if language is not None and _compared(language[rows], language[outside]) < LEAST / 2:
                continue
            if min(len(np.unique(cluster[part])) for part in (rows, outside)) < LEAST_CLUSTERS:
                continue
            seen.add(rows.tobytes())
            yield Slice(_conditions(parts, label), rows)


def _compared(inside: Ints, outside: Ints) -> float:
    """Return how many texts a comparison within languages rests on: half of one side where both are equal."""
    n = max(inside.max(), outside.max()) + 1
    one, two = (np.bincount(side, minlength=n).astype(np.float64) for side in (inside, outside))
    return float(np.sum(one * two / np.maximum(one + two, 1.0)))


def _conditions(parts: Sequence[Feature], label: int) -> tuple[tuple[str, str], ...]:
    if len(parts) == 1:
        return ((parts[0].name, parts[0].labels[label]),)
    one, two = parts
    first, second = divmod(label, len(two.labels))
    return (one.name, one.labels[first]), (two.name, two.labels[second])


class _Places:
    """Where values may go when clusters of the same make change places; texts are ordered by cluster."""

    def __init__(self, cluster: Ints, language: Ints) -> None:
        self.order = np.lexsort((np.arange(len(cluster)), language, cluster))
        first, size = groups(cluster[self.order])
        makes: dict[bytes, list[int]] = {}
        for number, (low, count) in enumerate(zip(first.tolist(), size.tolist(), strict=True)):
            makes.setdefault(language[self.order[low : low + count]].tobytes(), []).append(number)
        # texts of the clusters of each make, [clusters, texts of one]
        self.blocks = [
            self.order[first[own][:, None] + np.arange(size[own[0]])]
            for own in makes.values()
            if len(own) > 1
        ]
        self.stratum = np.full(len(cluster), -1, dtype=np.int64)  # texts that change places with each other
        self.n_strata = 0
        for block in self.blocks:
            self.stratum[block] = self.n_strata + np.arange(block.shape[1])
            self.n_strata += block.shape[1]
        moved = sum(block.size for block in self.blocks)
        self.fixed = 1 - moved / max(len(cluster), 1)

    def apart(self, slice: Slice) -> Floats:
        """Return whether each text is in a slice, less the share of its stratum; 0 for fixed texts."""
        inside, known = np.zeros(len(self.stratum)), self.stratum >= 0
        inside[slice.rows] = 1.0
        size = np.bincount(self.stratum[known], minlength=self.n_strata)
        share = sums(self.stratum[known], inside[known], self.n_strata) / np.maximum(size, 1)
        found = np.zeros(len(inside))
        found[known] = inside[known] - share[self.stratum[known]]
        return found

    def shuffled(self, values: Floats, rng: np.random.Generator) -> Floats:
        """Return the values, moved."""
        found = values.copy()
        for block in self.blocks:
            found[block] = values[block[rng.permutation(len(block))]]
        return found


@dataclass(frozen=True)
class _Scores:
    """The standardised sum of each slice, and the chance that the least of all is as low."""

    z: Floats
    p: Floats


def _scores(values: Floats, slices: Sequence[Slice], places: _Places, shuffles: int, seed: int) -> _Scores:
    """Return the scores of slices; a sum that no shuffle moves has none, and p 1."""
    n, rng = len(values), stream(seed, "slices")
    sums_of = np.empty((shuffles + 1, len(slices)))
    step = max(1, _AT_ONCE // n)
    done = 0
    while done <= shuffles:
        count = min(step, shuffles + 1 - done)
        moved = np.stack([values if done + i == 0 else places.shuffled(values, rng) for i in range(count)])
        for low in range(0, len(slices), _SLICES_AT_ONCE):
            part = slices[low : low + _SLICES_AT_ONCE]
            member = np.zeros((n, len(part)))
            for column, one in enumerate(part):
                member[one.rows, column] = 1.0
            sums_of[done : done + count, low : low + len(part)] = moved @ member
        done += count
    spread = sums_of.std(axis=0)
    moves = spread > _MARGIN * max(1.0, float(np.abs(values).sum()))
    z = np.where(moves, (sums_of - sums_of.mean(axis=0)) / np.where(moves, spread, 1.0), 0.0)
    least = z.min(axis=1, initial=0.0)
    p = (least[None, :] <= z[0][:, None] + _MARGIN).mean(axis=1)
    return _Scores(z[0], np.where(moves, p, 1.0))


def _without(values: Floats, slices: Sequence[Slice], places: _Places) -> Floats:
    """Return the values without the effect of slices: what is left of a regression on them."""
    design = np.stack([places.apart(one) for one in slices], axis=1)
    found, *_ = np.linalg.lstsq(design, values, rcond=None)
    residual: Floats = values - design @ found
    return residual
