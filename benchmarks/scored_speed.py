"""Sparse products and MaxSim: ranks of all matches against the bare product of the same vectors, one thread.

`python -m benchmarks.scored_speed 20000 400` takes another number of sparse rows, and of texts with tokens.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from xlingual.forms import SparseVectors, TokenVectors
from xlingual.ranking import (
    CPU,
    Counts,
    SparseRows,
    TextSimilarity,
    TokenRows,
    one_library_thread,
    rows_of,
    similarity_of,
)

ROWS, TEXTS, ROUNDS = 10_000, 200, 2
WORDS, OF_QUERY, OF_CANDIDATE = 30_522, 30, 150  # as SPLADE has them
DIM, QUERY_TOKENS, CANDIDATE_TOKENS = 128, 32, (60, 180)  # as ColBERT
CHECKED = 40  # queries whose ranks are counted from plain float64 sums
LIMITS = {"sparse": 3.0, "tokens": 2.0}  # of the bare product's time


def timed(work: Callable[[], object]) -> float:
    """Return the least seconds of some rounds."""
    found = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def sparse_rows(rng: np.random.Generator, n: int, words: int) -> SparseVectors:
    """Return rows whose words are as frequent as in a text (Zipf)."""
    share = 1 / np.arange(10, WORDS + 10)
    columns = rng.choice(WORDS, (n, words), p=share / share.sum())
    values = rng.gamma(2, 0.4, (n, words)).astype(np.float32)
    place = (np.repeat(np.arange(n), words), columns.reshape(-1))
    return SparseVectors.of(csr_array((values.reshape(-1), place), shape=(n, WORDS)))


def token_rows(rng: np.random.Generator, sizes: np.ndarray) -> TokenVectors:
    """Return unit token vectors that lean to one side, as a network's do."""
    tokens = rng.standard_normal((int(sizes.sum()), DIM)) + 0.5
    tokens /= np.linalg.norm(tokens, axis=1, keepdims=True)
    return TokenVectors(tokens.astype(np.float32), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def ranks(similarity: TextSimilarity) -> Counts:
    """Return the ranks of the matches: the candidate of each query's number."""
    match = np.arange(similarity.shape[0])
    counts = Counts.of(similarity, match, match)
    CPU.scan(similarity, [counts])
    return counts


def bare_sparse(queries: SparseRows, candidates: SparseRows) -> None:
    """Multiply, a block of queries at a time, as scipy does."""
    right = candidates.matrix.T.tocsr()
    for start in range(0, len(queries), 1000):
        (queries.matrix[start : start + 1000] @ right).toarray()


def bare_tokens(queries: TokenRows, candidates: TokenRows) -> None:
    """Multiply the tokens of blocks of texts."""
    for right in candidates.pieces(2048):
        held = candidates.tokens(right)
        for left in queries.pieces(1024):
            held @ queries.tokens(left).T


def plain_keys(similarity: TextSimilarity, query: int) -> np.ndarray:
    """Return the keys of a query's scores by plain float64 sums, candidate by candidate."""
    queries, candidates = similarity.queries.raw, similarity.candidates.raw
    if isinstance(queries, SparseVectors):
        row = queries.matrix[[query]]
        scores = candidates.matrix[:, row.indices].toarray().astype(np.float64) @ row.data.astype(np.float64)
    else:
        own = queries[[query]].vectors.astype(np.float64)
        every = candidates.vectors.astype(np.float64) @ own.T
        best = [every[start:end].max(axis=0).sum() for start, end in pairwise(candidates.bounds)]
        scores = np.array(best)
    return np.rint(scores * 1e9).astype(np.int64)


def check(similarity: TextSimilarity, counts: Counts) -> None:
    """Compare ranks with plain sums; a key may differ by one unit where sums are added in another order."""
    for query in np.linspace(0, similarity.shape[0] - 1, CHECKED).astype(np.int64).tolist():
        keys = plain_keys(similarity, query)
        assert abs(int(counts.keys_given[query]) - int(keys[query])) <= 1
        assert counts.above[query] == (keys > keys[query] + 1).sum()
        assert counts.tied[query] == (np.abs(keys - keys[query]) <= 1).sum()


def main(rows: int = ROWS, texts: int = TEXTS) -> None:
    """Time both kinds, check the ranks, print the ratios."""
    rng = np.random.default_rng(0)
    few = np.full(texts, QUERY_TOKENS)
    kinds = {
        "sparse": (sparse_rows(rng, rows, OF_QUERY), sparse_rows(rng, rows, OF_CANDIDATE), bare_sparse),
        "tokens": (
            token_rows(rng, few),
            token_rows(rng, rng.integers(*CANDIDATE_TOKENS, 10 * texts)),
            bare_tokens,
        ),
    }
    for name, (queries, candidates, bare) in kinds.items():
        sides = rows_of(queries), rows_of(candidates)
        with one_library_thread():
            product = timed(lambda sides=sides, bare=bare: bare(*sides))
            whole = timed(lambda sides=sides: ranks(similarity_of(*sides)))
            similarity = similarity_of(*sides)
            counts = ranks(similarity)
        check(similarity, counts)
        decided = counts.decided / (similarity.shape[0] * similarity.shape[1])
        size = " x ".join(f"{side:,}" for side in similarity.shape)
        seconds = f"bare product {product:.2f} s, ranks {whole:.2f} s"
        print(f"{name}: {size}, {seconds}, {whole / product:.2f} times it")
        print(f"{name}: band {similarity.band:.1e}, decided in float64 {decided:.1e} of the pairs")
        assert whole < LIMITS[name] * product, name


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
