"""Sparse rows and token vectors with ties, zeros and empty texts, and their scores by plain loops."""

import math

import numpy as np
from scipy.sparse import csr_array

from xlingual.forms import SparseVectors, TokenVectors

KINDS = ("random", "integers", "duplicated", "scaled", "constant", "zero")


def numbers(kind, rng, n, d):
    if kind == "integers":
        return rng.integers(-1, 2, (n, d)).astype(np.float32)
    if kind == "duplicated":
        few = rng.standard_normal((max(1, n // 4), d)).astype(np.float32)
        return few[rng.integers(0, len(few), n)]
    if kind == "scaled":
        return (rng.standard_normal((n, d)) * 10.0 ** rng.integers(-1, 2, (n, 1))).astype(np.float32)
    if kind == "constant":
        return np.ones((n, d), dtype=np.float32)
    return (rng.standard_normal((n, d)) * (kind != "zero")).astype(np.float32)


def sparse(kind, rng, n, d, compared_by="dot"):
    """Return rows of which a third of the numbers is left, and some rows of zeros."""
    dense = numbers(kind, rng, n, d)
    if kind != "constant":
        dense *= rng.random(dense.shape) < 0.4
        if kind == "duplicated":
            dense = dense[rng.integers(0, n, n)]
        dense[rng.random(n) < 0.1] = 0
    return SparseVectors.of(csr_array(dense), compared_by)


def tokens(kind, rng, n, d, compared_by="maxsim"):
    """Return texts of 0 to 5 tokens."""
    texts = [numbers(kind, rng, int(rng.integers(0, 6)), d) for _ in range(n)]
    if kind == "duplicated":
        texts = [texts[i] for i in rng.integers(0, n, n)]
    return TokenVectors.of([text.reshape(-1, d) for text in texts], compared_by, dim=d)


def naive_keys(queries, candidates):
    """Return all exact keys [n, m], one pair after the other, in float64 without a product of matrices."""
    score = naive_sparse if isinstance(queries, SparseVectors) else naive_tokens
    return np.array(
        [
            [round(score(queries, i, candidates, j) * 1e9) for j in range(len(candidates))]
            for i in range(len(queries))
        ],
        dtype=np.int64,
    ).reshape(len(queries), len(candidates))


def naive_sparse(queries, i, candidates, j):
    left, right = (
        dict(zip(row.indices.tolist(), row.data.astype(float).tolist(), strict=True))
        for row in (queries.matrix[[i]], candidates.matrix[[j]])
    )
    dot = math.fsum(value * right[name] for name, value in left.items() if name in right)
    if queries.compared_by == "dot":
        return dot
    norms = [math.sqrt(math.fsum(value**2 for value in side.values())) for side in (left, right)]
    return dot / (norms[0] * norms[1]) if norms[0] and norms[1] else 0.0


def naive_tokens(queries, i, candidates, j):
    own, others = queries[[i]].vectors.astype(float), candidates[[j]].vectors.astype(float)
    total = 0.0
    for token in own:
        best = -math.inf
        for other in others:
            best = max(best, math.fsum(a * b for a, b in zip(token.tolist(), other.tolist(), strict=True)))
        total += best if len(others) else 0.0
    return total / len(own) if queries.compared_by == "meanmaxsim" and len(own) else total
