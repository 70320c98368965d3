"""Choosing a map without labels: by the ranks of image pairs of items that it was not fitted on.

Each map finds held-out pairs of its own, by images and its texts together; a pair counts by how many maps
find it, so that none is judged by what it alone believes. A map must be better than none by more than chance
has it, on these pairs and on those that images find without any text: maps that only agree with their own
texts, as they do where images say nothing, fail the second. And texts of image pairs must be nearer under it
than the same texts paired at random, or images say nothing of these texts. Of those that pass the best is
chosen, by what images alone say above all; else the encoder stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from xlingual.align.fit import CCA, CENTRE, NONE, Options, Settings, applied, fit
from xlingual.align.nodes import Nodes
from xlingual.align.pairs import NO_PAIRS, Alike, Pairs, alike, near_pairs, same_pairs
from xlingual.arrays import Floats, Ints, Vectors
from xlingual.ranking import CPU, Ranker
from xlingual.streams import stream
from xlingual.transforms.affine import unit_rows

FOLDS = 3
MARGIN = 1.5  # standard errors by which a map must be better than none
IMAGE_WEIGHT = 4.0  # of what images alone say, in the order of maps that help (docs/results/pivot.md)
RELATED = 3.0  # standard errors by which texts of image pairs must be nearer than texts paired at random
DRAWS = 10  # of random pairs
MOST = 2_000  # nodes of a language that the choice looks at
PLAIN = Settings(NONE)
CANDIDATES = (
    PLAIN,
    Settings(CENTRE),
    *(Settings("ridge", penalty) for penalty in (0.005, 0.02, 0.1, 0.5)),
    *(Settings("procrustes", penalty) for penalty in (0.0, 0.005, 0.02, 0.1)),
    *(Settings(CCA, shrink) for shrink in (0.8, 0.95)),
)
CCA_DIMS = 1024  # of all languages together: above it canonical correlations take too long to be tried
_TIE = 1e-6  # cosines in float32 that are no further apart are equal
_CELLS = 1 << 24  # of a block of scores
Falls: TypeAlias = tuple[Floats, Floats, Ints]  # of each map and pair [maps, p], votes [p], items [p]


@dataclass(frozen=True)
class Tried:
    """A map that was tried: how far it lowers the mean log rank of held-out pairs, and the standard error.

    The same of the pairs that images find without any text: `image_fall` and `image_error`. `related` is how
    far their log rank is below that of the same texts paired at random, in standard errors: where images say
    nothing of the texts it is about 0, whatever the map.
    """

    settings: Settings
    fall: float
    standard_error: float
    pairs: int
    image_fall: float = 0.0
    image_error: float = 0.0
    related: float = 0.0

    @property
    def helps(self) -> bool:
        """Whether it is better than none by more than chance has it, on both kinds of pairs."""
        by_all = self.fall > MARGIN * self.standard_error > 0
        by_images = self.image_fall > MARGIN * self.image_error > 0
        return by_all and by_images and self.related > RELATED

    @property
    def score(self) -> float:
        """What maps that help are ordered by."""
        return self.fall + IMAGE_WEIGHT * self.image_fall


def choose(
    nodes: Nodes,
    candidates: Alike,
    options: Options,
    tried: Sequence[Settings] = CANDIDATES,
    progress: Callable[[int, int], None] | None = None,
    ranker: Ranker = CPU,
) -> list[Tried]:
    """Return how all settings do on items held out: those that help, the best first, `PLAIN`, the others.

    Of more than `MOST` nodes of a language a sample is looked at, whose images `ranker` searches anew.
    """
    wanted = list(dict.fromkeys([PLAIN, *affordable(tried, nodes.dim * len(np.unique(nodes.language)))]))
    looked = _drawn(nodes, options.seed)
    if not looked.all():
        nodes = nodes.take(np.flatnonzero(looked))
        candidates = alike(nodes, ranker=ranker)
    fold = folds(nodes, options.seed)
    all_falls: list[tuple[Falls, Falls, Falls]] = []
    for number in range(FOLDS):
        rest = part_of(nodes, candidates, fold != number)
        held = part_of(nodes, candidates, fold == number)

        def report(done: int, number: int = number) -> None:
            if progress is not None:
                progress(number * len(wanted) + done, FOLDS * len(wanted))

        all_falls.append(_falls_of(rest, held, wanted, options, report))
    votes, alone, random = (_judged(falls) for falls in zip(*all_falls, strict=True))
    found = [
        Tried(
            *(one, votes.fall[place], votes.error[place], votes.pairs),
            *(alone.fall[place], alone.error[place], random.ratio(place)),
        )
        for place, one in enumerate(wanted)
    ]
    return sorted(found, key=lambda one: (not one.helps, one.settings != PLAIN, -one.score))


def affordable(tried: Sequence[Settings], dims: int) -> list[Settings]:
    """Return what is tried on vectors of so many dimensions, of all languages together.

    Canonical correlations take too long above `CCA_DIMS`; where they alone are asked for, they stay.
    """
    if dims <= CCA_DIMS or {one.kind for one in tried} == {CCA}:
        return list(tried)
    return [one for one in tried if one.kind != CCA]


def _drawn(nodes: Nodes, seed: int) -> np.ndarray:
    """Return whether each node is looked at, bool [n]: whole items, `MOST` nodes of a language at most."""
    _, place = np.unique(nodes.fold, return_inverse=True)
    order = stream(seed, "pivot sample").permutation(int(place.max()) + 1)[place]
    chosen = np.zeros(len(nodes), dtype=bool)
    limit = np.inf
    for code in np.unique(nodes.language):
        own = np.sort(order[nodes.of(int(code))])
        if len(own) > MOST:
            limit = min(limit, own[MOST])
    chosen[order < limit] = True
    return chosen


def folds(nodes: Nodes, seed: int) -> Ints:
    """Return the fold of each node [n]; items that belong together are in one."""
    _, place = np.unique(nodes.fold, return_inverse=True)
    order = stream(seed, "pivot folds").permutation(int(place.max()) + 1)
    found: Ints = (order % FOLDS)[place]
    return found


def part_of(nodes: Nodes, candidates: Alike, chosen: np.ndarray) -> tuple[Nodes, Alike]:
    """Return the chosen nodes, bool [n], and the candidates among them, numbered anew."""
    rows = np.flatnonzero(chosen)
    place = np.full(len(nodes), -1)
    place[rows] = np.arange(len(rows))
    inside = candidates.within(chosen)
    return nodes.take(rows), Alike(place[inside.left], place[inside.right], inside.image)


def _falls_of(
    rest: tuple[Nodes, Alike],
    held: tuple[Nodes, Alike],
    wanted: Sequence[Settings],
    options: Options,
    report: Callable[[int], None],
) -> tuple[Falls, Falls, Falls]:
    """Return how far each map lowers the log rank of held-out pairs: of all, and of those without texts.

    The third is how far it is, for those without texts, below that of their texts paired at random.
    """
    nodes, candidates = held
    texts: list[Vectors] = []
    found: list[Pairs] = []
    for done, settings in enumerate(wanted):
        map = fit(*rest, settings, options).map
        texts.append(unit_rows(applied(nodes, map)))
        found.append(near_pairs(nodes, candidates, texts[-1]) if options.near else NO_PAIRS)
        report(done + 1)
    known = same_pairs(nodes) if options.same else NO_PAIRS
    alone = (near_pairs(nodes, candidates) if options.near else NO_PAIRS).and_(known)
    pairs = NO_PAIRS
    for each in found:
        pairs = pairs.and_(each).and_(known)
    random = _below_random(nodes, texts, alone, options.seed)
    return _falls(nodes, texts, pairs), _falls(nodes, texts, alone), random


def _below_random(nodes: Nodes, texts: Sequence[Vectors], pairs: Pairs, seed: int) -> Falls:
    """Return how far the log rank of each pair is below the mean of random pairs of the same texts."""
    rng = stream(seed, "pivot random pairs")
    own = np.arange(len(pairs))
    drawn = np.tile(own, (DRAWS, 1))  # the pair whose right node each left node gets
    code = nodes.language[pairs.left] * len(nodes.languages) + nodes.language[pairs.right]
    for each in drawn:
        for language in np.unique(code):
            lines = np.flatnonzero(code == language)
            each[lines] = rng.permutation(lines)
    gets, got_by = np.vstack([own, drawn]), np.vstack([own, np.argsort(drawn, axis=1)])
    found = []
    for text in texts:
        there = _log_places(nodes, text, pairs.left, pairs.right[gets])
        back = _log_places(nodes, text, pairs.right, pairs.left[got_by])
        total = (there + np.take_along_axis(back, gets, axis=1)) / 2
        found.append(total[1:].mean(axis=0) - total[0])
    return np.stack(found), np.ones(len(pairs)), nodes.fold[pairs.left]


def _falls(nodes: Nodes, texts: Sequence[Vectors], pairs: Pairs) -> Falls:
    """Return how far each map lowers the log rank of each distinct pair, its votes, and its item."""
    key, first, votes = np.unique(
        pairs.left * len(nodes) + pairs.right, return_index=True, return_counts=True
    )
    distinct = Pairs(pairs.left[first], pairs.right[first], np.ones(len(key)))
    ranks = np.stack([log_ranks(nodes, text, distinct) for text in texts])
    return ranks[0] - ranks, votes.astype(np.float64), nodes.fold[distinct.left]


def log_ranks(nodes: Nodes, text: Vectors, pairs: Pairs) -> Floats:
    """Return the mean, both ways, of the log rank of each pair's texts among all others of their language.

    `text` [n, d] has unit rows. Texts of the own item are not counted; ties share their places.
    """
    there = _log_places(nodes, text, pairs.left, pairs.right[None])
    back = _log_places(nodes, text, pairs.right, pairs.left[None])
    found: Floats = (there[0] + back[0]) / 2
    return found


def _log_places(nodes: Nodes, text: Vectors, source: Ints, targets: Ints) -> Floats:
    """Return the log rank of each target [t, p] for its source [p]; all t of one are of one language."""
    found = np.zeros(targets.shape)
    language = nodes.language[targets[0]]
    for code in np.unique(language):
        pool = nodes.of(int(code))
        lines = np.flatnonzero(language == code)
        step = max(1, _CELLS // len(pool))
        for start in range(0, len(lines), step):
            piece = lines[start : start + step]
            asked, item = text[source[piece]], nodes.item[source[piece]]
            scores = asked @ text[pool].T
            scores[nodes.item[pool] == item[:, None]] = -np.inf
            for place, target in enumerate(targets[:, piece]):
                away = scores - np.einsum("nd,nd->n", asked, text[target])[:, None]
                above, tied = (away > _TIE).sum(axis=1), (np.abs(away) <= _TIE).sum(axis=1)
                counted = nodes.item[target] != item  # the target itself, among the tied
                found[place, piece] = np.log1p(above + np.maximum(tied - counted, 0) / 2)
    return found


class _Judged(NamedTuple):
    """Of each map how far the log rank falls, its standard error over items; and how many pairs say so."""

    fall: list[float]
    error: list[float]
    pairs: int

    def ratio(self, place: int) -> float:
        """Return the fall of a map in standard errors; 0 where there are none."""
        return self.fall[place] / self.error[place] if self.error[place] > 0 else 0.0


def _judged(falls: Sequence[Falls]) -> _Judged:
    """Return the mean falls over all folds, weighted by votes."""
    fall, votes, group = (np.concatenate(each, axis=-1) for each in zip(*falls, strict=True))
    if not len(votes):
        return _Judged([0.0] * len(fall), [0.0] * len(fall), 0)
    weight = votes / votes.sum()
    means = fall @ weight
    _, place = np.unique(group, return_inverse=True)
    many = int(place.max()) + 1
    errors = []
    for own, mean in zip(fall, means, strict=True):
        residual = np.bincount(place, weight * (own - mean))
        errors.append(float(np.sqrt(residual @ residual * many / (many - 1))) if many > 1 else 0.0)
    return _Judged([float(mean) for mean in means], errors, len(votes))
