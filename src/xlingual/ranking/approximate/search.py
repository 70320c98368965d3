"""How candidates are searched: the kind of index, and its sizes by rules that anybody can check."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xlingual.errors import InputError

KINDS = ("ivf", "hnsw")
POINTS = 39  # vectors for each list of an inverted file at least: fewer leave centres of nothing
LINKS = 32  # of each vector in a graph
BREADTH = 200  # candidates kept while a graph is built


@dataclass(frozen=True)
class Search:
    """A kind of index and how thoroughly it is searched.

    "ivf", an inverted file: vectors are put into lists by their nearest of `lists(n)` centres (k-means), and
    a query looks through the `probes` lists of the centres nearest to it. "hnsw", a graph: a query walks from
    vector to vector towards itself, keeping the `probes` best (Malkov and Yashunin 2018). `seed` draws the
    first centres or the levels of the graph.
    """

    kind: str = "ivf"
    probes: int | None = None  # None: `default_probes`
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"index {self.kind!r} is not known: choose among {', '.join(KINDS)}")
        if self.probes is not None and self.probes < 1:
            raise InputError(f"an index needs 1 probe at least, got {self.probes}")

    @staticmethod
    def lists(n: int) -> int:
        """Return the number of lists for n vectors: 4·√n, so long as each has 39 vectors on average."""
        return max(1, min(4 * math.isqrt(n), n // POINTS))

    def probes_of(self, n: int, depth: int) -> int:
        """Return how much a query searches among n vectors: 4·√lists lists, or 2·depth of a graph, 128+."""
        most = self.lists(n) if self.kind == "ivf" else n
        usual = math.ceil(4 * math.sqrt(self.lists(n))) if self.kind == "ivf" else max(128, 2 * depth)
        return min(most, usual if self.probes is None else self.probes)

    def __str__(self) -> str:
        """Return the search as signatures have it: `ivf`, `ivf,probes=64`, `hnsw,seed=1`."""
        probes = [] if self.probes is None else [f"probes={self.probes}"]
        return ",".join([self.kind, *probes, *([f"seed={self.seed}"] if self.seed else [])])
