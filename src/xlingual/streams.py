"""Named streams of random numbers: a new consumer takes a new name and changes nobody's numbers."""

from __future__ import annotations

import zlib

import numpy as np


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the named random stream of a seed."""
    entropy = np.random.SeedSequence([seed, zlib.crc32(name.encode())])
    return np.random.Generator(np.random.PCG64(entropy))
