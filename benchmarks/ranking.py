"""One pass over all pairs of 4,000 queries and 4,000 candidates against their bare product, and faiss.

Faiss (faiss-cpu, where it is installed) lists by float32 scores, without ties and counts. `python -m
benchmarks.ranking 20000` takes another number of vectors on each side.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np

from benchmarks.timed import Job, measure, product
from benchmarks.vectors import keys_of, sides
from xlingual.ranking import CPU, Cosine, Counts, Ranker, Top, TopK, UnitVectors, Watcher, rank

N, WAY_BACK = 4_000, "way back"
GOALS = {  # by dimensions: with few of them, looking at scores costs as much as the product
    768: {"nearest": 1.10, "ten best": 1.20, "hundred best": 1.5, "counts": 1.15, "way back": 1.25},
    128: dict.fromkeys(("nearest", "ten best", "hundred best", "counts", "way back"), 1.5),
}
CHECKED = 100  # queries compared with float64 scores

Asking = Callable[[], list[Watcher]]


def watchers(similarity: Cosine) -> dict[str, Asking]:
    """Name the questions of the passes that are timed."""
    shape, match = similarity.shape, np.arange(similarity.shape[0])
    ranks = partial(Counts.of, similarity, match, match)
    return {
        "nearest": lambda: [Top(1, shape)],
        "ten best": lambda: [Top(10, shape)],
        "hundred best": lambda: [Top(100, shape)],
        "counts": lambda: [ranks()],
        WAY_BACK: lambda: [ranks(), Top(10, shape), Top(1, shape, columns=True)],
    }


def answers(similarity: Cosine, make: Callable[[], list[Watcher]], ranker: Ranker = CPU) -> list[Watcher]:
    """Rank, and decide what the pass left open."""
    rank(similarity, asked := make(), ranker)
    tops = [watcher.result() for watcher in asked if isinstance(watcher, Top)]
    assert all(len(top.query) for top in tops)
    return asked


def check(queries: np.ndarray, candidates: np.ndarray, asked: list[Watcher]) -> None:
    """Compare the answers for some queries with float64 scores."""
    some = np.linspace(0, len(queries) - 1, CHECKED).astype(np.int64)
    straight, turned = keys_of(queries[some], candidates), keys_of(candidates[some], queries)
    for watcher in asked:
        if isinstance(watcher, Top):
            check_best(watcher.result(), watcher.k, some, turned if watcher.columns else straight)
        elif isinstance(watcher, Counts):
            own = straight[np.arange(CHECKED), some][:, None]
            np.testing.assert_array_equal(watcher.above[some], (straight > own).sum(axis=1))
            np.testing.assert_array_equal(watcher.tied[some], (straight == own).sum(axis=1))


def check_best(best: TopK, k: int, some: np.ndarray, keys: np.ndarray) -> None:
    """Compare the lists of some owners with all their keys [owners, entries]."""
    for owner, row in zip(some, keys, strict=True):
        lines = best.query == owner
        listed = row[best.candidate[lines]]
        assert sorted(best.candidate[lines]) == np.flatnonzero(row >= np.partition(row, -k)[-k]).tolist()
        np.testing.assert_array_equal(best.above[lines], (row > listed[:, None]).sum(axis=1))
        np.testing.assert_array_equal(best.tied[lines], (row == listed[:, None]).sum(axis=1))


def by_faiss(queries: np.ndarray, candidates: np.ndarray) -> list[Job]:
    """Make faiss search the nearest, the ten and the hundred best; its index is filled before."""
    if not find_spec("faiss"):
        return []
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(candidates.shape[1])
    index.add(candidates)
    return [Job(f"faiss, {k} best", partial(index.search, queries, k)) for k in (1, 10, 100)]


def main(n: int = N) -> None:
    """Print a table for each number of dimensions."""
    for d, goals in GOALS.items():
        queries, candidates = sides(n, d)
        similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
        right = partial(check, queries, candidates)
        jobs = [product((queries, candidates))]
        for name, make in watchers(similarity).items():
            jobs.append(Job(name, partial(answers, similarity, make), goal=goals[name], check=right))
        measure(f"{n:,} × {n:,}, {d} dimensions", jobs + by_faiss(queries, candidates))


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:] if word.isdigit()))
