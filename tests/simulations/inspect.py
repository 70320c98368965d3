"""How often `inspect` lists a slice where features say nothing, and how often it finds a planted one.

It makes 1,000 data sets of two kinds: all features drawn at random, with
values that items, languages and hubs make dependent; and the features that real texts and images of emoji
have, with such values on top. It asserts that a list comes out in at most 6.7 % of them, which is 5 % within
the error of 1,000 simulations. Then a part of the texts is damaged: it must stand first in the list.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from xlingual import DataWarning, Manifest
from xlingual.inspection.features import features_of
from xlingual.inspection.slices import Feature, Search, Values, find_slices

MOST = 0.067  # of 1,000 simulations at .05: more is no accident (99 %)
ITEMS, LANGUAGES = 400, 2
LABELS = (8, 5, 3, 12, 2, 6, 4, 4)  # of the features; every other one is of items, the rest of texts
PLANTED = 50
DAMAGES = (0.4, 0.6, 0.8)  # share of the answered queries of the part that fail
DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))


def values_of(rng: np.random.Generator, item: np.ndarray, language: np.ndarray) -> Values:
    """Return hits that items, hubs and languages make dependent, and nothing else."""
    n = int(item.max()) + 1
    easy = rng.normal(size=n)
    hub = rng.integers(0, max(n // 40, 1), n)  # items of one topic that one text takes together
    taken = rng.random(hub.max() + 1) < 0.15
    chance = 1 / (1 + np.exp(-(0.4 + 1.2 * easy[item] - 0.7 * language)))
    hit = (rng.random(len(item)) < chance) & ~(taken[hub[item]] & (rng.random(len(item)) < 0.8))
    return _of_hits(hit.astype(float), item, language)


def _of_hits(hit: np.ndarray, item: np.ndarray, language: np.ndarray) -> Values:
    mean = np.bincount(language, hit) / np.bincount(language)
    return Values(hit, hit - mean[language], item, language)


def drawn(rng: np.random.Generator) -> tuple[list[Feature], np.ndarray, np.ndarray]:
    """Return features without meaning, and the items and languages of texts."""
    item, language = np.repeat(np.arange(ITEMS), LANGUAGES), np.tile(np.arange(LANGUAGES), ITEMS)
    features = []
    for number, n in enumerate(LABELS):
        code = rng.integers(0, n, ITEMS)[item] if number % 2 == 0 else rng.integers(0, n, len(item))
        features.append(Feature(f"f{number}", [str(label) for label in range(n)], code))
    return [*features, Feature("language", ["a", "b"], language, alone=False)], item, language


def emoji() -> tuple[list[Feature], np.ndarray, np.ndarray]:
    """Return the features of English and German names of emoji."""
    data = Manifest.read(
        DATA / "emoji/emoji.parquet", text_column="name_{lang}", image_column="image_png", rows="0:600"
    )
    rows = np.sort(np.concatenate([data.rows_of(tag) for tag in ("en", "de")]))
    language = np.unique(data.language[rows], return_inverse=True)[1]
    return features_of(data, rows), np.unique(data.cluster[rows], return_inverse=True)[1], language


def main(simulations: int = 1000) -> None:
    """Run the simulations, print the shares and assert the bounds."""
    warnings.simplefilter("ignore", DataWarning)
    for name, features in {"features drawn at random": None, "features of emoji": emoji()}.items():
        searches = [_search(features, seed) for seed in range(simulations)]
        share = float(np.mean([bool(search.found) for search in searches]))
        slices = np.mean([search.n_slices for search in searches])
        print(f"{name}: a slice is listed in {share:.1%} of {simulations:,} data sets; {slices:,.0f} slices")
        if simulations >= 1000:
            assert share <= MOST, (name, share)
    for damage in DAMAGES:
        searches = [_damaged(damage, seed) for seed in range(PLANTED)]
        first = sum(bool(s.found) and s.found[0].slice.conditions == (("f0", "3"),) for s in searches)
        listed = np.mean([len(search.found) for search in searches])
        print(
            f"{damage:.0%} of the queries of a slice fail: first in {first} of {PLANTED}, {listed:.2f} listed"
        )


def _search(fixed: tuple[list[Feature], np.ndarray, np.ndarray] | None, seed: int) -> Search:
    """Search slices where features say nothing."""
    rng = np.random.default_rng([seed, 1])
    features, item, language = fixed or drawn(rng)
    return find_slices(values_of(rng, item, language), features, seed=seed)


def _damaged(damage: float, seed: int) -> Search:
    """Search slices where a share of the queries of one slice fails."""
    rng = np.random.default_rng([seed, 2])
    features, item, language = drawn(rng)
    hit = values_of(rng, item, language).value
    inside = features[0].code == 3
    hit = np.where(inside & (rng.random(len(hit)) < damage), 0.0, hit)
    return find_slices(_of_hits(hit, item, language), features, seed=seed)
