"""Statistics of 50 encoders × 100,000 queries × 20 language pairs: time, memory, equality with the plain way.

The plain way sorts and sums the queries anew for each pair of encoders (`plain_t_test`). Measured on some
pairs, its time is scaled to all 1,225.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from msgspec.structs import replace as changed
from scipy.special import stdtr

from benchmarks.made_results import made
from benchmarks.memory import peak
from xlingual import Results
from xlingual.comparison.board import Source
from xlingual.comparison.leaderboard import board_of
from xlingual.comparison.queries import Queries
from xlingual.comparison.reading import read_aligned
from xlingual.comparison.references import Reference
from xlingual.stats.all_pairs import AllPairs
from xlingual.stats.intervals import mean_interval
from xlingual.stats.paired import t_test
from xlingual.stats.paired_queries import Paired

ENCODERS, QUERIES, PAIRS = 50, 100_000, 20
SAMPLE = 12  # pairs of encoders that are tested one by one too
LIMIT, MEMORY = 60.0, 4 << 30


def _squares(labels: list[np.ndarray], values: list[np.ndarray]) -> float:
    """Return Σ over labels of the square of the sum of their values."""
    _, code = np.unique(np.concatenate(labels), return_inverse=True)
    return float(np.sum(np.bincount(code, np.concatenate(values)) ** 2))


def _effective(codes: np.ndarray, weight: np.ndarray) -> float:
    """Return (Σ w)²/Σ w² of the weights of clusters."""
    sizes = np.bincount(np.unique(codes, return_inverse=True)[1], weight)
    return float(sizes.sum() ** 2 / np.sum(sizes**2))


def plain_t_test(data: Paired) -> tuple[float, float]:
    """Return the standard error and p of a difference, from all queries of the two systems."""
    parts = [data.weight * (data.a - data.weight @ data.a), -data.weight * (data.b - data.weight @ data.b)]
    retrieved = [way for way in (data.retrieved_a, data.retrieved_b) if way is not None]
    labels, values, edges, of_edges = [data.own] * 2, list(parts), [], []
    least = _squares(labels, values)
    for way, part in zip(retrieved, parts, strict=False):
        apart = way != data.own
        low, high = np.minimum(data.own, way)[apart], np.maximum(data.own, way)[apart]
        labels.append(way[apart])
        values.append(part[apart])
        edges.append(low * np.int64(1 << 31) + high)
        of_edges.append(part[apart])
    squares = max(_squares(labels, values) - (_squares(edges, of_edges) if edges else 0.0), least)
    effective = min(_effective(way, data.weight) for way in [data.own, *retrieved])
    factor = max(effective, 2.0) / (max(effective, 2.0) - 1)
    error = float(np.sqrt(squares * factor))
    difference = float(data.weight @ (data.a - data.b))
    p = float(2 * stdtr(max(effective - 1, 1.0), -abs(difference) / error)) if error > 1e-12 else 1.0
    return error, p


def _checked(queries: Queries, found: AllPairs) -> float:
    """Return the seconds of the plain way for a pair; its numbers are those of ours to the last digit."""
    pairs = list(combinations(range(len(queries.encoders)), 2))
    chosen = np.random.default_rng(0).choice(len(pairs), SAMPLE, replace=False)
    begun = time.process_time()
    plain = [plain_t_test(_pair(queries, *pairs[place])) for place in chosen]
    took = (time.process_time() - begun) / SAMPLE
    for place, (error, p) in zip(chosen, plain, strict=True):
        i, j = pairs[place]
        assert t_test(_pair(queries, i, j))[1::2] == (error, p)
        assert found.low[i, j] <= p <= found.high[i, j]
        assert found.high[i, j] - found.low[i, j] < 1e-4, "bounds that decide"
    return took


def _pair(queries: Queries, i: int, j: int) -> Paired:
    return queries.paired(queries.encoders[i], queries.encoders[j])


def _ranks(run: Results) -> None:
    """Assert that rank intervals by bounds are those of the plain p-values of all pairs."""
    few = run.only(*[f"e{i:02}" for i in range(0, ENCODERS, 8)])
    board = board_of([Source("few", Path("few"), few)])
    queries = read_aligned([Reference(Path("few"), results=few)]).queries[0]
    names, means = queries.encoders, queries.means
    pairs = list(combinations(range(len(names)), 2))
    p = np.array([plain_t_test(_pair(queries, i, j))[1] for i, j in pairs])
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    clear = (adjusted < 0.005) | (adjusted > 0.05)  # others have a further test
    assert clear.sum() > len(p) / 2
    for cell in board.columns[0].known:
        own = names.index(cell.encoder)
        for (i, j), one, known in zip(pairs, adjusted, clear, strict=True):
            if own in (i, j) and known and one <= 0.05:
                other = j if own == i else i
                assert (cell.rank_low > 1) if means[other] > means[own] else (cell.rank_high < len(names))


def _intervals(queries: Queries) -> None:
    """Time the interval of every encoder's mean, and compare its width with a plain sum."""
    begun = time.process_time()
    found = [mean_interval(row, [queries.own]) for row in queries.values]
    took = time.process_time() - begun
    residuals = (queries.values[0] - queries.values[0].mean()) / len(queries)
    clusters = len(np.unique(queries.own))
    error = np.sqrt(_squares([queries.own], [residuals]) * clusters / (clusters - 1))
    assert abs(found[0].high - found[0].low - 2 * 1.96 * error) < 1e-3 * error
    print(f"intervals of {len(found)} means of {len(queries):,} queries: {took:.2f} s")


