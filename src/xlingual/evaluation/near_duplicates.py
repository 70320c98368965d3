"""Near-duplicates: near-equal texts and images of different items, which make queries dependent.

Variants of one product have much the same title and photo. Their queries succeed or fail together, so that
an interval for independent queries is too narrow. They are found without the text encoder that is evaluated:
texts by shingles (`data.near_texts`), images by the image encoder's cosines, against its own background.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.manifest import Manifest
from xlingual.data.near_texts import SIMILAR, Links, text_links, without_chains
from xlingual.embed.sides import ImageIndex
from xlingual.errors import parameter, warn
from xlingual.ragged import components
from xlingual.ranking import CPU, UNIT, Cosine, Ranker, Top, UnitVectors, one_library_thread, rank
from xlingual.streams import stream

if TYPE_CHECKING:
    from xlingual.data.pools.pool import Questions

DECLARED, NEAR_DUPLICATES = CLUSTERS = ("declared", "near-duplicates")  # the sources of clusters
NEAR = 0.25  # most distance of near-equal images, as a share of that of any two images
MATTERS = 0.1  # near-duplicates of an item, on average, above which there is a warning
_FEWEST = 20  # units; with fewer nothing is reported
_LOOKED, _AMONG = 150, 5_000  # units sampled for the warning, and units they are compared with
_SHINGLES = 48  # of a text that are looked at for the warning
_BY_CHANCE = 0.05  # near-equal images that an image may have by chance
_BACKGROUND = 300  # images whose cosines with each other are the background
_NEIGHBOURS = 10  # nearest images of each that are looked at
_EXAMPLES = 3  # pairs


@dataclass(frozen=True)
class TextUnits:
    """Texts, their languages (codes) and units: texts that are declared dependent share one; all [n]."""

    text: Sequence[str]
    language: Ints
    unit: Ints
    ids: Sequence[str]

    @classmethod
    def of(cls, manifest: Manifest) -> TextUnits:
        """Return the rows of a manifest; a unit is the rows of an item and of a cluster."""
        return cls(manifest.text, manifest.language, declared_units(manifest), manifest.ids)


@dataclass(frozen=True)
class NearDuplicates:
    """The near-duplicates found among the units of some rows."""

    n_units: int
    n_looked: int  # units whose near-duplicates were looked for
    n_among: int  # units among which they were looked for
    n_near: int  # of those looked at, those that have some
    per_unit: float  # near-duplicates of a unit among all, the mean
    least_similarity: float  # of near-equal texts
    least_cosine: float | None  # of near-equal images; None: no vectors of images were looked at
    n_split: int  # chains that were too long: only their nearest units are linked
    examples: list[tuple[int, int]]  # pairs of near-equal rows, the nearest, rather unequal ones
    cluster: Ints | None = None  # [n] of each row, where near-duplicates are joined
    n_joined: int | None = None  # clusters of several units
    largest_share: float | None = None  # of all units, in one cluster

    @property
    def matter(self) -> bool:
        """Whether they are enough to make intervals too narrow."""
        return self.n_units >= _FEWEST and self.per_unit >= MATTERS

    def about(self) -> dict[str, Any]:
        """Return the record of these that results keep."""
        left_out = {"examples", "cluster"} | (
            set() if self.cluster is not None else {"n_joined", "largest_share"}
        )
        return {name: value for name, value in vars(self).items() if name not in left_out}


def with_near_duplicates(
    manifest: Manifest, own: Ints, languages: Sequence[str], images: ImageIndex | None, cluster: str
) -> tuple[Manifest, NearDuplicates]:
    """Return the manifest as it is evaluated, and the near-duplicates among the units of the rows `own`.

    Its clusters hold near-duplicates where `cluster` says so; else there is a warning where they matter.
    """
    rows, codes = TextUnits.of(manifest), np.array([manifest.languages.index(tag) for tag in languages])
    near = near_duplicates(rows, own, codes, images, join=cluster == NEAR_DUPLICATES)
    warn_of_near_duplicates(near, rows)
    return manifest if near.cluster is None else replace(manifest, cluster=near.cluster), near


def near_questions(questions: Questions, cluster: str) -> NearDuplicates:
    """Look for near-equal questions of a pool; warn where there are many that no cluster holds."""
    rows = TextUnits(questions.text, questions.language, questions.cluster, questions.ids)
    own, languages = np.arange(len(questions)), np.unique(questions.language)
    near = near_duplicates(rows, own, languages, join=cluster == NEAR_DUPLICATES)
    warn_of_near_duplicates(near, rows, "clusters of questions")
    return near


def near_duplicates(
    rows: TextUnits, own: Ints, languages: Ints, images: ImageIndex | None = None, *, join: bool
) -> NearDuplicates:
    """Look for near-duplicates among the units of the rows `own`, by their texts in the languages and images.

    With `join` all are found and make clusters. Else some are compared with more, see `compared_units`.
    """
    units = distinct_values(rows.unit[own])
    looked, among = (units, units) if join else compared_units(units)
    part = np.flatnonzero(np.isin(rows.language, languages) & np.isin(rows.unit, among))
    queries = None if join else part[np.isin(rows.unit[part], looked)]
    links = [text_links(rows.text, rows.language, part, queries, None if join else _SHINGLES)]
    threshold = None
    if images is not None:
        of_images, threshold = image_links(images, part, queries)
        links.append(of_images)
    unit = np.searchsorted(among, rows.unit)
    # links of each kind are looked at alone first: a chain of one kind costs no links of another
    split = [without_chains(len(among), kind.between(unit), whole=not join) for kind in links]
    joined = Links.joined([kind for kind, _ in split])
    between, n_split = without_chains(len(among), joined, whole=not join)
    ends = np.stack([between.first, between.second])
    pairs = np.unique(np.concatenate([ends, ends[::-1]], axis=1), axis=1)  # each once in each order
    pairs = pairs[:, np.isin(among[pairs[0]], looked)]
    clusters: dict[str, Any] = {}
    if join:
        label = components(len(units), between.first, between.second)
        sizes = np.bincount(label)
        cluster = rows.unit + len(sizes)  # units that take no part keep their cluster
        is_part = np.isin(rows.unit, units)
        cluster[is_part] = label[np.searchsorted(units, rows.unit[is_part])]
        n_joined, largest = int((sizes > 1).sum()), float(sizes.max() / len(units))
        clusters = {"cluster": cluster, "n_joined": n_joined, "largest_share": largest}
    return NearDuplicates(
        n_units=len(units),
        n_looked=len(looked),
        n_among=len(among),
        n_near=len(distinct_values(pairs[0])),
        per_unit=(len(units) - 1) / max(len(among) - 1, 1) * pairs.shape[1] / max(len(looked), 1),
        least_similarity=SIMILAR,
        least_cosine=threshold,
        n_split=n_split + sum(count for _, count in split),
        examples=_examples(Links.joined(links), unit),
        **clusters,
    )


def compared_units(units: Ints) -> tuple[Ints, Ints]:
    """Return at most `_LOOKED` of the units, and at most `_AMONG` with which these are compared.

    Both are drawn at random: enough to show whether there are many near-duplicates.
    """
    drawn = stream(0, "near-duplicates").permutation(len(units))
    return units[np.sort(drawn[:_LOOKED])], units[np.sort(drawn[:_AMONG])]


def warn_of_near_duplicates(near: NearDuplicates, rows: TextUnits, what: str = "items") -> None:
    """Warn of near-duplicates that nobody declared, where they matter; of chains, where clusters are made."""
    alike = "texts" if near.least_cosine is None else "texts or images"
    if near.largest_share is not None and near.n_split:
        warn(
            f"near-duplicates: {near.n_split:,} {'chain' if near.n_split == 1 else 'chains'} of near-equal "
            f"{alike} fell apart, only the nearest stay one cluster (the largest has "
            f"{near.largest_share:.1%} of all {what}): say what belongs together in a column 'cluster'"
        )
    elif near.cluster is None and near.matter:
        looked_at = "" if near.n_looked == near.n_units else f" looked at (there are {near.n_units:,})"
        first, second = (repr(rows.ids[row]) for row in near.examples[0])
        warn(
            f"near-duplicates: {near.n_near:,} of {near.n_looked:,} {what}{looked_at} have near-equal "
            f"{alike} in others, which nobody declared (such as {first} and {second}): intervals may be "
            "too narrow; "
            f"{parameter('cluster', 'near-duplicates')} puts them into one cluster, or say which belong "
            "together in a column 'cluster'"
        )


def declared_units(manifest: Manifest) -> Ints:
    """Return the unit of each row: equal where rows share a cluster or item, directly or through others."""
    if np.array_equal(manifest.cluster, manifest.item):
        return manifest.item
    n = len(manifest)
    columns = [
        np.unique(codes, return_index=True, return_inverse=True)
        for codes in (manifest.cluster, manifest.item)
    ]
    first = np.concatenate([row[which] for _, row, which in columns])  # row of the same cluster, or item
    return components(n, np.tile(np.arange(n), 2), first)


def image_links(
    images: ImageIndex, rows: Ints, queries: Ints | None = None, ranker: Ranker = CPU
) -> tuple[Links, float]:
    """Return the links between rows whose images are near-equal, and the least cosine of these.

    Rows that show one image, or images of equal vectors, are linked. Of each other image the ten nearest
    are looked at.
    """
    rows = rows[images.code[rows] >= 0]
    points, first, point = np.unique(images.points[images.code[rows]], return_index=True, return_inverse=True)
    shows = rows[first]  # the first row of each distinct vector
    same = Links(shows[point], rows, np.zeros(len(rows)))
    vectors = images.pool.vectors.take(points)
    least = near_cosine(vectors)
    queried = np.arange(len(points)) if queries is None else distinct_values(point[np.isin(rows, queries)])
    similarity = Cosine(vectors.take(queried), vectors)
    top = Top(_NEIGHBOURS + 1, similarity.shape, cap=_NEIGHBOURS + 1)
    rank(similarity, [top], ranker)
    best = top.result()
    cosine = np.multiply(similarity.keys(best.query, best.candidate), UNIT, dtype=np.float64)
    one, other = queried[best.query], best.candidate
    near = (one != other) & (cosine >= least)
    distance = (1 - cosine[near]) / max(1 - least, UNIT)
    return Links.joined([same, Links(shows[one[near]], shows[other[near]], distance)]), least


def near_cosine(vectors: UnitVectors) -> float:
    """Return the least cosine of near-equal images.

    Their distance 1 − cosine is at most `NEAR` of the usual distance of two images (the median), and so small
    that an image has hardly one as near by chance: the lower tail of the distances (their 5th and 20th
    percentile) is continued as a power law, which points in some number of dimensions have.
    """
    some = distinct_values(np.linspace(0, len(vectors) - 1, _BACKGROUND).astype(np.int64))
    if len(some) < 3:
        return 1.0
    unit = vectors.take(some).screened(np.arange(len(some)))
    with one_library_thread():  # the number of threads must not change the rounding of products
        cosine = unit @ unit.T
    distance = 1 - cosine[np.triu_indices(len(some), 1)].astype(np.float64)
    low, middle, usual = np.quantile(distance, [0.05, 0.2, 0.5])
    if not 0 < low < middle:
        return 1.0
    power = np.log(0.2 / 0.05) / np.log(middle / low)
    by_chance = low * (_BY_CHANCE / (0.05 * len(vectors))) ** (1 / power)
    return float(1 - min(NEAR * usual, by_chance))


def _examples(links: Links, unit: Ints) -> list[tuple[int, int]]:
    """Return a few of the nearest linked rows, each of other units, rather unequal ones."""
    apart = np.flatnonzero(unit[links.first] != unit[links.second])
    nearest = apart[np.lexsort((links.distance[apart], links.distance[apart] == 0))]
    ends = np.sort(unit[np.stack([links.first[nearest], links.second[nearest]])], axis=0)
    chosen = nearest[np.sort(np.unique(ends, axis=1, return_index=True)[1])[:_EXAMPLES]]
    return list(zip(links.first[chosen].tolist(), links.second[chosen].tolist(), strict=True))
