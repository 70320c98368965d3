"""Near-duplicates: near-equal texts and images of different items, which make queries dependent.

Variants of one product have much the same title and photo. Their queries succeed or fail together, so that an
interval for independent queries is too narrow. They are found without the text encoder that is evaluated: texts
by shingles (`data.near_texts`), images by the image encoder's cosines, against its own background of cosines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.data.near_texts import SIMILAR, near_texts
from xlingual.embed import PictureIndex
from xlingual.ranking import CPU, Cosine, Ranker, Top, UnitVectors
from xlingual.records import Ints
from xlingual.stats.components import Links, components
from xlingual.streams import stream

NEAR = 0.25  # most distance of near-equal images, as a share of that of any two images
_BY_CHANCE = 0.05  # near-equal images that an image may have by chance
_BACKGROUND = 500  # images whose cosines with each other are the background
_NEIGHBOURS = 10  # nearest images of each that are looked at
_LOOKED = 500  # units that are looked at for the warning
_FEWEST = 20  # units of which anything is told
MATTERS = 0.1  # near-duplicates for each item, on average, from which on they are warned of


DECLARED, NEAR_DUPLICATES = "declared", "near-duplicates"  # what makes clusters, as users name it


@dataclass(frozen=True)
class NearDuplicates:
    """What was found. A *unit* is what is declared to be dependent: the rows of an item, and of a cluster."""

    n_units: int
    n_looked: int  # units whose near-duplicates were looked for
    n_near: int  # of these, those that have some
    per_unit: float  # near-duplicates of a unit, the mean
    least_similarity: float  # of near-equal texts
    least_cosine: float | None  # of near-equal images; None: no vectors of images were looked at
    rows: tuple[int, int] | None  # two rows that are near-equal, the nearest that are not equal
    clusters: Clusters | None  # None: only a sample of the units was looked at

    @property
    def matter(self) -> bool:
        """Whether they are enough to make intervals too narrow."""
        return self.n_units >= _FEWEST and self.per_unit >= MATTERS

    def about(self) -> dict[str, Any]:
        """Return what the results tell."""
        names = ("n_units", "n_looked", "n_near", "per_unit", "least_similarity", "least_cosine")
        found = {name: getattr(self, name) for name in names}
        if self.clusters is not None:
            found |= {name: getattr(self.clusters, name) for name in ("n_joined", "largest_share", "n_split")}
        return found


@dataclass(frozen=True)
class Clusters:
    """Units joined by near-duplicates."""

    cluster: Ints  # [rows of the manifest]
    n_joined: int  # clusters of several units
    largest_share: float  # of all units
    n_split: int  # chains that were split


def near_duplicates(
    manifest: Manifest,
    rows: Ints,
    pictures: PictureIndex | None,
    *,
    whole: bool,
    ranker: Ranker = CPU,
) -> NearDuplicates:
    """Look for near-duplicates among text rows and their images; the `whole` of them makes clusters.

    Else at most `_LOOKED` units, drawn at random, are looked at: enough to tell whether there are many.
    """
    every = declared_units(manifest)
    units, own = np.unique(every[rows], return_inverse=True)
    unit = np.full(len(manifest), -1, dtype=np.int64)
    unit[rows] = own
    looked = np.arange(len(units))
    queries = None
    if not whole and len(units) > _LOOKED:
        looked = np.sort(stream(0, "near-duplicates").permutation(len(units))[:_LOOKED])
        queries = rows[np.isin(own, looked)]
    links = [text_links(manifest, rows, queries)]
    threshold = None
    if pictures is not None:
        of_pictures, threshold = picture_links(pictures, queries, ranker)
        links.append(of_pictures)
    of_rows = Links.joined(links)
    between = of_rows.between(unit)
    ends = np.concatenate([between.first, between.second])
    pairs = np.unique(np.stack([ends, np.roll(ends, len(between))]), axis=1)
    pairs = pairs[:, np.isin(pairs[0], looked)]
    return NearDuplicates(
        n_units=len(units),
        n_looked=len(looked),
        n_near=len(np.unique(pairs[0])),
        per_unit=pairs.shape[1] / max(len(looked), 1),
        least_similarity=SIMILAR,
        least_cosine=threshold,
        rows=_example(of_rows, unit),
        clusters=_clusters(every, units, [one.between(unit) for one in links]) if whole else None,
    )


def _clusters(every: Ints, units: Ints, links: Sequence[Links]) -> Clusters:
    label, n_split = components(len(units), links)
    cluster = every + len(units)  # rows that take no part keep their unit
    place = np.searchsorted(units, every)
    known = units[np.minimum(place, len(units) - 1)] == every
    cluster[known] = label[place[known]]
    sizes = np.bincount(label)
    return Clusters(cluster, int((sizes > 1).sum()), float(sizes.max() / len(units)), n_split)


def _example(links: Links, unit: Ints) -> tuple[int, int] | None:
    apart = np.flatnonzero(unit[links.first] != unit[links.second])
    if not len(apart):
        return None
    unequal = apart[links.distance[apart] > 0]
    chosen = unequal if len(unequal) else apart
    best = chosen[np.argmin(links.distance[chosen])]
    return int(links.first[best]), int(links.second[best])


def declared_units(manifest: Manifest) -> Ints:
    """Return the unit of each row: equal where rows share a cluster or an item, if by way of others."""
    n = len(manifest)
    first_of_cluster, first_of_item = (
        np.unique(column, return_index=True)[1][np.unique(column, return_inverse=True)[1]]
        for column in (manifest.cluster, manifest.item)
    )
    every = np.arange(n)
    links = Links(np.tile(every, 2), np.concatenate([first_of_cluster, first_of_item]), np.zeros(2 * n))
    return components(n, [links], largest=1.0)[0]


def text_links(manifest: Manifest, rows: Ints, queries: Ints | None = None) -> Links:
    """Return the links between text rows that are near-equal, within each language."""
    found = []
    for code in np.unique(manifest.language[rows]):
        own = rows[manifest.language[rows] == code]
        asked = None if queries is None else np.flatnonzero(np.isin(own, queries))
        if asked is not None and not len(asked):
            continue
        first, second, similarity = near_texts(manifest.text.view(own)[:], asked)
        found.append(Links(own[first], own[second], (1 - similarity) / (1 - SIMILAR)))
    return Links.joined(found)


def picture_links(
    pictures: PictureIndex, queries: Ints | None = None, ranker: Ranker = CPU
) -> tuple[Links, float]:
    """Return the links between rows whose images are near-equal, and the least cosine of such images."""
    rows = np.flatnonzero(pictures.code >= 0)
    point = pictures.points[pictures.code[rows]]
    first = rows[np.unique(point, return_index=True)[1]]  # the first row of each distinct vector
    same = Links(first[point], rows, np.zeros(len(rows)))
    vectors = pictures.pool.vectors
    threshold, usual = near_cosine(vectors)
    asked = np.arange(len(vectors)) if queries is None else np.unique(point[np.isin(rows, queries)])
    similarity = Cosine(vectors, vectors)
    top = Top(_NEIGHBOURS + 1, similarity.shape, queries=asked, cap=_NEIGHBOURS + 1)
    ranker.scan(similarity, [top])
    best = top.result()
    a, b = best.query[best.query != best.candidate], best.candidate[best.query != best.candidate]
    cosine = similarity.exact(a, b) * 1e-9
    near = cosine >= threshold
    distance = (1 - cosine[near]) / max(1 - threshold, 1e-12)
    links = Links(first[a[near]], first[b[near]], distance)
    return Links.joined([same, links]), threshold


def near_cosine(vectors: UnitVectors) -> tuple[float, float]:
    """Return the least cosine of near-equal images, and the usual cosine of two images (the median).

    The distance 1 − cosine of near-equal images is at most `NEAR` of the usual one, and so small that by
    chance hardly any two are as close: the lower tail of the distances (its 5th and 20th percentile) is
    continued as a power, which is what it is near 0 for points in so many dimensions.
    """
    n = len(vectors)
    some = np.unique(np.linspace(0, n - 1, min(n, _BACKGROUND)).astype(np.int64))
    if len(some) < 3:
        return 1.0, 1.0
    unit = np.concatenate([vectors.screen(i, i + 1) for i in some.tolist()])
    distance = 1 - (unit @ unit.T)[np.triu_indices(len(some), 1)].astype(np.float64)
    low, middle, usual = np.quantile(distance, [0.05, 0.2, 0.5])
    if not 0 < low < middle:
        return 1.0, 1.0
    power = np.log(4) / np.log(middle / low)
    by_chance = low * (_BY_CHANCE / (0.05 * n)) ** (1 / power)
    return float(1 - min(NEAR * usual, by_chance)), float(1 - usual)
