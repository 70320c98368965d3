"""What vectors and the languages of their texts say of a transform where no translations are known.

All is read from the k texts nearest to each text, itself left out; ties count by their expectation. Texts
with a zero vector, of which an encoder knows nothing, are to be left out (`known`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.measures.hubness import hubness
from xlingual.ranking import CPU, Ranker, TopK, rows_of, similarity_of, top
from xlingual.transforms.affine import rows_of_each

NEAREST = 10


@dataclass(frozen=True)
class Neighbours:
    """Other texts that may be among the k nearest of each of n, one line for each; parallel arrays [e]."""

    k: int
    n: int
    text: Ints
    other: Ints
    above: Ints  # others that are nearer
    tied: Ints  # that are as near, `other` included

    @property
    def weight(self) -> Floats:
        """The chance to be among the k, under ties at random."""
        share: Floats = np.clip(self.k - self.above, 0, self.tied) / self.tied
        return share


def nearest(vectors: Vectors, k: int = NEAREST, ranker: Ranker = CPU) -> Neighbours:
    """Return the k nearest others, by cosine, of each of n vectors; k is n − 1 where there are fewer."""
    k = min(k, len(vectors) - 1)
    found = _best(vectors, vectors, k + 1, ranker)
    own = np.flatnonzero(found.query == found.candidate)
    place, ties = np.zeros(len(vectors), dtype=np.int64), np.ones(len(vectors), dtype=np.int64)
    place[found.query[own]], ties[found.query[own]] = found.above[own], found.tied[own]
    rest = np.flatnonzero(found.query != found.candidate)
    text, above, tied = found.query[rest], found.above[rest], found.tied[rest]
    further, equal = above > place[text], above == place[text]
    above, tied = above - further, tied - equal
    kept = above < k
    return Neighbours(k, len(vectors), text[kept], found.candidate[rest][kept], above[kept], tied[kept])


def hub_skewness(near: Neighbours) -> float:
    """Return the skewness of N_k, how often each text is among the k nearest of others.

    0 for a symmetric distribution; hubs make it large (`measures.hubness`).
    """
    everyone = np.zeros(near.n, dtype=np.int64)
    found = hubness(
        near.text,
        near.other,
        near.above,
        near.tied,
        k=near.k,
        n_queries=near.n,
        language=everyone,
        n_languages=1,
    )
    return found.skewness


def own_language_share(near: Neighbours, languages: Sequence[str]) -> float:
    """Return the share of a text's own language among its k nearest, over its share of all other texts.

    1 where neighbours are of any language as chance has it; the mean over texts, each language weighing the
    same. Languages with one text are left out.
    """
    code = _codes(languages)
    sizes = np.bincount(code)
    own = np.bincount(near.text, near.weight * (code[near.text] == code[near.other]), near.n) / near.k
    expected = (sizes[code] - 1) / (near.n - 1)
    ratio = np.divide(own, expected, out=np.zeros(near.n), where=expected > 0)
    means = np.bincount(code, ratio) / sizes
    return float(means[sizes > 1].mean())


def within_languages(
    vectors: Vectors, languages: Sequence[str], k: int = NEAREST, ranker: Ranker = CPU
) -> dict[str, Neighbours]:
    """Return for each language with two texts or more the nearest texts of the same language."""
    rows = {tag: own for tag, own in rows_of_each(languages).items() if len(own) > 1}
    return {tag: nearest(vectors[own], k, ranker) for tag, own in rows.items()}


def neighbourhoods_kept(before: dict[str, Neighbours], after: dict[str, Neighbours]) -> float:
    """Return the mean overlap of the k nearest of one language before and after: 1 where all are kept.

    The overlap of two lists is Σ min(chance before, chance after) / k over the texts; the mean is over texts,
    each language weighing the same.
    """
    return float(np.mean([_overlap(before[tag], after[tag]) for tag in before]))


def _overlap(one: Neighbours, other: Neighbours) -> float:
    first, second = _shared(one.text * one.n + one.other, other.text * other.n + other.other)
    return float(np.minimum(one.weight[first], other.weight[second]).sum() / (one.n * one.k))


def mutual_neighbours(vectors: Vectors, languages: Sequence[str], ranker: Ranker = CPU) -> float:
    """Return the share of texts whose nearest in another language has them as its nearest in their own.

    The mean over ordered pairs of languages. Neighbours drawn evenly would give 1/n, n texts in the first.
    """
    rows = rows_of_each(languages)
    best: dict[tuple[str, str], TopK] = {
        (a, b): _best(vectors[rows[a]], vectors[rows[b]], 1, ranker) for a, b in permutations(rows, 2)
    }
    return float(np.mean([_mutual(best[pair], best[pair[::-1]], len(rows[pair[0]])) for pair in best]))


def _mutual(there: TopK, back: TopK, n: int) -> float:
    """Return the expected share of n texts that are the nearest of their nearest."""
    size = int(max(there.candidate.max(), back.query.max())) + 1
    ways = there.query * size + there.candidate, back.candidate * size + back.query
    first, second = _shared(*ways)
    return float(np.sum(1.0 / there.tied[first] / back.tied[second]) / n)


def kept_over_own_share(kept: float, own_share: float) -> float:
    """Return what a choice goes by: neighbourhoods kept, less where a text's own language is preferred.

    Of the criteria in docs/results/label-free.md the one whose choices were never worse than none, where all
    languages were about the same things.
    """
    return kept / max(own_share, 1.0)


def known(vectors: Vectors) -> Ints:
    """Return the rows with a vector other than zero."""
    return np.flatnonzero(np.asarray(vectors).any(axis=1))


def _best(queries: Vectors, candidates: Vectors, k: int, ranker: Ranker) -> TopK:
    (found,) = top(similarity_of(rows_of(queries), rows_of(candidates)), k, ranker=ranker)
    return found


def _shared(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Return where the numbers that both have are in each; no number is twice in one."""
    _, first, second = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return first, second


def _codes(languages: Sequence[str]) -> Ints:
    place: dict[str, int] = {}
    return np.array([place.setdefault(tag, len(place)) for tag in languages], dtype=np.int64)
