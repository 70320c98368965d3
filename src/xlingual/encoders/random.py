"""`random:`: vectors that know nothing of the texts; a sound measure gives them exactly chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.scheme import SEED, TEXTS, Context, Option, Scheme, positive
from xlingual.records import Texts, digest

SCHEME = Scheme(
    "random",
    (TEXTS,),
    "random vectors without any knowledge: their 95 % interval contains chance in about 95 of 100 cases",
    __name__,
    options=(Option("dim", positive, 64, "number of dimensions"), SEED),
)


class RandomEncoder(Encoder):
    """A standard normal vector for each (language, text), drawn anew for every seed.

    Equal texts of one language get the same vector, equal texts of two languages do not: names and numbers
    that both languages share are no help. A vector depends on its own text only, never on the batch.
    """

    origin = "surface"

    def __init__(self, dim: int = 64, seed: int = 0) -> None:
        self.dim, self.seed = dim, seed

    @property
    def identity(self) -> str:
        """The number of dimensions and the seed."""
        return f"random:v1?dim={self.dim}&seed={self.seed}"

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, dim]."""
        vectors = np.empty((len(batch), self.dim), dtype=np.float32)
        for row, (language, text) in enumerate(zip(batch.language, batch.text, strict=True)):
            start = np.random.PCG64(int.from_bytes(digest(str(self.seed), language, text), "little"))
            vectors[row] = np.random.Generator(start).standard_normal(self.dim)
        return vectors


def build(argument: str, options: Mapping[str, Any], context: Context) -> RandomEncoder:
    """Return the encoder for a spec."""
    return RandomEncoder(options["dim"], options["seed"])
