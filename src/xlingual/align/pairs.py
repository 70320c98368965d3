"""Which texts of different items belong together: those whose images are nearest to each other, both ways.

Images are searched once: `alike` keeps, for each node, the nearest in each other language. Pairs are then
chosen among those, by images alone or with texts beside them, so that choosing them again costs little.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from xlingual.align.nodes import Nodes
from xlingual.arrays import Floats, Ints, Vectors
from xlingual.ragged import groups
from xlingual.ranking import CPU, Ranker, Top, rank, rows_of, similarity_of

KEPT = 30  # nearest images of each node in each other language
NEAREST = 10  # neighbours whose mean tells a hub (Conneau et al., ICLR 2018)
_ROWS = 1 << 10  # of a block of cosines, which stays in the processor's cache
LEAST = 0.5  # the weight of the least certain pair; the most certain has 1


@dataclass(frozen=True)
class Pairs:
    """p pairs of nodes in two languages, and how much each counts."""

    left: Ints  # [p]
    right: Ints  # [p]
    weight: Floats  # [p]

    def __len__(self) -> int:
        return len(self.left)

    def and_(self, other: Pairs) -> Pairs:
        """Return both, one after the other."""
        return Pairs(
            np.concatenate([self.left, other.left]),
            np.concatenate([self.right, other.right]),
            np.concatenate([self.weight, other.weight]),
        )


NO_PAIRS = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True)
class Alike:
    """Nodes of two languages whose images are alike: e candidates for a pair, and the cosine of their images.

    The first of a pair is in the language with the smaller code; candidates of two languages stand together.
    """

    left: Ints  # [e]
    right: Ints  # [e]
    image: Floats  # [e]

    def within(self, chosen: np.ndarray) -> Alike:
        """Return those whose nodes are both chosen, bool [n]; nodes keep their numbers."""
        kept = np.flatnonzero(chosen[self.left] & chosen[self.right])
        return Alike(self.left[kept], self.right[kept], self.image[kept])


def alike(nodes: Nodes, *, kept: int = KEPT, ranker: Ranker = CPU) -> Alike:
    """Return, for each node, the `kept` nodes of each other language with the nearest images.

    Those of its own item are left out. Images are compared by the cosine of what is left without their mean.
    """
    image = nodes.image - nodes.image.mean(axis=0, dtype=np.float64).astype(np.float32)
    found = [
        _alike(nodes, image, nodes.of(a), nodes.of(b), kept, ranker)
        for a, b in combinations(range(len(nodes.languages)), 2)
    ]
    left, right = (np.concatenate([part[side] for part in found]) for side in (0, 1))
    return Alike(left, right, cosines(image, left, image, right))


def _alike(
    nodes: Nodes, image: Vectors, left: Ints, right: Ints, kept: int, ranker: Ranker
) -> tuple[Ints, Ints]:
    if not len(left) or not len(right):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    similarity = similarity_of(rows_of(image, left), rows_of(image, right))
    k = kept + 1  # one may be of the own item
    there, back = (Top(k, similarity.shape, cap=1, columns=columns) for columns in (False, True))
    rank(similarity, [there, back], ranker)
    one, other = there.result(), back.result()
    i, j = np.concatenate([one.query, other.candidate]), np.concatenate([one.candidate, other.query])
    edge = np.unique(i * len(right) + j)
    i, j = left[edge // len(right)], right[edge % len(right)]
    apart = nodes.item[i] != nodes.item[j]
    return i[apart], j[apart]


def cosines(one: Vectors, left: Ints, other: Vectors, right: Ints) -> Floats:
    """Return the cosine of rows one[left] and other[right], float64; 0 for a zero row."""
    lengths = (np.sqrt(np.einsum("nd,nd->n", each, each, dtype=np.float64)) for each in (one, other))
    a, b = lengths
    found: Floats = np.empty(len(left))
    for start in range(0, len(left), _ROWS):
        piece = slice(start, start + _ROWS)
        found[piece] = np.einsum("nd,nd->n", one[left[piece]], other[right[piece]])
    scale = a[left] * b[right]
    cosine: Floats = np.divide(found, scale, out=np.zeros_like(found), where=scale > 0)
    return cosine


def near_pairs(nodes: Nodes, candidates: Alike, text: Vectors | None = None) -> Pairs:
    """Return the candidates that are each other's best, with a weight by their lead over the second.

    The score is the cosine of the images, or with vectors `text` [n, d] the mean of both cosines. From it the
    means of the nearest are subtracted, as CSLS does, so that an image that is near to everything is nobody's
    best. Weights go by the rank of the lead over the second best of both, from `LEAST` to 1.
    """
    score = candidates.image
    if text is not None:
        score = (score + cosines(text, candidates.left, text, candidates.right)) / 2
    language = nodes.language
    code = language[candidates.left] * len(nodes.languages) + language[candidates.right]
    if not len(code):
        return NO_PAIRS
    found = [
        _mutual(candidates, score, slice(start, start + count), len(nodes))
        for start, count in zip(*groups(code), strict=True)
    ]
    line, lead = (np.concatenate([part[place] for part in found]) for place in (0, 1))
    return Pairs(candidates.left[line], candidates.right[line], _weights(lead))


def _mutual(candidates: Alike, score: Floats, lines: slice, n: int) -> tuple[Ints, Floats]:
    """Return the lines of two languages that are best on both sides, and their lead over the second best."""
    left, right, own = candidates.left[lines], candidates.right[lines], score[lines]
    csls = 2 * own - _mean_of_nearest(left, own, n)[left] - _mean_of_nearest(right, own, n)[right]
    first, lead = _leads(left, csls)
    other, back = _leads(right, csls)
    best, here, there = np.intersect1d(first, other, assume_unique=True, return_indices=True)
    return best + lines.start, np.minimum(lead[here], back[there])


def _mean_of_nearest(node: Ints, score: Floats, n: int) -> Floats:
    """Return the mean of the `NEAREST` best scores of each node [n]."""
    order = np.lexsort((-score, node))
    first, count = groups(node[order])
    place = np.arange(len(order)) - np.repeat(first, count)
    near = order[place < NEAREST]
    count = np.bincount(node[near], minlength=n)
    found: Floats = np.bincount(node[near], score[near], n) / np.maximum(count, 1)
    return found


def _leads(node: Ints, score: Floats) -> tuple[Ints, Floats]:
    """Return the best line of each node, and how far it is ahead of the second; 0 where there is none."""
    order = np.argsort(node, kind="stable")
    own = score[order]
    first, count = groups(node[order])
    segment = np.repeat(np.arange(len(first)), count)
    at = np.flatnonzero(own == np.maximum.reduceat(own, first)[segment])
    best = at[np.unique(segment[at], return_index=True)[1]]  # of equal ones the first
    highest = own[best]
    own[best] = -np.inf
    second = np.maximum.reduceat(own, first)
    return order[best], np.where(count > 1, highest - second, 0.0)


def _weights(lead: Floats) -> Floats:
    from scipy.stats import rankdata

    if not len(lead):
        return lead
    found: Floats = LEAST + (1 - LEAST) * (rankdata(lead) - 0.5) / len(lead)
    return found


def same_pairs(nodes: Nodes) -> Pairs:
    """Return the pairs of nodes of one item in two languages, each counting 1."""
    order = np.lexsort((nodes.language, nodes.item))
    item = nodes.item[order]
    found: list[tuple[Ints, Ints]] = []
    for step in range(1, len(nodes.languages)):
        lines = np.flatnonzero(item[:-step] == item[step:]) if step < len(item) else np.zeros(0, np.int64)
        if not len(lines):
            break
        found.append((order[lines], order[lines + step]))
    if not found:
        return NO_PAIRS
    left, right = (np.concatenate([part[side] for part in found]) for side in (0, 1))
    return Pairs(left, right, np.ones(len(left)))
