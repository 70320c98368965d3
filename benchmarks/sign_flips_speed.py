"""Sign-flip tests: `compare --by` of 3,000 queries, and one test of 100,000, against whole float64 matrices.

The plain way draws with `choice` and multiplies a dense matrix [nodes, clusters] by the signs. Before, up
to a million cells were multiplied so: that was most of the time of a comparison on parts of the data.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.made_results import made
from xlingual import Results, compare
from xlingual.comparison.queries import Labels, Queries
from xlingual.comparison.reading import read_aligned
from xlingual.stats.paired import _blocks, paired_test
from xlingual.stats.paired_queries import Paired
from xlingual.stats.signflips import FlippedClusters

ENCODERS, QUERIES, LABELS, REPLICATES = 12, 3_000, 6, 1_999
MANY = 100_000


def plain_strays(data: Paired, replicates: int) -> np.ndarray:
    """Return the sizes of studentised differences of flipped residuals, from dense matrices."""
    known = FlippedClusters.of(data, no_difference=False)
    own, edges = known.own, known.edges
    n = len(own.residual)
    rng, values = np.random.default_rng(0), np.array([-1.0, 1.0])
    signs = np.hstack([rng.choice(values, (n, size)) for size in _blocks(n, replicates)])
    difference = own.residual @ signs
    flipped = own.residual[:, None] * signs - np.outer(own.weight, difference / 2)
    squares = np.sum(flipped**2, axis=0)
    total = squares
    if edges is not None:
        node = known.fall.toarray() @ signs - np.outer(known.fallen_weight, difference / 2)
        node[:n] += flipped
        of_edges = edges.values(np.arange(len(edges.cluster)), signs, difference)
        one, other = (edges.values(place, signs, difference) for place in known.opposite)
        twice = np.sum(of_edges**2, axis=0) + 2 * np.sum(one * other, axis=0)
        total = squares + np.maximum(np.sum(node**2, axis=0) - twice - squares, 0)
    return np.sort(np.abs(difference / np.sqrt(total * known.correction)))


def _against_plain(what: str, data: Paired) -> None:
    """Time one test and the plain way, whose strays are equal but for rounding."""
    begun = time.process_time()
    test = paired_test(data, rng=np.random.default_rng(0), replicates=REPLICATES)
    ours = time.process_time() - begun
    begun = time.process_time()
    plain = plain_strays(data, REPLICATES)
    took = 2 * (time.process_time() - begun)  # of the test's two kinds of replicates it makes one
    np.testing.assert_allclose(test.strays, plain, rtol=1e-9, atol=1e-9)
    print(f"{what}: {ours:.2f} s, plain {took:.2f} s, {took / ours:.1f} times")


def _parts(run: Results) -> tuple[Queries, Queries]:
    """Return all queries, and those of one of the labels."""
    (queries,) = read_aligned([run]).queries
    code = np.arange(len(queries)) % LABELS
    words = tuple(f"label {k}" for k in range(LABELS))
    queries = Queries(**vars(queries) | {"labels": {**queries.labels, "label": Labels(code, words)}})
    return queries, queries.slices("label")["label 0"]


def main() -> None:
    """Print times of a comparison by labels, and of single tests against the plain way."""
    run = made(ENCODERS, 2, QUERIES // 2, near=0.02)
    code = np.tile(np.arange(QUERIES) % LABELS, ENCODERS)
    run.per_query = run.per_query.append_column("by.label", [np.array([f"label {k}" for k in code])])
    begun = time.process_time()
    found = compare(run, by=["label"])
    took = time.process_time() - begun
    tests = sum(len(board.rows) - 1 for board in found.boards)
    assert len(found.boards) == 1 + LABELS
    print(
        f"compare --by, {QUERIES:,} queries, {ENCODERS} encoders, {LABELS} labels: {tests} tests of up to "
        f"{max(board.replicates for board in found.boards):,} replicates in {took:.1f} s"
    )
    whole, part = _parts(run)
    names = whole.encoders
    _against_plain(f"one test of {len(whole):,} queries", whole.paired(names[0], names[5]))
    _against_plain(f"one test of {len(part):,} queries", part.paired(names[0], names[5]))
    many = np.random.default_rng(0)
    values = many.integers(0, 2, (2, MANY)).astype(np.float64)
    own = np.arange(MANY) % (MANY // 20)
    _against_plain(f"one test of {MANY:,} queries", Paired(*values, np.full(MANY, 1 / MANY), own))


if __name__ == "__main__":
    main()
