"""Fitting: pairs say which map, and the mapped texts, beside the images, say which pairs.

That is self-learning as Artetxe, Labaka and Agirre have it for words (A robust self-learning method for fully
unsupervised cross-lingual mappings of word embeddings, ACL 2018), with images that start it and stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from xlingual.align.maps import SOLVERS, cca
from xlingual.align.nodes import Nodes
from xlingual.align.pairs import NO_PAIRS, Alike, Pairs, near_pairs, same_pairs
from xlingual.arrays import Floats, Ints, Vectors
from xlingual.transforms.affine import Affine, by_language, unit_rows

NONE, CENTRE, CCA = "none", "centre", "cca"
ROUNDS = 5


@dataclass(frozen=True)
class Settings:
    """What is fitted: the kind of map, how much the identity counts, and how often pairs are found anew."""

    kind: str
    penalty: float = 0.0
    rounds: int = ROUNDS

    @property
    def name(self) -> str:
        """How results call it."""
        return self.kind if self.kind in (NONE, CENTRE) else f"{self.kind}?penalty={self.penalty:g}"


@dataclass(frozen=True)
class Fitted:
    """The map, and the pairs it was fitted on last."""

    map: Affine
    near: Pairs = field(repr=False)


@dataclass(frozen=True)
class Options:
    """What all maps have in common."""

    to: int  # the language that is only centred
    jointly: bool = True  # the others come to each other too, and not to that one alone
    near: bool = True  # pairs of different items are taken
    same: bool = True  # pairs of one item are taken
    seed: int = 0


def fit(nodes: Nodes, candidates: Alike, settings: Settings, options: Options) -> Fitted:
    """Return the map of each language that brings pairs of nodes together.

    `candidates` are those among which near pairs are chosen, in each round anew.
    """
    if settings.kind == NONE:
        return Fitted(Affine.identity(nodes.dim), NO_PAIRS)
    means = language_means(nodes)
    if settings.kind == CENTRE:
        return Fitted(_affine(nodes, means, None), NO_PAIRS)
    centred = unit_rows(nodes.text - means[nodes.language].astype(np.float32))
    seen: Vectors | None = None
    matrices: dict[int, Floats] = {}  # of the last round, from which the next one goes on
    near, same = NO_PAIRS, same_pairs(nodes) if options.same else NO_PAIRS
    for _ in range(settings.rounds if options.near else 1):
        near = near_pairs(nodes, candidates, seen) if options.near else NO_PAIRS
        matrices = _solve(centred, nodes.language, near.and_(same), settings, options, matrices)
        seen = _mapped(centred, np.arange(len(centred)), nodes.language, matrices)
    return Fitted(_affine(nodes, means, matrices), near)


def language_means(nodes: Nodes) -> Floats:
    """Return the mean vector of the texts of each language, float64 [languages, d]; 0 for one without any."""
    found = np.zeros((len(nodes.languages), nodes.dim))
    for code in np.unique(nodes.language):
        found[code] = nodes.text[nodes.of(int(code))].mean(axis=0, dtype=np.float64)
    return found


def _solve(
    x: Vectors,
    language: Ints,
    pairs: Pairs,
    settings: Settings,
    options: Options,
    before: Mapping[int, Floats],
) -> dict[int, Floats]:
    """Return the matrix of each language that has one; the others stay as they are.

    Languages take turns: each is brought to its partners in the others, as these are mapped by then
    (generalised Procrustes analysis, Gower 1975). Without maps of a round `before`, each comes at first to
    those that are there already.
    """
    if not len(pairs):
        return {}
    if settings.kind == CCA:
        return cca(x.astype(np.float64), language, pairs.left, pairs.right, pairs.weight, settings.penalty)
    solver = SOLVERS[settings.kind]
    start, end = np.concatenate([pairs.left, pairs.right]), np.concatenate([pairs.right, pairs.left])
    weight = np.concatenate([pairs.weight, pairs.weight])
    tags = _nearest_first(language[start], language[end], options.to)
    matrices = dict(before)

    def bring(code: int, to: Sequence[int] | None) -> None:
        lines = language[start] == code
        lines = np.flatnonzero(lines if to is None else lines & np.isin(language[end], to))
        if len(lines):
            y = _mapped(x, end[lines], language, matrices)
            own = x[start[lines]].astype(np.float64)
            matrices[code] = solver(own, y.astype(np.float64), weight[lines], settings.penalty)

    if not before or not options.jointly:
        for code in tags:
            bring(code, [options.to, *matrices] if options.jointly else [options.to])
    if options.jointly and (before or len(tags) > 1):
        for code in tags:
            bring(code, None)
    return matrices


def _nearest_first(own: Ints, other: Ints, to: int) -> list[int]:
    """Return the languages but `to`, those with the most pairs with it first."""
    count = np.bincount(own[other == to], minlength=int(own.max()) + 1)
    return sorted((int(code) for code in np.unique(own) if code != to), key=lambda code: -count[code])


def _mapped(x: Vectors, nodes: Ints, language: Ints, matrices: Mapping[int, Floats]) -> Vectors:
    """Return the vectors of some nodes through the matrices of their languages."""
    found = x[nodes]
    for code, matrix in matrices.items():
        lines = np.flatnonzero(language[nodes] == code)
        found[lines] = found[lines] @ matrix.astype(np.float32)
    return found


def _affine(nodes: Nodes, means: Floats, matrices: Mapping[int, Floats] | None) -> Affine:
    maps: dict[str, tuple[Floats | None, Floats]] = {}
    for code, tag in enumerate(nodes.languages):
        if matrices is None:
            maps[tag] = None, -means[code]
        else:
            matrix = matrices.get(code, np.eye(nodes.dim))  # of a language without pairs
            maps[tag] = matrix, -means[code] @ matrix
    return by_language(maps)


def applied(nodes: Nodes, map: Affine) -> Vectors:
    """Return the vectors [n, e] of the nodes' texts through a map."""
    return map.apply(nodes.text, tags(nodes))


def tags(nodes: Nodes) -> Sequence[str]:
    """Return the language of each node."""
    return [nodes.languages[code] for code in nodes.language]
