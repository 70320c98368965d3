"""Populations with a known truth, from which queries of two systems are drawn; `effect` is a's true lead."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xlingual.stats import Paired

Draw = Callable[..., Paired]  # (rng, effect, times=1): so many times the usual number of queries
TARGETS = 1_000_000  # nodes of what is retrieved begin here: apart from the queries' own


def independent(rng: np.random.Generator, effect: float, times: int = 1) -> Paired:
    """Continuous values, independent queries."""
    n = 100 * times
    hardness, noise = rng.random(n), 0.3 * rng.standard_normal((2, n))
    return _paired(hardness + effect + noise[0], hardness + noise[1], np.arange(n))


def clustered_hits(rng: np.random.Generator, effect: float, times: int = 1) -> Paired:
    """Hits; five queries of a cluster share how hard they are and which system suits them."""
    clusters = 40 * times
    own = np.repeat(np.arange(clusters), 5)
    hardness = rng.uniform(0.2, 0.8, clusters)[own]
    suits = rng.uniform(-0.15, 0.15, (2, clusters))[:, own]
    luck = rng.random((2, len(own)))
    a, b = luck[0] < hardness + suits[0] + effect, luck[1] < hardness + suits[1]
    return _paired(a, b, own)


def clustered_ranks(rng: np.random.Generator, effect: float, times: int = 1) -> Paired:
    """Reciprocal ranks, scaled by a skew hardness that the three queries of a cluster share."""
    clusters = 60 * times
    own = np.repeat(np.arange(clusters), 3)
    scale = np.minimum(rng.exponential(size=clusters), 3)[own] / 3
    ranks = 1 / rng.geometric(0.3, (2, len(own)))
    return _paired(ranks[0] * scale + effect, ranks[1] * scale, own)


def rare_changes(rng: np.random.Generator, effect: float, times: int = 1) -> Paired:
    """Hits of two nearly equal systems: four queries in a hundred differ."""
    n = 300 * times
    change = rng.choice([1.0, -1.0, 0.0], n, p=[0.02 + effect, 0.02, 0.96 - effect])
    both = rng.random(n) < 0.5
    return _paired(np.where(change, change > 0, both), np.where(change, change < 0, both), np.arange(n))


def hubs(rng: np.random.Generator, effect: float, times: int = 1) -> Paired:
    """Hits that depend on the retrieved target; few targets draw many queries, the same for both systems."""
    n, targets = 300 * times, 300
    popularity, quality = rng.gamma(0.3, size=targets), rng.beta(1.5, 2.5, targets)
    found = rng.choice(targets, (2, n), p=popularity / popularity.sum())
    return _retrieved(rng, found, quality, effect)


def own_hubs(rng: np.random.Generator, effect: float, times: int = 1) -> Paired:
    """As `hubs`, with other hubs for each system."""
    n, targets = 300 * times, 300
    popularity = rng.gamma(0.3, size=targets) * rng.gamma(1.0, size=(2, targets))
    quality = rng.beta(1.5, 2.5, targets)
    found = np.stack([rng.choice(targets, n, p=p / p.sum()) for p in popularity])
    return _retrieved(rng, found, quality, effect)


def hubs_and_clusters(rng: np.random.Generator, effect: float, times: int = 1) -> Paired:
    """Continuous values that depend on the query's cluster and on the retrieved target."""
    clusters, targets = 60 * times, 150
    own = np.repeat(np.arange(clusters), 4)
    popularity, quality = rng.gamma(0.5, size=targets), rng.standard_normal(targets)
    found = rng.choice(targets, (2, len(own)), p=popularity / popularity.sum())
    suits = rng.standard_normal((2, clusters))[:, own]
    a, b = rng.standard_normal((2, len(own))) + quality[found] + suits
    return _paired(a + effect, b, own, found)


SIMULATED: dict[str, Draw] = {
    "independent, continuous": independent,
    "clusters of 5, hits": clustered_hits,
    "clusters of 3, reciprocal ranks": clustered_ranks,
    "rare changes, hits": rare_changes,
    "shared hubs, hits": hubs,
    "hubs of each system, hits": own_hubs,
    "hubs and clusters, continuous": hubs_and_clusters,
}
CONTINUOUS = ("independent, continuous", "hubs and clusters, continuous")


def _retrieved(rng: np.random.Generator, found: np.ndarray, quality: np.ndarray, effect: float) -> Paired:
    """Return hits; two queries in five retrieve the same target with both systems."""
    found[1] = np.where(rng.random(found.shape[1]) < 0.4, found[0], found[1])
    chance = 0.9 * quality[found]  # room for the effect
    luck = rng.random(found.shape[1])
    return _paired(luck < chance[0] + effect, luck < chance[1], np.arange(found.shape[1]), found)


def _paired(a: np.ndarray, b: np.ndarray, own: np.ndarray, found: np.ndarray | None = None) -> Paired:
    weight = np.full(len(own), 1 / len(own))
    a, b = a.astype(np.float64), b.astype(np.float64)
    if found is None:
        return Paired(a, b, weight, own)
    return Paired(a, b, weight, own, TARGETS + found[0], TARGETS + found[1])
