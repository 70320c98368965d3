"""Hubs beside ranks: what the first ten candidates of each query cost in the pass that ranks the matches.

`python -m benchmarks.hub_speed 20000 768` takes another number of texts on each side, and other dimensions.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from benchmarks.timed import Job, measure
from benchmarks.vectors import keys_of, sides
from xlingual.evaluation.hubs import HUBS_OF, Hubs, hubs_of, places_of
from xlingual.ranking import CPU, Cosine, Counts, Top, UnitVectors, rank

N, DIMS = 10_000, (128, 768)
CHECKED = 200  # candidates compared with float64
GOAL = 2.0  # of the time without hubs


def ranks(vectors: tuple[np.ndarray, np.ndarray], *, hubs: bool) -> Hubs | None:
    """Rank the matches, and find the hubs in the same pass."""
    similarity, match = Cosine(*map(UnitVectors, vectors)), np.arange(len(vectors[0]))
    counts, best = Counts.of(similarity, match, match), Top(HUBS_OF, similarity.shape)
    rank(similarity, [counts, best] if hubs else [counts], CPU)
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
        keys = keys_of(queries[rows], candidates)
        least = np.partition(keys, -HUBS_OF, axis=1)[:, -HUBS_OF]
        total += (keys[:, some] >= least[:, None]).sum(axis=0)
    assert np.abs(total - found.hubness.occurrences[some]).max() < 1, "ties are rare in random vectors"


def main(n: int = N, *dims: int) -> None:
    """Print the seconds with hubs and without."""
    for d in dims or DIMS:
        vectors = sides(n, d)
        alone = Job("ranks", partial(ranks, vectors, hubs=False), None)
        both = Job(
            "ranks and hubs", partial(ranks, vectors, hubs=True), "ranks", GOAL, partial(check, vectors)
        )
        measure(f"{n:,} texts on each side, {d} dimensions", [alone, both], turns=3)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