def _one_column(run: Results) -> None:
    queries = read_aligned([Reference(Path("run"), results=run)]).queries[0]
    _intervals(queries)
    begun = time.process_time()
    found = AllPairs.of(queries.values, queries.weight, *queries._cluster_codes)
    took = time.process_time() - begun
    each, pairs = _checked(queries, found), ENCODERS * (ENCODERS - 1) // 2
    print(
        f"{pairs:,} paired tests of {len(queries):,} queries: {took:.1f} s; one by one {pairs * each:.0f} s"
    )
    assert took < pairs * each / 10


def _many_columns(run: Results) -> None:
    """Make a leaderboard of 20 columns, each of 100,000 queries of 50 encoders, data and pairs of its own."""
    given = []
    for k in range(PAIRS):
        own = [changed(one, signature=one.signature.replace("|data:", f"|data:{k}-")) for one in run.entries]
        given.append(Source(f"c{k}", Path(f"c{k}"), replace(run, entries=own)))
    begun, processor = time.perf_counter(), time.process_time()
    board = board_of(given)
    took, used = time.perf_counter() - begun, time.process_time() - processor
    assert (len(board.columns), len(board.encoders)) == (PAIRS, ENCODERS)
    for column in board.columns:
        assert column.n_queries == QUERIES
        ends = [(cell.rank_low, cell.rank_high) for cell in column.known]
        assert ends == [(cell.rank_low, cell.rank_high) for cell in board.columns[0].known], "equal data"
    print(
        f"leaderboard, {PAIRS} columns of {ENCODERS} encoders × {QUERIES:,} queries: {used:.0f} s of the "
        f"processor, {took:.0f} s, {peak() / 2**30:.1f} GiB in all"
    )


def _two_millions() -> None:
    """Test all pairs on 20 language pairs of 100,000 queries as one column: 2,000,000 an encoder."""
    rng, n = np.random.default_rng(0), QUERIES * PAIRS
    own, weight = np.tile(np.arange(QUERIES), PAIRS), np.full(n, 1 / n)
    hard = rng.standard_normal(QUERIES)[own]
    values = np.empty((ENCODERS, n))
    retrieved = np.empty((ENCODERS, n), dtype=np.int64)
    usual = QUERIES + rng.integers(0, QUERIES, n)
    for place in range(ENCODERS):
        values[place] = hard + rng.standard_normal(n) < 0.5 - 0.005 * place
        retrieved[place] = np.where(rng.random(n) < 0.5, usual, QUERIES + rng.integers(0, QUERIES, n))
    for what, ways in (("", None), (" with what they retrieved", retrieved)):
        begun, processor = time.perf_counter(), time.process_time()
        found = AllPairs.of(values, weight, own, ways)
        took, used = time.perf_counter() - begun, time.process_time() - processor
        both = (None, None) if ways is None else (ways[3], ways[40])
        error, p = plain_t_test(Paired(values[3], values[40], weight, own, *both))
        assert abs(found.error[3, 40] - error) < 1e-6 * error
        assert found.low[3, 40] <= p <= found.high[3, 40]
        print(
            f"1,225 tests of {n:,} queries{what}: {used:.0f} s of the processor, {took:.0f} s, "
            f"{peak() / 2**30:.1f} GiB in all"
        )
    assert peak() < MEMORY


def main() -> None:
    """Print times and memory, and assert that the numbers are those of the plain way."""
    run = made(ENCODERS, PAIRS, QUERIES // PAIRS)
    _ranks(run)
    _one_column(run)
    _many_columns(run)
    del run
    _two_millions()


if __name__ == "__main__":
    main()
