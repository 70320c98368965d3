"""Does Backretrieval keep the order of encoders? Section 2 of the paper, in simulated worlds.

`python -m benchmarks order_simulated` draws worlds whose truth is known: items with a meaning, an image of
it, and encoders of rising noise. One property at a time is varied: hubs, image quality, pool size, K,
encoders that know what images look like, encoders that match exactly. Printed is how often two encoders that
differ in true retrieval (XLR) come in the same order by BkR, and by SIM, which has no way back. Last, the
bound on a wrong order is put beside the frequency of one. What the assumptions are: docs/results/order.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from scipy.stats import norm, spearmanr

from benchmarks.blind_spots import Source, by_core, unit
from benchmarks.experiments import table
from xlingual import Manifest

REPEATS = int(os.environ.get("REPEATS", "20"))
ENCODERS, NOISES = (
    16,
    (0.3, 3.0),
)  # noise beside the meaning, from the best encoder to the worst
MEANING, LOOK, NOISE, TOPICS = 24, 16, 96, 40  # dimensions; topics that meanings gather around
LOOKS = 1.5  # how much more an image's look is in its vector than its meaning
COMMON, HUB_SHARE = 2.0, 0.005  # component that all text vectors share; share of targets that are hubs
DIFFER = 0.05  # pairs of encoders are counted where their XLR differs by so much


@dataclass(frozen=True)
class World:
    """What is varied; the defaults are the world that the paper's argument assumes."""

    n: int = 1000  # queries, and as many targets
    k: int = 10
    image_noise: float = 1.0  # beside the meaning; infinite: images say nothing about texts
    hubs: float = 0.0  # strongest hubs; each encoder's own strength lies evenly between 0 and this
    average_hubs: bool = False  # hubs have the image that is most like all others, not one of their own
    look: float = 0.0  # how much of an image's look, beyond meaning, the encoder that knows most of it knows
    exact: float = (
        0.0  # how much of an item's identity, without neighbours, the encoder that knows most knows
    )


@dataclass
class Judged:
    """Measures of the encoders of one repeat, arrays [encoders]; `hits` is [encoders, queries]."""

    xlr1: np.ndarray
    xlr10: np.ndarray
    bkr: np.ndarray
    sim: np.ndarray
    largest: np.ndarray  # share of the queries that retrieve the most retrieved target
    hits: np.ndarray
    perfect: float = field(default=0.0)  # BkR where the target nearest in meaning is retrieved


