"""Random streams with names: draws from one stream never change the numbers of another.

Only `random()` is ever drawn: its bits are part of PCG64 itself, so that a seed keeps its meaning whatever
numpy does to its other distributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np

from xlingual.records import digest

Item = TypeVar("Item")


class Draws(Protocol):
    """Anything that gives numbers in [0, 1): a numpy Generator, or a fixed sequence in a test."""

    def random(self) -> float:
        """Return the next number."""


def stream(seed: int, name: str, index: int) -> np.random.Generator:
    """Return the generator of item `index` in the stream `name` ("scene", "text-de")."""
    number = int.from_bytes(digest(name)[:4], "little")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, number, index])))


def chance(rng: Draws, probability: float) -> bool:
    """Return True with the given probability."""
    return rng.random() < probability


def pick(rng: Draws, options: Sequence[Item]) -> Item:
    """Return one of the options, each as likely as the others."""
    return options[int(rng.random() * len(options))]


def weighted(rng: Draws, options: Sequence[Item], weights: Sequence[float]) -> Item:
    """Return one of the options with probability proportional to its weight."""
    left = rng.random() * sum(weights)
    for option, weight in zip(options, weights, strict=True):
        left -= weight
        if left < 0:
            return option
    return options[-1]


def shuffled(rng: Draws, options: Sequence[Item]) -> list[Item]:
    """Return the options in random order."""
    rest = list(options)
    return [rest.pop(int(rng.random() * len(rest))) for _ in range(len(rest))]
