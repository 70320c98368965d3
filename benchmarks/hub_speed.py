"""Hubs beside ranks: what the first ten candidates of each query cost in the pass that ranks the matches.

`python -m benchmarks.hub_speed 20000 768` takes another number of texts on each side, and other dimensions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.ranking_speed import sides
from xlingual.evaluation.hubs import HUBS_OF, Hubs, hubs_of, places_of
from xlingual.ranking import CPU, Cosine, Counts, Top, UnitVectors, one_library_thread
from xlingual.ranking import reference as plain

N, DIMS, ROUNDS = 10_000, (128, 768), 3
CHECKED = 200  # candidates compared with float64
LIMIT = 2.0  # of the time without hubs, at 768 dimensions


def timed(work: Callable[[], object]) -> float:
    """Return the least seconds of some rounds."""
    found = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def ranks(vectors: tuple[np.ndarray, np.ndarray], *, hubs: bool) -> Hubs | None:
    """Rank the matches, and find the hubs in the same pass."""
    similarity, match = Cosine(*map(UnitVectors, vectors)), np.arange(len(vectors[0]))
    counts, best = Counts.of(similarity, match, match), Top(HUBS_OF, similarity.shape)
    CPU.scan(similarity, [counts, best] if hubs else [counts])
    if not hubs:
        return None
    places = places_of(best.result(), match, match, HUBS_OF)
    return hubs_of(places, (places.query != places.candidate).astype(np.float64), match)


def check(vectors: tuple[np.ndarray, np.ndarray], found: Hubs | None) -> None:
    """Compare how often some candidates are found with whole columns of float64 cosines."""
    assert found is not None
    queries, candidates = vectors
    some = np.argsort(-found.hubness.occurrences, kind="stable")[:CHECKED]
    total = np.zeros(CHECKED)
    for rows in np.array_split(np.arange(len(queries)), 20):
        keys = plain.keys(queries[rows], candidates)
        least = np.partition(keys, -HUBS_OF, axis=1)[:, -HUBS_OF]
        total += (keys[:, some] >= least[:, None]).sum(axis=0)
    assert np.abs(total - found.hubness.occurrences[some]).max() < 1, "ties are rare in random vectors"


def main() -> None:
    """Print the seconds with hubs and without."""
    n, dims = (int(sys.argv[1]), (int(sys.argv[2]),)) if len(sys.argv) == 3 else (N, DIMS)
    for d in dims:
        vectors = sides(n, d)
        with one_library_thread():
            check(vectors, ranks(vectors, hubs=True))
            without, beside = (timed(partial(ranks, vectors, hubs=hubs)) for hubs in (False, True))
        ratio = beside / without
        print(
            f"{n:,} texts on each side, {d} dimensions: ranks {without:.2f} s, with hubs {beside:.2f} s: "
            f"{ratio:.2f} times"
        )
        assert d < max(DIMS) or ratio < LIMIT, ratio


if __name__ == "__main__":
    main()
