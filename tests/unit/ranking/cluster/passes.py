"""Passes for the tests of clusters, and what they must find."""

import numpy as np

from xlingual.ranking import Cosine, Counts, Cpu, GroupCounts, Top, Transposed, UnitVectors


def similarity(n=60, m=50, d=6, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    queries, candidates = (rng.integers(-2, 3, (rows, d)).astype(dtype) for rows in (n, m))
    return Cosine(UnitVectors(queries), UnitVectors(candidates))


def requests(whole, seed=0):
    rng = np.random.default_rng(seed)
    n, m = whole.shape
    query, target, weights = rng.integers(0, n, 40), rng.integers(0, m, 40), rng.integers(0, 3, m)
    weights[target] = 1
    bounds = np.array([0, m // 3, m])
    return [
        Top(3, whole.shape, weights=weights, cap=2, seed=1),
        Counts.of(whole, query, target, weights=weights),
        GroupCounts.of(whole, query, target, bounds, weights=weights),
        Transposed(Top(1, whole.shape[::-1])),
    ]


def found(reductions):
    top, counts, groups, back = reductions
    tops = []
    for one in (top.result(), back.inner.result()):
        columns = [one.query, one.candidate, one.above, one.tied]
        tops.append((np.stack(columns).T.tolist(), one.unlisted.tolist()))
    for lines, _ in tops:
        lines.sort()
    return tops, [counts.above.tolist(), counts.tied.tolist()], [part.tolist() for part in groups.result()]


def expected(whole):
    reductions = requests(whole)
    Cpu().scan(whole, reductions)
    return found(reductions)
