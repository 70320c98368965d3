"""The distinct sentences of all files, which pairs they make, and which pairs hang together through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.data.sentence_pairs import SentencePairs
from xlingual.records import Floats, Ints, Texts

_BLOCK = 4096
DECIMALS = 9  # scores that are equal to so many are tied


@dataclass(frozen=True)
class Sentences:
    """Each text once; of every file which texts its pairs hold, and the clusters of its pairs.

    Pairs that share a sentence are in one cluster, also through other pairs and over files.
    """

    texts: Texts
    pairs: tuple[tuple[Ints, Ints], ...]  # by file: both sentences [n], as indices into `texts`
    cluster: tuple[Ints, ...]  # by file [n]; one name space

    @classmethod
    def of(cls, files: Sequence[SentencePairs], language: str) -> Sentences:
        """Return the texts of all files, numbered in the order of their first appearance."""
        number: dict[str, int] = {}
        ids: list[str] = []
        pairs = []
        for file in files:
            sides = []
            for place, side in ((1, file.first), (2, file.second)):
                for row, text in zip(file.ids, side, strict=True):
                    if text not in number:
                        number[text] = len(number)
                        ids.append(f"{file.name}/{row}/{place}")
                sides.append(np.array([number[text] for text in side], dtype=np.int64))
            pairs.append((sides[0], sides[1]))
        texts = Texts(text=list(number), language=[language] * len(number), ids=ids)
        return cls(texts, tuple(pairs), _clusters(pairs, len(number)))

    def batch(self, files: Sequence[int]) -> tuple[Texts, Ints]:
        """Return the texts of some files, each once, and the place of every text among them (-1: none)."""
        rows = np.unique(np.concatenate([side for file in files for side in self.pairs[file]]))
        position = np.full(len(self.texts), -1, dtype=np.int64)
        position[rows] = np.arange(len(rows))
        return self.texts.take(rows), position

    def groups(self) -> list[list[int]]:
        """Return the files that share sentences, directly or through others, as groups of their numbers."""
        groups: list[tuple[set[int], list[int]]] = []
        for file, cluster in enumerate(self.cluster):
            held, members = set(cluster.tolist()), [file]
            apart = []
            for known, others in groups:
                if known & held:
                    held, members = known | held, others + members
                else:
                    apart.append((known, others))
            groups = [*apart, (held, members)]
        return sorted(sorted(members) for _, members in groups)


def cosines(vectors: np.ndarray, pairs: tuple[Ints, Ints]) -> Floats:
    """Return the cosine [n] of each pair of rows of vectors [m, d], in float64, rounded to 9 decimals.

    A zero vector has cosine 0 to everything.
    """
    first, second = pairs
    out = np.empty(len(first))
    for start in range(0, len(first), _BLOCK):
        part = slice(start, start + _BLOCK)
        a, b = (vectors[side[part]].astype(np.float64) for side in (first, second))
        norms = np.sqrt(np.sum(a * a, axis=1)) * np.sqrt(np.sum(b * b, axis=1))
        out[part] = np.sum(a * b, axis=1) / np.where(norms > 0, norms, 1.0)
    return np.round(out, DECIMALS) + 0.0  # no −0


def _clusters(pairs: Sequence[tuple[Ints, Ints]], n_texts: int) -> tuple[Ints, ...]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second = (np.concatenate(side) for side in zip(*pairs, strict=True))
    links = coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(n_texts, n_texts))
    component = connected_components(links, directed=False)[1].astype(np.int64)
    return tuple(component[one] for one, _ in pairs)
