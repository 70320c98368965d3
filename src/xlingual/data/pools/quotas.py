"""How many of each language: shares into whole numbers, and which numbers a supply can meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints

Options: TypeAlias = tuple[int, ...]  # the languages, ascending, of which one thing may serve as one


def largest_remainder(shares: Floats, total: int) -> Ints:
    """Return `total` things divided by shares [g] (sum 1): rounded down, the rest to the largest remainders.

    Of equal remainders the earlier language wins.

    >>> largest_remainder(np.array([0.5, 0.3, 0.2]), 7).tolist()
    [4, 2, 1]
    """
    exact = np.round(shares * total, 9)  # 0.1 · 30 is 3, not 3.0000000000000004
    quotas = np.floor(exact).astype(np.int64)
    order = np.argsort(-np.round(exact - quotas, 9), kind="stable")
    quotas[order[: total - quotas.sum()]] += 1
    return quotas


def can_meet(supply: Mapping[Options, int], quotas: Ints) -> bool:
    """Return whether a supply meets quotas [g], each thing serving as one of its languages at most once.

    It is a maximum flow from the kinds of things to the languages.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    if all(len(options) == 1 for options in supply):
        return all(supply.get((code,), 0) >= quota for code, quota in enumerate(quotas.tolist()))
    first = 1 + len(supply)  # node 0 is the source, then the kinds, the languages, the sink
    sink = first + len(quotas)
    edges = [(0, 1 + kind, count) for kind, count in enumerate(supply.values())]
    edges += [
        (1 + kind, first + code, count)
        for kind, (options, count) in enumerate(supply.items())
        for code in options
    ]
    edges += [(first + code, sink, quota) for code, quota in enumerate(quotas.tolist())]
    left, right, capacity = zip(*edges, strict=True)
    graph = csr_array((np.array(capacity, dtype=np.int32), (left, right)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(graph, 0, sink).flow_value) == int(quotas.sum())


def most_possible(supply: Mapping[Options, int], shares: Floats, most: int | None = None) -> int:
    """Return the largest total (up to `most`) of which the supply meets the rounded shares; 0 for none.

    Rounding is not monotone: some total may fail although a larger one can be met. Rounding all shares down
    is, and bounds the search from above.
    """
    high = sum(supply.values()) if most is None else min(most, sum(supply.values()))
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if can_meet(supply, np.floor(np.round(shares * middle, 9)).astype(np.int64)):
            low = middle
        else:
            high = middle - 1
    while low > 0 and not can_meet(supply, largest_remainder(shares, low)):
        low -= 1
    return low


def draw_languages(options: Sequence[Options], quotas: Ints, rng: np.random.Generator) -> Ints:
    """Return a language for each of n things, −1 for one that is left out, so that the quotas [g] are met.

    Things come in a random order and take one of their languages in proportion to what its quota has left;
    where all are full, others move to another of their languages to make room (augmenting paths). As many
    things are placed as any assignment could place.
    """
    left = quotas.tolist()
    language = np.full(len(options), -1, dtype=np.int64)
    holders: dict[int, dict[Options, list[int]]] = {code: {} for code in range(len(left))}
    hopeless: set[Options] = set()
    for thing in rng.permutation(len(options)).tolist():
        own = options[thing]
        if own in hopeless:
            continue
        weights = np.array([left[code] for code in own], dtype=np.float64)
        if weights.sum() > 0:
            code = own[int(rng.choice(len(own), p=weights / weights.sum()))]
        else:
            path = _path(own, left, holders)
            if not path:
                hopeless.add(own)  # what is full for it now stays full
                continue
            code = path[0][0]
            for start, kind, end in reversed(path):
                moved = holders[start][kind].pop()
                holders[end].setdefault(kind, []).append(moved)
                language[moved] = end
                left[start], left[end] = left[start] + 1, left[end] - 1
        language[thing] = code
        holders[code].setdefault(own, []).append(thing)
        left[code] -= 1
    return language


def _path(
    own: Options, left: Sequence[int], holders: Mapping[int, Mapping[Options, Sequence[int]]]
) -> list[tuple[int, Options, int]]:
    """Return moves (from, kind, to), first to last, that free a place in an own language; [] for none."""
    came: dict[int, tuple[int, Options] | None] = dict.fromkeys(own)
    queue = list(own)
    for start in queue:
        for kind, held in holders[start].items():
            for end in kind if held else ():
                if end in came:
                    continue
                came[end] = (start, kind)
                if left[end] > 0:
                    return _unwound(came, end)
                queue.append(end)
    return []


def _unwound(came: Mapping[int, tuple[int, Options] | None], end: int) -> list[tuple[int, Options, int]]:
    moves = []
    while (step := came[end]) is not None:
        moves.append((*step, end))
        end = step[0]
    return moves[::-1]


def supply_of(options: Sequence[Options]) -> dict[Options, int]:
    """Return how many things there are of each kind, those without any language left out."""
    counts = Counter(options)
    return {kind: counts[kind] for kind in sorted(counts) if kind}
