"""CSLS against cosine: what the pass for its offsets, and the offsets in the tiles, cost on one thread.

`python -m benchmarks.csls_speed 20000 768` takes another number of texts on each side, and other dimensions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.ranking_speed import sides
from xlingual.ranking import CPU, Cosine, Counts, Csls, Offsets, UnitVectors, adjusted, one_library_thread
from xlingual.ranking import reference as plain

N, DIMS, ROUNDS = 10_000, (128, 768), 3
CHECKED = 200  # queries and candidates compared with float64
LIMIT = 4.0  # of the cosine pass's time, at 768 dimensions


def timed(work: Callable[[], object]) -> float:
    """Return the least seconds of some rounds."""
    found = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def check(vectors: tuple[np.ndarray, np.ndarray], offsets: Offsets, counts: Counts) -> None:
    """Compare offsets and counts with whole rows and columns of float64 cosines."""
    queries, candidates = vectors
    some = np.linspace(0, len(queries) - 1, CHECKED).astype(np.int64)
    rows, columns = plain.keys(queries[some], candidates), plain.keys(queries, candidates[some]).T
    for found, keys in ((offsets.queries[some], rows), (offsets.candidates[some], columns)):
        nearest = np.sort(keys, axis=1)[:, -Csls().k :]
        assert (found == np.rint(nearest.sum(axis=1) / Csls().k)).all()
    csls = 2 * rows - offsets.queries[some, None] - offsets.candidates
    own = csls[np.arange(CHECKED), some][:, None]
    assert (counts.above[some] == (csls > own).sum(axis=1)).all()
    assert (counts.tied[some] == (csls == own).sum(axis=1)).all()


@dataclass(frozen=True)
class Passes:
    """What is timed, over the same vectors: each is a pass of its own."""

    vectors: tuple[np.ndarray, np.ndarray]

    @property
    def similarity(self) -> Cosine:
        """The cosine, with nothing normalised yet."""
        return Cosine(*map(UnitVectors, self.vectors))

    def by_cosine(self) -> Counts:
        """Return the ranks of the matches."""
        similarity, match = self.similarity, np.arange(len(self.vectors[0]))
        counts = Counts.of(similarity, match, match)
        CPU.scan(similarity, [counts])
        return counts

    def offsets(self) -> Offsets:
        """Return the offsets of CSLS."""
        similarity, ones = self.similarity, np.ones(len(self.vectors[0]), dtype=np.int64)
        request = Csls().request(ones, ones)
        CPU.scan(similarity, list(request.reductions))
        return request.result(similarity)

    def by_csls(self, offsets: Offsets) -> Counts:
        """Return the ranks of the matches by CSLS."""
        similarity, match = self.similarity, np.arange(len(self.vectors[0]))
        counts = Counts(match, match, offsets.exact(similarity, match, match))
        CPU.scan(similarity, [adjusted(counts, offsets)])
        return counts


def main() -> None:
    """Print the seconds of each step, and the ratio of both passes to the cosine's one."""
    n, dims = (int(sys.argv[1]), (int(sys.argv[2]),)) if len(sys.argv) == 3 else (N, DIMS)
    for d in dims:
        passes = Passes(sides(n, d))
        with one_library_thread():
            offsets = passes.offsets()
            check(passes.vectors, offsets, passes.by_csls(offsets))
            cosine, first = timed(passes.by_cosine), timed(passes.offsets)
            second = timed(partial(passes.by_csls, offsets))
        ratio = (first + second) / cosine
        print(
            f"{n:,} texts on each side, {d} dimensions: cosine {cosine:.2f} s; CSLS {first:.2f} s for the "
            f"offsets and {second:.2f} s for the ranks: {ratio:.2f} times"
        )
        assert d < max(DIMS) or ratio < LIMIT, ratio


if __name__ == "__main__":
    main()
