"""Whether there are enough texts to train Triplet or TripletXL on."""

from __future__ import annotations

import warnings

import numpy as np

from xlingual.errors import DataWarning, InputError, listed
from xlingual.training.recipes.text_pairs import TextPairs
from xlingual.training.recipes.triplet_options import TripletOptions


def check_pairs(pairs: TextPairs, options: TripletOptions) -> None:
    """Raise InputError where nothing can be contrasted, or neighbours are wanted that there are not."""
    if len(np.unique(pairs.item)) < 2:
        what = "the one text to train on is" if len(pairs) == 1 else f"all {len(pairs)} texts to train on are"
        raise InputError(f"{what} about one item: there is no other title to contrast with")
    if options.beta > 0:
        _check_neighbours(pairs, options)


def _check_neighbours(pairs: TextPairs, options: TripletOptions) -> None:
    k, languages = options.neighbours, pairs.languages
    if len(languages) < 2:
        raise InputError(
            "triplet-xl compares neighbours across languages, and all texts to train on are in "
            f"{languages[0]}: train triplet, or give texts in more languages"
        )
    items = {tag: len(np.unique(pairs.item[pairs.language == code])) for code, tag in enumerate(languages)}
    few = [tag for tag, count in items.items() if count <= k]
    if few:
        raise InputError(
            f"{few[0]!r} has {items[few[0]]} items to train on, too few for {k} neighbours beside an item's "
            f"own: give more than {k}, or fewer --neighbours, or leave the language out"
        )
    if options.neighbours_from != "batch":
        return
    size = min(options.batch, len(pairs))
    rare = {tag: size * count / len(pairs) for tag, count in pairs.counts().items()}
    rare = {tag: mean for tag, mean in rare.items() if mean <= k}
    if rare:
        each = listed((f"{tag} {mean:.1f}" for tag, mean in rare.items()), 20)
        warnings.warn(
            f"a batch of {size} has on average fewer texts of some languages ({each}) than {k} neighbours "
            "beside an item's own: they are often left out of the neighbour term; choose a larger --batch, "
            "fewer --neighbours, or --neighbours-from index",
            DataWarning,
            stacklevel=4,
        )
