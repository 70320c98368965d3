"""Ranks both ways between two sets of vectors, of which several may belong to one item, and what is ranked.

One pass over the similarities gives both ways; the best of a query's relevant candidates counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from xlingual import encoders
from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest
from xlingual.embed.sides import ImageIndex, fit_texts_for
from xlingual.encoders import Encoder, EncoderLike
from xlingual.errors import InputError, listed, parameter, warn
from xlingual.evaluation.hubs import places_of
from xlingual.evaluation.run import EncoderSpecs
from xlingual.measures import MedianRank, SuccessAt
from xlingual.measures.hubness import Places
from xlingual.ragged import components, members
from xlingual.ranking import CPU, Cosine, Counts, Pool, Progress, Ranker, Top, rank
from xlingual.records import RankCounts, TargetCounts
from xlingual.results import Interval
from xlingual.stats.intervals import LEVEL
from xlingual.streams import stream

DEPTHS = (1, 5, 10)  # of the recalls that are summed
PERCENT = 100.0
REPLICATES = 999
_CELLS = 1 << 22  # counts of a batch of replicates


def rank_both_ways(
    text_vectors: np.ndarray,
    text_item: Ints,
    image_vectors: np.ndarray,
    image_item: Ints,
    *,
    ranker: Ranker = CPU,
) -> tuple[RankCounts, RankCounts]:
    """Return (sentence → image, image → sentence): where the best relevant candidate of each query stands.

    `text_vectors` [n, d] and `image_vectors` [m, d] are compared by cosine; equal numbers in `text_item` [n]
    and `image_item` [m] belong together. Texts without an image and images without a text take no part;
    queries are in the order given. The two sides may as well be the texts of two languages.

    Raises InputError where no text has an image, or where dimensions differ.

    >>> one_hot, item = np.eye(3, dtype=np.float32), np.arange(3)
    >>> to_image, to_sentence = rank_both_ways(one_hot, item, one_hot, item)
    >>> to_image.above.tolist(), to_sentence.above.tolist()
    ([0, 0, 0], [0, 0, 0])
    """
    texts = np.flatnonzero(np.isin(text_item, image_item))
    images = np.flatnonzero(np.isin(image_item, text_item))
    if not len(texts):
        raise InputError("nothing to rank: no text and no image belong to the same item")
    text, image = members(np.asarray(image_item)[images], np.asarray(text_item)[texts])
    sides = Pool.of(text_vectors, texts), Pool.of(image_vectors, images)
    return ranked_pairs(*sides, (text, image), ranker=ranker)[0]


def ranked_pairs(
    texts: Pool,
    images: Pool,
    pairs: tuple[Ints, Ints],
    *,
    ranker: Ranker = CPU,
    progress: Progress | None = None,
    first: int = 0,
) -> tuple[tuple[RankCounts, RankCounts], list[Places], Cosine]:
    """Return the counts of both ways for relevant pairs (text, image), the `first` places, and the cosines.

    Every text and every image must be in a pair. Equal vectors are compared once and counted as often as
    they occur.
    """
    (text, image), width = pairs, len(images.vectors)
    similarity = Cosine(texts.vectors, images.vectors)
    distinct, where = np.unique(texts.code[text] * width + images.code[image], return_inverse=True)
    left, right = np.divmod(distinct, width)
    n_texts, n_images = (
        np.bincount(pool.code, minlength=len(pool.vectors)).astype(np.int64) for pool in (texts, images)
    )
    keys = similarity.keys(left, right)
    counts = (
        Counts(left, right, keys, weights=n_images),
        Counts(right, left, keys, weights=n_texts, columns=True),
    )
    tops = [
        Top(min(first, len(pool.code)), similarity.shape, weights=weights, columns=columns)
        for pool, weights, columns in ((images, n_images, False), (texts, n_texts, True))
        if first
    ]
    rank(similarity, [*counts, *tops], ranker, progress=progress)
    ways = []
    for found, query, queries, candidates in (
        (counts[0], text, texts, images),
        (counts[1], image, images, texts),
    ):
        order = np.argsort(query, kind="stable")
        pool = np.full(len(queries.code), len(candidates.code))
        above, tied = found.above[where][order], found.tied[where][order]
        ways.append(TargetCounts(query[order], above, tied, pool).best())
    codes = (texts.code, images.code), (images.code, texts.code)
    places = [places_of(top.result(), *both, top.k) for top, both in zip(tops, codes, strict=False)]
    return (ways[0], ways[1]), places, similarity


def sum_of_recalls(*ways: RankCounts, depths: Sequence[int] = DEPTHS) -> float:
    """Return the sum of R@1, R@5 and R@10 over the ways, in per cent: 600 is perfect for two ways.

    The field calls it rsum; models are chosen by it. Its R@k is Success@k: any relevant candidate counts.
    """
    recalls = [SuccessAt(k) for k in depths]
    return PERCENT * sum(recall.aggregate(recall.per_query(way)) for way in ways for recall in recalls)


def sum_of_recalls_between(vectors_a: np.ndarray, item_a: Ints, vectors_b: np.ndarray, item_b: Ints) -> float:
    """Return the sum of recalls both ways between two sets of vectors: see `rank_both_ways`."""
    return sum_of_recalls(*rank_both_ways(vectors_a, item_a, vectors_b, item_b))


@dataclass
class System:
    """A text encoder and an image encoder whose vectors are compared, and the languages it is for."""

    name: str  # of the text encoder
    texts: Encoder
    image_name: str
    images: Encoder
    languages: tuple[str, ...]


def systems_of(
    manifest: Manifest,
    text_specs: EncoderSpecs,
    image_specs: Sequence[EncoderLike] | EncoderLike,
    languages: Sequence[str] | None,
) -> list[System]:
    """Return text and image encoders paired in order, or with one image encoder for all.

    Raises InputError where the numbers of encoders differ, or where two encoders are of different models.
    """
    chosen = list(dict.fromkeys(manifest.languages if languages is None else languages))
    if not chosen:
        raise InputError(
            f"no language is named: give one, as in {parameter('languages', ['en', 'de'])}, or leave it out"
        )
    texts = encoders.text_encoders(text_specs, languages=chosen, fit_texts=fit_texts_for(manifest))
    specs = image_specs if isinstance(image_specs, list | tuple) else [cast("EncoderLike", image_specs)]
    if not specs:
        raise InputError(
            f"text encoder {next(iter(texts))!r} needs the image encoder of its space: give one "
            f"({parameter('image_encoders', 'model:DIR')})"
        )
    if len(specs) not in (1, len(texts)):
        raise InputError(
            f"{len(specs)} image encoders for {len(texts)} text encoder{'s' if len(texts) > 1 else ''} "
            f"({listed(texts, 8)}): give one for all, or one for each text encoder in the same order"
        )
    images = [encoders.image_encoder(spec, languages=chosen) for spec in specs]
    systems = []
    for (name, encoder), (image_name, eyes) in zip(
        texts.items(), images * (len(texts) // len(images)), strict=True
    ):
        if None not in (encoder.space, eyes.space) and encoder.space != eyes.space:
            raise InputError(
                f"text encoder {name!r} and image encoder {image_name!r} are of different models "
                f"({encoder.space:.12} and {eyes.space:.12}), so their vectors cannot be compared: pair each "
                "text encoder with the image encoder of the same model, in the same order"
            )
        spoken = tuple(tag for tag in chosen if encoder.languages is None or tag in encoder.languages)
        systems.append(System(name, encoder, image_name, eyes, spoken))
    return systems


@dataclass(frozen=True)
class Side:
    """One direction in a slice: n queries, m candidates, all rows of the manifest, and the right pairs.

    An image's row is the first that shows it.
    """

    rows: Ints  # [n]
    candidates: Ints  # [m]
    clusters: Ints  # [n]
    candidate_clusters: Ints  # [m]
    query: Ints  # [p] place among the queries
    candidate: Ints  # [p]

    @property
    def turned(self) -> Side:
        """The other direction."""
        clusters = self.candidate_clusters, self.clusters
        return Side(self.candidates, self.rows, *clusters, self.candidate, self.query)


@dataclass(frozen=True)
class ShownImages:
    """The distinct images of a manifest, by the items that show them."""

    index: ImageIndex
    item: Ints  # [p] with `image`: each pair of an item and an image that one of its rows shows
    image: Ints  # [p]
    first_row: Ints  # [images] the first row that shows each
    image_cluster: Ints  # [images] cluster ids: images and captions of one are dependent
    row_cluster: Ints  # [rows of the manifest]

    @classmethod
    def of(cls, manifest: Manifest, index: ImageIndex) -> ShownImages:
        """Return the images of a manifest's rows.

        The texts of a cluster, the texts of an item, and an item and its images are in one cluster.
        """
        rows = np.flatnonzero(index.code >= 0)
        code = index.code[rows]
        item, image = np.unique(np.stack([manifest.item[rows], code]), axis=1)
        first = rows[np.unique(code, return_index=True)[1]]
        n_clusters = int(manifest.cluster.max()) + 1
        images_from = n_clusters + manifest.n_items
        left = np.concatenate([manifest.cluster, n_clusters + item])
        right = np.concatenate([n_clusters + manifest.item, images_from + image])
        cluster = components(images_from + len(first), left, right)
        return cls(index, item, image, first, cluster[images_from:], cluster[manifest.cluster])

    def slices(self, manifest: Manifest, rows: Ints, size: int | None, language: str) -> list[Side]:
        """Return the captions `rows` with their images: one slice, or consecutive ones of `size` images.

        Every text takes part in the slices that hold an image of its item. An incomplete last slice is left
        out with a warning. Raises InputError where there are fewer images than `size`.
        """
        text, at = members(self.item, manifest.item[rows])
        image = self.image[at]
        chosen = np.unique(image)
        chosen = chosen[np.argsort(self.first_row[chosen], kind="stable")]
        size = len(chosen) if size is None else size
        whole, left = divmod(len(chosen), size)
        if whole == 0:
            raise InputError(
                f"{parameter('fold')}: slices of {size} need {size} images with texts in {language!r}, there "
                f"are {len(chosen)}: give a smaller size, or leave it out"
            )
        if left:
            warn(
                f"{parameter('fold')} of {size}: the last {left} of {len(chosen)} images with texts in "
                f"{language!r} make no whole slice and are left out"
            )
        sides = []
        for part in np.split(chosen[: whole * size], whole):
            inside, order = np.isin(image, part), np.argsort(part, kind="stable")
            texts, query = np.unique(text[inside], return_inverse=True)
            candidate = order[np.searchsorted(part[order], image[inside])]
            clusters = self.row_cluster[rows[texts]], self.image_cluster[part]
            sides.append(Side(rows[texts], self.first_row[part], *clusters, query, candidate))
        return sides


def difference_of_medians(
    measure: MedianRank, first: list[tuple[Side, RankCounts]], second: list[tuple[Side, RankCounts]]
) -> Interval:
    """Return the percentile interval of a difference of medians, clusters drawn anew with replacement."""
    differences = np.zeros(REPLICATES)
    for number, ((side, own), (_, other)) in enumerate(zip(first, second, strict=True)):
        values = [measure.per_query(each) for each in (own, other)]
        rng = stream(0, f"medians|slice {number}")
        ids, cluster = np.unique(side.clusters, return_inverse=True)
        step = max(1, _CELLS // len(cluster))
        for start in range(0, REPLICATES, step):
            count = min(step, REPLICATES - start)
            times = rng.multinomial(len(ids), np.full(len(ids), 1 / len(ids)), size=count)[:, cluster]
            medians = [_medians(measure, each, times) for each in values]
            differences[start : start + count] += (medians[0] - medians[1]) / len(first)
    low, high = np.quantile(differences, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), LEVEL, "percentile bootstrap of clusters")


def _medians(measure: MedianRank, values: Floats, times: Ints) -> Floats:
    """Return the measure of `values` [n], each taken so many `times` [replicates, n]."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(times[:, order], axis=1)
    total = reached[:, -1:]
    low, high = (values[order][(reached > at).argmax(axis=1)] for at in ((total - 1) // 2, total // 2))
    return np.array([measure.rounded(float(median)) for median in (low + high) / 2])
