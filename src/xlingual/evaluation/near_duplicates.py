"""Near-duplicates: near-equal texts and images of different items, which make queries dependent.

Variants of one product have much the same title and photo. Their queries succeed or fail together, so that an
interval for independent queries is too narrow. They are found without the text encoder that is evaluated: texts
by shingles (`data.near_texts`), images by the image encoder's cosines, against its own background of cosines.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.arrays import distinct_values
from xlingual.data.manifest import Manifest
from xlingual.data.near_texts import SIMILAR, near_texts
from xlingual.embed import PictureIndex
from xlingual.errors import DataWarning, InputError, did_you_mean
from xlingual.ranking import CPU, UNIT, Cosine, Ranker, Top, UnitVectors
from xlingual.records import Ints
from xlingual.stats.components import Links, components, without_chains
from xlingual.streams import stream

DECLARED, NEAR_DUPLICATES = CLUSTERS = ("declared", "near-duplicates")  # what makes clusters
NEAR = 0.25  # most distance of near-equal images, as a share of that of any two images
MATTERS = 0.1  # near-duplicates of an item, on average, from which on they are warned of
_FEWEST = 20  # units, of which anything is told
_LOOKED, _AMONG = 300, 10_000  # units that are looked at for the warning, and units that they are compared with
_BY_CHANCE = 0.05  # near-equal images that an image may have by chance
_BACKGROUND = 500  # images whose cosines with each other are the background
_NEIGHBOURS = 10  # nearest images of each that are looked at


@dataclass(frozen=True)
class Clusters:
    """Units joined by near-duplicates."""

    cluster: Ints  # [rows of the manifest]
    n_joined: int  # clusters of several units
    largest_share: float  # of all units


@dataclass(frozen=True)
class NearDuplicates:
    """What was found. A *unit* is what is declared to be dependent: the rows of an item, and of a cluster."""

    n_units: int
    n_looked: int  # units whose near-duplicates were looked for
    n_among: int  # units among which they were looked for
    n_near: int  # of those looked at, those that have some
    per_unit: float  # near-duplicates of a unit among all, the mean
    least_similarity: float  # of near-equal texts
    least_cosine: float | None  # of near-equal images; None: no vectors of images were looked at
    n_split: int  # chains that were too long: only what is nearest in them is linked
    example: tuple[int, int] | None  # two near-equal rows, the nearest that are not equal
    clusters: Clusters | None  # None: not asked for

    @property
    def matter(self) -> bool:
        """Whether they are enough to make intervals too narrow."""
        return self.n_units >= _FEWEST and self.per_unit >= MATTERS

    def about(self) -> dict[str, Any]:
        """Return what the results tell."""
        names = ("n_units", "n_looked", "n_among", "n_near", "per_unit", "least_similarity", "least_cosine")
        found = {name: getattr(self, name) for name in (*names, "n_split")}
        if self.clusters is not None:
            found |= {"n_joined": self.clusters.n_joined, "largest_share": self.clusters.largest_share}
        return found


def check_cluster(cluster: str) -> str:
    """Return what makes clusters; raise InputError where it is nothing known."""
    if cluster not in CLUSTERS:
        raise InputError(
            f"--cluster {cluster!r}: expected {' or '.join(CLUSTERS)}.{did_you_mean(cluster, CLUSTERS)} "
            "A column is named with --cluster-column"
        )
    return cluster


def near_duplicates(
    manifest: Manifest,
    rows: Ints,
    languages: Sequence[str],
    pictures: PictureIndex | None,
    *,
    join: bool,
    ranker: Ranker = CPU,
) -> NearDuplicates:
    """Look for near-duplicates among the units of some rows: their texts in the languages, and their images.

    With `join` all are found and make clusters. Else `_LOOKED` units at most are compared with `_AMONG` at most,
    both drawn at random: enough to tell whether there are many.
    """
    every = declared_units(manifest)
    units = distinct_values(every[rows])
    drawn = stream(0, "near-duplicates").permutation(len(units))
    looked, among = (len(units), len(units)) if join else (_LOOKED, _AMONG)
    looked, among = units[np.sort(drawn[:looked])], units[np.sort(drawn[:among])]
    spoken = np.isin(manifest.language, [manifest.languages.index(language) for language in languages])
    rows = np.flatnonzero(spoken & np.isin(every, among))
    queries = None if len(looked) == len(among) else rows[np.isin(every[rows], looked)]
    links = [text_links(manifest, rows, queries)]
    threshold = None
    if pictures is not None:
        of_pictures, threshold = picture_links(pictures, rows, queries, ranker)
        links.append(of_pictures)
    unit = np.searchsorted(among, every)
    between, n_split = _without_chains(len(among), [one.between(unit) for one in links])
    pairs = _both_ways(between)
    pairs = pairs[:, np.isin(among[pairs[0]], looked)]
    scale = (len(units) - 1) / max(len(among) - 1, 1)
    return NearDuplicates(
        n_units=len(units),
        n_looked=len(looked),
        n_among=len(among),
        n_near=len(distinct_values(pairs[0])),
        per_unit=scale * pairs.shape[1] / max(len(looked), 1),
        least_similarity=SIMILAR,
        least_cosine=threshold,
        n_split=n_split,
        example=_example(Links.joined(links), unit),
        clusters=_clusters(every, units, between) if join else None,
    )


def warn_of_near_duplicates(manifest: Manifest, found: NearDuplicates) -> None:
    """Warn of near-duplicates that nobody declared, where they matter; of what became of chains, where joined."""
    share = f"{found.n_near:,} of {found.n_looked:,} items"
    if found.n_looked < found.n_units:
        share += f" looked at (of {found.n_units:,})"
    if found.clusters is not None:
        if found.n_split:
            warnings.warn(
                f"near-duplicates: {found.n_split} chains of near-equal texts or images held over 5 % of "
                "all items and were split, so that only the nearest of them are one cluster; the largest cluster "
                f"has {found.clusters.largest_share:.1%}: where more belong together, name their column "
                "(--cluster-column)",
                DataWarning,
                stacklevel=3,
            )
    elif found.matter:
        example = "" if found.example is None else f" (such as {_names(manifest, found.example)})"
        warnings.warn(
            f"near-duplicates: {share} have near-equal texts or images in other items{example}, which nobody "
            "declared: intervals may be too narrow; join them with --cluster near-duplicates, or name the column "
            "of what belongs together with --cluster-column",
            DataWarning,
            stacklevel=3,
        )


def _names(manifest: Manifest, rows: Sequence[int]) -> str:
    return " and ".join(repr(manifest.ids[row]) for row in rows)


def declared_units(manifest: Manifest) -> Ints:
    """Return the unit of each row: equal where rows share a cluster or an item, if by way of others."""
    if np.array_equal(manifest.cluster, manifest.item):
        return manifest.item
    n = len(manifest)
    first = [np.unique(column, return_index=True)[1][column] for column in (manifest.cluster, manifest.item)]
    links = Links(np.tile(np.arange(n), 2), np.concatenate(first), np.zeros(2 * n))
    return components(n, links)


def text_links(manifest: Manifest, rows: Ints, queries: Ints | None = None) -> Links:
    """Return the links between text rows that are near-equal, within each language."""
    found = []
    for code in distinct_values(manifest.language[rows]).tolist():
        own = rows[manifest.language[rows] == code]
        asked = None if queries is None else np.flatnonzero(np.isin(own, queries))
        first, second, similarity = near_texts(manifest.text.pick(own), asked)
        found.append(Links(own[first], own[second], (1 - similarity) / (1 - SIMILAR)))
    return Links.joined(found)


def picture_links(
    pictures: PictureIndex, rows: Ints, queries: Ints | None = None, ranker: Ranker = CPU
) -> tuple[Links, float]:
    """Return the links between rows whose images are near-equal, and the least cosine of such images.

    Rows that show one image, or images of equal vectors, are linked. Of each other image the ten nearest are
    looked at.
    """
    rows = rows[pictures.code[rows] >= 0]
    points, first, point = np.unique(
        pictures.points[pictures.code[rows]], return_index=True, return_inverse=True
    )
    shows = rows[first]  # the first row of each distinct vector
    same = Links(shows[point], rows, np.zeros(len(rows)))
    vectors = UnitVectors(pictures.pool.vectors.raw, pictures.pool.vectors.rows[points])
    least = near_cosine(vectors)
    asked = None if queries is None else distinct_values(point[np.isin(rows, queries)])
    similarity = Cosine(vectors, vectors)
    top = Top(_NEIGHBOURS + 1, similarity.shape, queries=asked, cap=_NEIGHBOURS + 1)
    ranker.scan(similarity, [top])
    best = top.result()
    other = best.query != best.candidate
    a, b = best.query[other], best.candidate[other]
    cosine = similarity.exact(a, b) * UNIT
    near = cosine >= least
    links = Links(shows[a[near]], shows[b[near]], (1 - cosine[near]) / max(1 - least, UNIT))
    return Links.joined([same, links]), least


def near_cosine(vectors: UnitVectors) -> float:
    """Return the least cosine of near-equal images.

    Their distance 1 − cosine is at most `NEAR` of the usual distance of two images (the median), and so small
    that an image has hardly one as near by chance: the lower tail of the distances (their 5th and 20th
    percentile) is continued as a power law, as points in so many dimensions have it.
    """
    some = distinct_values(np.linspace(0, len(vectors) - 1, _BACKGROUND).astype(np.int64))
    if len(some) < 3:
        return 1.0
    unit = UnitVectors(vectors.raw, vectors.rows[some]).screen(0, len(some))
    distance = 1 - (unit @ unit.T)[np.triu_indices(len(some), 1)].astype(np.float64)
    low, middle, usual = np.quantile(distance, [0.05, 0.2, 0.5])
    if not 0 < low < middle:
        return 1.0
    power = np.log(0.2 / 0.05) / np.log(middle / low)
    by_chance = low * (_BY_CHANCE / (0.05 * len(vectors))) ** (1 / power)
    return float(1 - min(NEAR * usual, by_chance))


def _both_ways(links: Links) -> Ints:
    """Return [2, p] each pair of linked units once in each order."""
    ends = np.stack([links.first, links.second])
    return np.unique(np.concatenate([ends, ends[::-1]], axis=1), axis=1)


def _without_chains(n: int, kinds: Sequence[Links]) -> tuple[Links, int]:
    """Return the links of all kinds, and how many chains were split.

    The links of each kind are looked at alone first: a chain of one kind costs no links of another.
    """
    split = [without_chains(n, links) for links in kinds]
    links, n_split = without_chains(n, Links.joined([kept for kept, _ in split]))
    return links, n_split + sum(count for _, count in split)


def _clusters(every: Ints, units: Ints, links: Links) -> Clusters:
    label = components(len(units), links)
    sizes = np.bincount(label)
    cluster = every + len(sizes)  # what takes no part stays as it is
    part = np.isin(every, units)
    cluster[part] = label[np.searchsorted(units, every[part])]
    return Clusters(cluster, int((sizes > 1).sum()), float(sizes.max() / len(units)))


def _example(links: Links, unit: Ints) -> tuple[int, int] | None:
    """Return the nearest linked rows of different units, rather unequal ones."""
    apart = np.flatnonzero(unit[links.first] != unit[links.second])
    if not len(apart):
        return None
    equal = links.distance[apart] == 0
    best = apart[np.lexsort((links.distance[apart], equal))[0]]
    return int(links.first[best]), int(links.second[best])
