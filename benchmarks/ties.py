"""Whole evaluations of vectors that tie, or nearly tie, against the same shape without ties.

Backretrieval of 3,000 sources and targets, where texts or images tie, and a multilingual pool of as many
questions and candidates. `python -m benchmarks.ties 10000` takes another number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks import backretrieval, pool
from benchmarks.timed import Job, measure
from benchmarks.vectors import two_languages

N, DIM = 3_000, 256
CLASSES = 20
GOAL = 4.0


def constant(n: int) -> np.ndarray:
    """Make one vector for all."""
    return np.ones((n, DIM), dtype=np.float32)


def collapsed(n: int) -> np.ndarray:
    """Make vectors that are 1e-5 of their length from each other."""
    rng = np.random.default_rng(1)
    return (rng.standard_normal(DIM) + 1e-5 * rng.standard_normal((n, DIM))).astype(np.float32)


def one_hot(n: int) -> np.ndarray:
    """Make vectors of 20 classes, of random lengths."""
    rng = np.random.default_rng(2)
    lengths = rng.uniform(0.5, 2, (n, 1)).astype(np.float32)
    return np.eye(CLASSES, DIM, dtype=np.float32)[rng.integers(0, CLASSES, n)] * lengths


KINDS: tuple[Callable[[int], np.ndarray], ...] = (constant, collapsed, one_hot)


def ways_back(n: int) -> Iterator[Job]:
    """Yield Backretrieval without ties, then with texts and with images that tie."""
    manifest, (texts, images) = two_languages(n), backretrieval.items(n, DIM, DIM)
    sides = {"texts random, images random": (texts, images)}
    for make in KINDS:
        sides[f"texts {make.__name__}"] = make(2 * n), images
        if make is not constant:  # one image for all is refused
            sides[f"images {make.__name__}"] = texts, make(2 * n)
    base = next(iter(sides))
    for name, vectors in sides.items():
        run, check = (
            partial(backretrieval.evaluate, manifest, *vectors),
            partial(backretrieval.check, *vectors),
        )
        yield Job(name, run, base, None if name == base else GOAL, check)


def pools(n: int) -> Iterator[Job]:
    """Yield a pool without ties, then with them."""
    size = n // len(pool.LANGUAGES)
    data, vectors = pool.made(size, (size,) * len(pool.LANGUAGES), DIM)
    kinds = {"pool random": vectors}
    for make in KINDS:
        every = make(2 * len(vectors[0]))
        kinds[f"pool {make.__name__}"] = every[: len(vectors[0])], every[len(vectors[0]) :]
    for name, both in kinds.items():
        run, check = partial(pool.evaluate, data, both), partial(pool.check, data, both)
        yield Job(name, run, "pool random", None if both is vectors else GOAL, check)


def main(n: int = N) -> None:
    """Print the ratio of each kind to vectors without ties."""
    texts, images = backretrieval.items(50, DIM, DIM)
    backretrieval.evaluate(two_languages(50), texts, images)  # so that no import is timed
    small = len(pool.LANGUAGES) * (25,)
    pool.evaluate(*pool.made(20, small, 16))
    measure(f"Backretrieval of {n:,} × {n:,}, {DIM} dimensions", list(ways_back(n)), turns=3)
    measure(f"A pool of {n:,} × {n:,}, {DIM} dimensions", list(pools(n)), turns=3)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:] if word.isdigit()))
