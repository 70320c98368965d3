"""Ranks both ways between two sets of vectors; several vectors of a set may belong to one item.

One pass over the similarities gives both ways; the best of a query's relevant candidates counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.errors import InputError
from xlingual.evaluation.hubs import places_of
from xlingual.measures import SuccessAt
from xlingual.measures.hubness import Places
from xlingual.ragged import members
from xlingual.ranking import CPU, Cosine, Counts, Pool, Progress, Ranker, Top, Watcher, rank
from xlingual.records import RankCounts, TargetCounts

DEPTHS = (1, 5, 10)  # of the recalls that are summed
PERCENT = 100.0


def rank_both_ways(
    text_vectors: np.ndarray,
    text_item: Ints,
    image_vectors: np.ndarray,
    image_item: Ints,
    *,
    ranker: Ranker = CPU,
) -> tuple[RankCounts, RankCounts]:
    """Return (sentence → image, image → sentence): where the best relevant candidate of each query stands.

    `text_vectors` [n, d] and `image_vectors` [m, d] are compared by cosine; `text_item` [n] and
    `image_item` [m] say which belong together: equal numbers. A text's relevant candidates are the images
    of its item, an image's the texts of its item; the best one counts. Texts without an image and images
    without a text take no part, neither as queries nor as candidates; queries are in the order given. The two
    sides may as well be the texts of two languages.

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
    return ranked_pairs(*sides, (text, image), ranker=ranker).ways


@dataclass(frozen=True)
class RankedPairs:
    """Both ways, sentence to image and image to sentence: ranks, and first places if any were asked for."""

    ways: tuple[RankCounts, RankCounts]
    places: list[Places]
    similarity: Cosine


def ranked_pairs(
    texts: Pool,
    images: Pool,
    pairs: tuple[Ints, Ints],
    *,
    ranker: Ranker = CPU,
    progress: Progress | None = None,
    first: int = 0,
) -> RankedPairs:
    """Return the counts of both ways for relevant pairs (text, image), and the `first` places.

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
    to_image = Counts(left, right, keys, weights=n_images)
    to_sentence = Counts(right, left, keys, weights=n_texts, columns=True)
    watchers: list[Watcher] = [to_image, to_sentence]
    tops: list[Top] = []
    if first:
        shape = similarity.shape
        tops.append(Top(min(first, len(images.code)), shape, weights=n_images))
        tops.append(Top(min(first, len(texts.code)), shape, weights=n_texts, columns=True))
    rank(similarity, [*watchers, *tops], ranker, progress=progress)
    codes = (texts.code, images.code), (images.code, texts.code)
    places = [places_of(top.result(), *both, top.k) for top, both in zip(tops, codes, strict=False)]
    return RankedPairs(
        (
            _best(to_image, where, text, len(texts.code), len(images.code)),
            _best(to_sentence, where, image, len(images.code), len(texts.code)),
        ),
        places,
        similarity,
    )


def _best(counts: Counts, where: Ints, query: Ints, n_queries: int, pool: int) -> RankCounts:
    """Return where the best relevant candidate of each query stands, of pairs in any order."""
    order = np.argsort(query, kind="stable")
    above, tied = counts.above[where][order], counts.tied[where][order]
    return TargetCounts(query[order], above, tied, np.full(n_queries, pool)).best()


def sum_of_recalls(*ways: RankCounts, depths: Sequence[int] = DEPTHS) -> float:
    """Return the sum of R@1, R@5 and R@10 over the ways, in per cent: 600 is perfect for two ways.

    The field calls it rsum; models are chosen by it. Its R@k is Success@k: any relevant candidate counts.
    """
    recalls = [SuccessAt(k) for k in depths]
    return PERCENT * sum(recall.aggregate(recall.per_query(way)) for way in ways for recall in recalls)


def sum_of_recalls_between(
    vectors_a: np.ndarray,
    item_a: Ints,
    vectors_b: np.ndarray,
    item_b: Ints,
    *,
    ranker: Ranker = CPU,
) -> float:
    """Return the sum of recalls both ways between two sets of vectors, such as texts of two languages.

    An item may have several texts on either side: the best match counts. Arguments as in `rank_both_ways`.
    """
    return sum_of_recalls(*rank_both_ways(vectors_a, item_a, vectors_b, item_b, ranker=ranker))
