"""Whether images can be told apart: the way back from the nearest image of another item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.align.nodes import Nodes
from xlingual.align.pairs import Alike
from xlingual.streams import stream

WITHIN = 10
_LOOKED = 1_000  # nodes of a language


@dataclass(frozen=True)
class Oracle:
    """The share of nodes that find their own image among the first, by chance, and its standard error."""

    value: float
    chance: float
    standard_error: float


def oracle(nodes: Nodes, candidates: Alike, seed: int) -> Oracle:
    """Return it for the two languages with the most candidates; ties share their places.

    From a node to the one with the nearest image in the other language, and from that image to the images of
    the first: is the own among the first ten?
    """
    language = nodes.language
    code = language[candidates.left] * len(nodes.languages) + language[candidates.right]
    if not len(code):
        return Oracle(0.0, 0.0, 1.0)
    lines = np.flatnonzero(code == np.bincount(code).argmax())
    order = lines[np.lexsort((-candidates.image[lines], candidates.left[lines]))]
    _, first = np.unique(candidates.left[order], return_index=True)
    best = order[first]
    rng = stream(seed, "pivot oracle")
    best = rng.permutation(best)[:_LOOKED]
    own, other = candidates.left[best], candidates.right[best]
    image = nodes.image - nodes.image.mean(axis=0)
    length = np.linalg.norm(image, axis=1, keepdims=True)
    image = np.divide(image, length, out=np.zeros_like(image), where=length > 1e-6)
    scores = image[other] @ image[own].T
    at = np.diag(scores)[:, None]
    above, tied = (scores > at + 1e-6).sum(axis=1), (np.abs(scores - at) <= 1e-6).sum(axis=1)
    hits = np.clip((WITHIN - above) / np.maximum(tied, 1), 0, 1)
    chance = min(WITHIN / len(own), 1.0)
    error = float(np.sqrt(max(hits.var(), chance * (1 - chance)) / len(hits)))
    return Oracle(float(hits.mean()), chance, error)
