"""Few queries among all candidates against all queries: time, number, interval; values of queries are equal.

Larger sizes: python -c "from benchmarks.few_queries import main; main([300_000, 1_000_000], all_at_most=0)"
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from benchmarks.backretrieval import evaluate, items
from benchmarks.vectors import two_languages
from xlingual import Results

SIZES, DIMS = (10_000, 30_000), (128, 256)
QUERIES = 10_000


def evaluated(n: int, queries: int | None, dims: tuple[int, int]) -> tuple[Results, float]:
    """Return the results of so many queries among n targets and n images, and the seconds they took."""
    manifest, vectors = two_languages(n), items(n, *dims)
    begun = time.process_time()
    results = evaluate(manifest, *vectors, examples=False, queries=queries)
    return results, time.process_time() - begun


def assert_equal(part: Results, whole: Results) -> None:
    """Assert that each query of the part has the value that it has in the whole."""
    values = {
        (row["measure"], row["query"]): (row["retrieved"], row["above"], row["tied"], row["value"])
        for row in whole.per_query.to_pylist()
    }
    for row in part.per_query.to_pylist():
        found = row["retrieved"], row["above"], row["tied"], row["value"]
        assert found == values[row["measure"], row["query"]], row


def described(results: Results) -> str:
    """Return R@10 and its interval."""
    entry = results.entries[0]
    assert entry.ci is not None
    return f"R@10 {entry.value:.4f} [{entry.ci.low:.4f}, {entry.ci.high:.4f}]"


def main(sizes: Sequence[int] = SIZES, *, queries: int = QUERIES, all_at_most: int = 100_000) -> None:
    """Print time and number for each size; up to `all_at_most` those of all queries beside them."""
    for n in sizes:
        asked = min(queries, n // 4)
        part, seconds = evaluated(n, asked, DIMS)
        print(f"{n:9,} sources and targets, {asked:6,} queries: {seconds:7.1f} s, {described(part)}")
        if n > all_at_most:
            continue
        whole, slow = evaluated(n, None, DIMS)
        assert_equal(part, whole)
        print(f"{'':9} all of them: {slow:7.1f} s, {described(whole)}; ratio {slow / seconds:.2f}")


if __name__ == "__main__":
    main()