def gaussian(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    """Return random directions of length 1 [n, dim]."""
    return unit(rng.standard_normal((n, dim)))


def strengths(seed: int) -> np.ndarray:
    """Return how much of a property each encoder has, in [0, 1]: independent of how good it is."""
    return np.random.default_rng(seed).permutation(np.linspace(0, 1, ENCODERS))


def images_of(world: World, meaning: np.ndarray, look: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return image vectors: meaning, look, and noise; an infinite noise leaves noise alone."""
    noise = gaussian(rng, len(meaning), MEANING + LOOK)
    if np.isinf(world.image_noise):
        return noise
    return unit(np.hstack([meaning, LOOKS * look]) + world.image_noise * noise)


def text_vectors(parts: list[np.ndarray], hub: np.ndarray, strength: float) -> np.ndarray:
    """Return text vectors of length 1; a hub loses its own content and keeps what all texts share."""
    content = unit(np.hstack(parts))
    content = np.where(hub[:, None], (1 - strength) * content, content)
    return unit(np.hstack([content, np.full((len(content), 1), COMMON)]))


def encoded(
    world: World, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield (images, targets nearest in meaning [n], source vectors, target vectors) of each encoder.

    Images and vectors have a row for each of the 2n items; the first n are the queries, the others the
    targets of Backretrieval.
    """
    items = 2 * world.n
    topic = gaussian(rng, TOPICS, MEANING)[rng.integers(TOPICS, size=items)]
    meaning = unit(topic + gaussian(rng, items, MEANING))
    look, identity = gaussian(rng, items, LOOK), gaussian(rng, items, LOOK)
    images = images_of(world, meaning, look, rng)
    hub = rng.random(items) < HUB_SHARE
    if world.average_hubs:
        images[hub] = images[np.argmax(images @ images.mean(axis=0))] + 1e-6 * gaussian(
            rng, int(hub.sum()), images.shape[1]
        )
    nearest = (meaning[: world.n] @ meaning[world.n :].T).argmax(axis=1)
    nobody = np.zeros(items, dtype=bool)
    pulls, looks, exacts = (
        size * strengths(seed) for seed, size in enumerate((world.hubs, world.look, world.exact))
    )
    noises = np.geomspace(*NOISES, ENCODERS)
    for noise, pull, sees, matches in zip(noises, pulls, looks, exacts, strict=True):
        source, target = (
            [
                (1 - sees) * (1 - matches) * meaning,
                noise * gaussian(rng, items, NOISE),
                sees * look,
                matches * identity,
            ]
            for _ in range(2)
        )
        yield images, nearest, text_vectors(source, nobody, 0), text_vectors(target, hub, pull)


def judge(world: World, rng: np.random.Generator) -> Judged:
    """Return the measures of all encoders of one world drawn anew."""
    n = world.n
    rows: list[tuple[float, float, float, float, float]] = []
    hits, back, perfect = [], np.empty(0), 0.0
    for images, nearest, source, target in encoded(world, rng):
        if not len(back):
            back = images[n:] @ images[:n].T  # [target, query]: the way back, the same for every encoder
            reached = (-back).argsort(axis=1).argsort(axis=1) < world.k  # [target, query]
            perfect = float(reached[nearest, np.arange(n)].mean())
        found = (source[:n] @ target[n:].T).argmax(axis=1)
        true = source[:n] @ target[:n].T
        above = (true > np.diag(true)[:, None]).sum(axis=1)
        hit = reached[found, np.arange(n)]
        largest = np.bincount(found).max() / n
        rows.append(
            ((above < 1).mean(), (above < 10).mean(), hit.mean(), back[found, np.arange(n)].mean(), largest)
        )
        hits.append(hit)
    return Judged(*np.array(rows).T, hits=np.array(hits), perfect=perfect)


def kept(truth: np.ndarray, measure: np.ndarray) -> float:
    """Return the share of pairs that differ by `DIFFER` in truth and that the measure orders alike."""
    pairs = [(a, b) for a, b in combinations(range(ENCODERS), 2) if abs(truth[a] - truth[b]) >= DIFFER]
    if not pairs:
        return float("nan")
    return float(np.mean([(truth[a] - truth[b]) * (measure[a] - measure[b]) > 0 for a, b in pairs]))


def summary(world: World) -> list[str]:
    """Return the cells of a world's row: means over repeats."""
    found = [judge(world, np.random.default_rng([seed, world.n])) for seed in range(REPEATS)]
    cells = [
        f"{np.mean([one.perfect for one in found]):.3f}",
        f"{np.mean([one.largest.max() for one in found]):.3f}",
    ]
    for name in ("bkr", "sim"):
        for truth in ("xlr1", "xlr10"):
            values = [kept(getattr(one, truth), getattr(one, name)) for one in found]
            cells.append(f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / np.sqrt(REPEATS):.3f}")
    for truth in ("xlr1", "xlr10"):
        agreed = [
            spearmanr(getattr(one, truth), one.bkr).statistic if np.ptp(one.bkr) else 0 for one in found
        ]
        cells.append(f"{np.mean(agreed):.3f}")
    return cells


BASE = World()
SWEEPS: dict[str, list[tuple[str, World]]] = {
    "Hubs with images of their own, by strength": [
        (f"{s:g}", replace(BASE, hubs=s)) for s in (0, 0.25, 0.5, 0.75, 0.9)
    ],
    "Hubs with the most average image, by strength": [
        (f"{s:g}", replace(BASE, hubs=s, average_hubs=True)) for s in (0, 0.25, 0.5, 0.75, 0.9)
    ],
    "Image noise": [(f"{s:g}", replace(BASE, image_noise=s)) for s in (0, 0.5, 1, 2, 4, 8, 16, np.inf)],
    "Pool size n": [(f"{n}", replace(BASE, n=n)) for n in (50, 100, 250, 500, 1000, 2000, 4000)],
    "K": [(f"{k}", replace(BASE, k=k)) for k in (1, 5, 10, 50, 100, 300)],
    "Encoders that know looks (A2 fails), by how much": [
        (f"{s:g}", replace(BASE, look=s)) for s in (0, 0.25, 0.5, 0.75, 1)
    ],
    "Encoders that match exactly (A3 fails), by how much": [
        (f"{s:g}", replace(BASE, exact=s)) for s in (0, 0.25, 0.5, 0.75, 1)
    ],
}
HEAD = [
    *("nearest meaning", "largest hub", "BkR, XLR@1", "BkR, XLR@10", "SIM, XLR@1", "SIM, XLR@10"),
    *("ρ(BkR, XLR@1)", "ρ(BkR, XLR@10)"),
]


def bound(world: World) -> list[list[str]]:
    """Return how often the order is wrong, beside the bound exp(−nδ²/2) and the normal approximation."""
    found = [judge(world, np.random.default_rng([100 + seed, world.n])) for seed in range(4 * REPEATS)]
    expected = np.mean([one.bkr for one in found], axis=0)
    rows: dict[float, list[tuple[float, float, float]]] = {}
    edges = (0, 0.01, 0.02, 0.04, 0.08, 0.16)
    for a, b in combinations(range(ENCODERS), 2):
        delta = abs(expected[a] - expected[b])
        sign = np.sign(expected[a] - expected[b])
        wrong = np.mean([(one.bkr[a] - one.bkr[b]) * sign <= 0 for one in found])
        spread = np.mean([np.var(one.hits[a].astype(float) - one.hits[b]) for one in found])
        normal = norm.sf(delta * np.sqrt(world.n / spread))
        low = max(edge for edge in edges if edge <= delta)
        rows.setdefault(low, []).append((wrong, normal, np.exp(-world.n * delta**2 / 2)))
    out = []
    for low in sorted(rows):
        wrong, normal, hoeffding = np.mean(rows[low], axis=0)
        assert wrong <= hoeffding + 1e-9, (low, wrong, hoeffding)
        high = next((f" to {edge:g}" for edge in edges if edge > low), " and more")
        out.append(
            [f"{low:g}{high}", f"{len(rows[low])}", f"{wrong:.3f}", f"{normal:.3f}", f"{hoeffding:.3f}"]
        )
    return out


def agrees_with_the_program(world: World) -> None:
    """Assert that the program measures the same, but for a query whose rank float32 may change."""
    drawn = list(encoded(world, np.random.default_rng([0, world.n])))
    expected = judge(world, np.random.default_rng([0, world.n]))
    rows = [
        {"id": str(i), "image": f"{i}.png", "text_en": f"e{i}", "text_de": f"d{i}"}
        for i in range(2 * world.n)
    ]
    samples = {"S": np.arange(world.n)[None], "T": np.arange(world.n, 2 * world.n)[None]}
    source = Source("world", Manifest.from_rows(rows), ("en", "de"), drawn[0][0], {}, samples)
    found = by_core(source, {f"e{i}": {"en": one[2], "de": one[3]} for i, one in enumerate(drawn)})
    for label, values in {
        "BkR R@10": expected.bkr,
        "XLR R@1": expected.xlr1,
        "XLR R@10": expected.xlr10,
    }.items():
        by_program = np.array([found[f"e{i}"][label][0] for i in range(ENCODERS)])
        assert np.abs(by_program - values).max() < 1.5 / world.n, (label, by_program, values)


def main() -> None:
    """Print a table for each property that is varied, and one for the bound."""
    agrees_with_the_program(replace(BASE, n=300, hubs=0.9, look=1.0))
    for title, worlds in SWEEPS.items():
        table(title, [["", *HEAD], *([label, *summary(world)] for label, world in worlds)])
    head = ["difference of BkR", "pairs", "order wrong", "normal", "bound"]
    for n in (250, 1000):
        table(f"Wrong orders, n = {n}, {4 * REPEATS} worlds", [head, *bound(replace(BASE, n=n))])


if __name__ == "__main__":
    main()
