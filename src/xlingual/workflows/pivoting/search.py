"""Choosing and fitting a map on nodes, with the errors that say what the data lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.align.choose import CANDIDATES, Tried, choose
from xlingual.align.fit import CENTRE, NONE, Fitted, Options, Settings, fit
from xlingual.align.nodes import Nodes
from xlingual.align.oracle import oracle
from xlingual.align.pairs import NO_PAIRS, Alike, Pairs, near_pairs, same_pairs
from xlingual.arrays import Ints
from xlingual.errors import InputError, did_you_mean, parameter
from xlingual.ranking import Ranker
from xlingual.results.pivot import PivotPairs
from xlingual.transforms.affine import Affine, by_language

CHOSEN = "chosen"
FEWEST_PAIRS = 26  # with 25 a run of IKEA lost .098 (docs/results/pivot.md)


def settings_of(map: str, penalty: float | None, rounds: int) -> list[Settings]:
    """Return the settings to try."""
    kinds = [CHOSEN, *dict.fromkeys(one.kind for one in CANDIDATES)]
    if map not in kinds:
        raise InputError(
            f"{parameter('map', map)}: expected one of {', '.join(kinds)}.{did_you_mean(map, kinds)}"
        )
    if penalty is not None and map in (CHOSEN, NONE, CENTRE):
        raise InputError(
            f"{parameter('penalty')} is of ridge, procrustes or cca: name the kind ({parameter('map')})"
        )
    wanted = [one for one in CANDIDATES if map in (CHOSEN, one.kind)]
    if penalty is not None:
        wanted = [Settings(map, penalty)]
    return [one if one.kind in (NONE, CENTRE) else replace(one, rounds=rounds) for one in wanted]


def language_to(to: str | None, nodes: Nodes) -> int:
    """Return the language that is only centred."""
    if to is None:
        return int(np.bincount(nodes.language).argmax())
    known = [nodes.languages[code] for code in np.unique(nodes.language)]
    if to not in known:
        raise InputError(f"{parameter('to', to)}: the texts that it is fitted on are in {', '.join(known)}")
    return nodes.languages.index(to)


@dataclass(frozen=True)
class Best:
    """The map that was chosen, rounded as it is written, and all that were tried."""

    settings: Settings
    fitted: Fitted
    tried: Sequence[Tried]
    same: bool

    @property
    def unchanged(self) -> bool:
        """Whether the encoder stays as it is."""
        return self.settings.kind == NONE

    def pairs(self, nodes: Nodes) -> list[PivotPairs]:
        """Return how many pairs each two languages have, those without any too."""
        many, codes = len(nodes.languages), np.unique(nodes.language).tolist()

        def counted(pairs: Pairs) -> Ints:
            first, last = np.sort(nodes.language[np.stack([pairs.left, pairs.right])], axis=0)
            return np.bincount(first * many + last, minlength=many * many)

        near, same = counted(self.fitted.near), counted(same_pairs(nodes) if self.same else NO_PAIRS)
        return [
            PivotPairs(
                nodes.languages[a], nodes.languages[b], int(near[a * many + b]), int(same[a * many + b])
            )
            for place, a in enumerate(codes)
            for b in codes[place + 1 :]
        ]


def best_of(
    nodes: Nodes,
    candidates: Alike,
    options: Options,
    settings: Sequence[Settings],
    *,
    choice: bool,
    progress: Callable[[int, int], None],
    ranker: Ranker,
) -> Best:
    """Choose among settings and fit the best; without a `choice` the encoder as it is cannot win."""
    tried = choose(nodes, candidates, options, settings, progress, ranker)
    best = next(one.settings for one in tried if choice or one.settings in settings)
    fitted = fit(nodes, candidates, best, options)
    map = _of_languages_of(nodes, fitted.map).rounded()
    return Best(best, replace(fitted, map=map), tried, options.same)


def _of_languages_of(nodes: Nodes, map: Affine) -> Affine:
    """Return the map without languages that it was not fitted on."""
    if map.languages is None:
        return map
    return by_language(
        {nodes.languages[code]: map.of(nodes.languages[code]) for code in np.unique(nodes.language)}
    )


def check(source: str, nodes: Nodes, candidates: Alike, options: Options, image_name: str) -> None:
    """Raise InputError where images say nothing, or the pairs are too few to carry a map."""
    if options.near and len(np.unique(nodes.item)) < 2:
        raise InputError(
            f"image encoder {image_name!r} cannot tell these images apart: all have the same vector: name "
            "another image encoder"
        )
    if options.near:
        seen = oracle(nodes, candidates, options.seed)
        if seen.value - seen.chance < 3 * seen.standard_error:
            raise InputError(
                f"image encoder {image_name!r} cannot tell these images apart: from the nearest image of "
                f"another item only {seen.value:.0%} find the way back among the first 10 (by chance "
                f"{seen.chance:.0%}): name another image encoder"
            )
    near = len(near_pairs(nodes, candidates)) if options.near else 0
    same = len(same_pairs(nodes)) if options.same else 0
    if near + same < FEWEST_PAIRS:
        left_out = f" of one item or image ({parameter('pairs_from', 'same')} leaves out others)"
        kinds = "" if options.near else left_out
        raise InputError(
            f"{source}: {near + same} pairs were found{kinds}, at least {FEWEST_PAIRS} are needed to "
            "fit and choose a map: give more items with images, in all languages"
        )
