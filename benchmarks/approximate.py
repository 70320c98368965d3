"""Backretrieval by a search against exact: time, recall and error, by number of texts.

Larger sizes: python -c "from benchmarks.approximate import main; main([300_000, 1_000_000], exact=False)"
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from benchmarks import timed
from benchmarks.vectors import spectrum
from xlingual import Results
from xlingual.ranking.approximate import Approximate, Search

SIZES = (10_000, 30_000)
TEXT_DIM, IMAGE_DIM, SHARED = 256, 256, 48
SMALL = 2_000  # texts with which a search through everything is compared with the exact answer


def evaluated(n: int, ranker: Approximate | None) -> tuple[Results, float]:
    """Return R@10 of n queries among n images, and the processor's seconds, on one thread."""
    rng = np.random.default_rng(n)
    meaning = spectrum(rng, 2 * n, SHARED)
    texts = np.concatenate([meaning, spectrum(rng, 2 * n, TEXT_DIM - SHARED)], axis=1)
    images = np.concatenate([meaning * 2, spectrum(rng, 2 * n, IMAGE_DIM - SHARED)], axis=1)
    return timed.evaluated(texts, images, ranker=ranker)


def assert_whole_is_exact() -> None:
    """Assert that a search that looks through everything gives the exact numbers."""
    whole = Approximate(depth=100, search=Search(probes=10**6), least=1)
    found, exact = evaluated(SMALL, whole)[0], evaluated(SMALL, None)[0]
    assert [entry.value for entry in found.entries] == [entry.value for entry in exact.entries]
    assert found.entries[0].approximation.recall_nearest == 1.0
    print(f"{SMALL:,} texts, every list looked through: equal to exact")


def main(sizes: Sequence[int] = SIZES, *, exact: bool = True) -> None:
    """Print time, recall and error for each size, and how time grows; the error must hold the exact value."""
    assert_whole_is_exact()
    seconds: dict[int, float] = {}
    for n in sizes:
        found, seconds[n] = evaluated(n, Approximate(least=1))
        entry = found.entries[0]
        known = entry.approximation
        print(
            f"{n:9,} texts: search {seconds[n]:7.1f} s, recall {known.recall_nearest:.3f} there, "
            f"{known.recall_way_back:.3f} back, R@10 {entry.value:.4f} off by {known.difference:+.4f} "
            f"[{known.ci.low:+.4f}, {known.ci.high:+.4f}]"
        )
        if exact:
            truth, slow = evaluated(n, None)
            off = entry.value - truth.entries[0].value
            print(f"{'':16} exact  {slow:7.1f} s, ratio {slow / seconds[n]:.2f}; really off by {off:+.4f}")
            assert known.ci.low <= off <= known.ci.high, "the error's interval misses (1 in 20 may)"
    if len(seconds) > 1:
        first, last = min(seconds), max(seconds)
        growth = math.log(seconds[last] / seconds[first]) / math.log(last / first)
        print(f"time grows as n^{growth:.2f} from {first:,} to {last:,} texts")
