"""Hostile vectors, similarities of them with all their keys, and questions with the true answers."""

from contextlib import ExitStack, contextmanager
from dataclasses import fields
from functools import partial
from importlib import import_module
from unittest import mock

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from xlingual.forms import SparseVectors, TokenVectors
from xlingual.ranking import rankers, reference
from xlingual.ranking.counts import Counts
from xlingual.ranking.hubs import Corrected, Offsets
from xlingual.ranking.passes import rank
from xlingual.ranking.pools import rows_of, similarity_of
from xlingual.ranking.similarity import ROUNDING, UNIT, Cosine, Tally, as_scores
from xlingual.ranking.tiles import Device
from xlingual.ranking.top import Top
from xlingual.ranking.vectors import UnitVectors


def few(rng, n, d, scale=1.0):
    """Make n rows of a few distinct ones."""
    base = rng.standard_normal((max(1, n // 4), d))
    return base[rng.integers(0, len(base), n)] * scale


KINDS = {
    "random": lambda rng, n, d: rng.standard_normal((n, d)),
    "all near": lambda rng, n, d: rng.standard_normal((n, d)) * 0.1 + 1,
    "in the band": lambda rng, n, d: rng.standard_normal((n, d)) * 1e-4 + 1,
    "whole": lambda rng, n, d: rng.integers(-1, 2, (n, d)),
    "codes": lambda rng, n, d: rng.choice([-1, 1], (n, d)),
    "one-hot": lambda rng, n, d: np.eye(d)[rng.integers(0, d, n)],
    "duplicates": few,
    "nearly duplicates": lambda rng, n, d: few(rng, n, d) + 1e-7 * rng.standard_normal((n, d)),
    "lengths": lambda rng, n, d: few(rng, n, d, 10.0 ** rng.integers(-12, 13, (n, 1))),
    "huge": lambda rng, n, d: rng.standard_normal((n, d)) * 1e30,
    "tiny": lambda rng, n, d: rng.standard_normal((n, d)) * 1e-38,
    "large dimension": lambda rng, n, d: np.where(np.arange(d) == 0, 1e6, rng.standard_normal((n, d))),
    "constant": lambda rng, n, d: np.ones((n, d)),
    "some zero": lambda rng, n, d: rng.standard_normal((n, d)) * (rng.random((n, 1)) < 0.5),
    "zero": lambda rng, n, d: np.zeros((n, d)),
}
PIECES = {"GATHER": 3, "_QUERIES": 2, "_SPARE": 40, "_ROWS": 3, "_WIDE": 5, "_COLUMNS": 4, "CHUNK": 5}
TOKENS = {"_QUERY_TOKENS": 4, "_CANDIDATE_TOKENS": 6}
SETTINGS = {  # of how much is done at a time: none changes an answer
    "usual": {},
    "small": {"tile_bytes": 400, "BLOCK": 7, "_ROOM": 0, "_PIECE": 40, **PIECES, **TOKENS},
    "smallest": {"tile_bytes": 60, "BLOCK": 5, "_ROOM": -(1 << 20), "_PIECE": 1, "_EXACT": 0, "_MANY": 1},
    "wide": {"tile_bytes": 1600, "BLOCK": 3, "_FEW": 1, "_MANY": 2, "CACHE_BYTES": 0},
    "never dense": {"tile_bytes": 1000, "BLOCK": 16, "DENSE": 0, "_FEW": 2, **PIECES, **TOKENS},
}
NAMES = ("counts", "top", "passes", "tiles", "similarity", "sparse", "tokens", "vectors")
MODULES = [import_module(f"xlingual.ranking.{name}") for name in NAMES]


@contextmanager
def setting(*, tile_bytes=None, **constants):
    """Let rankers take other tiles, and the modules other constants."""

    def device(name="numpy", usual=1 << 23):
        return Device(name, usual if tile_bytes is None else tile_bytes)

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(rankers, "Device", device))
        for name, value in constants.items():
            modules = [module for module in MODULES if isinstance(getattr(module, name, None), int)]
            assert modules, name
            for module in modules:
                stack.enter_context(mock.patch.object(module, name, value))
        yield


def cosine(kind, rng, n, m, d, dtype=np.float32):
    """Make cosines of two sides, with all keys."""
    queries, candidates = (KINDS[kind](rng, size, d).astype(dtype) for size in (n, m))
    if kind == "duplicates":
        queries[: min(n, m)] = candidates[: min(n, m)]
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    return similarity, reference.cosine(queries, candidates)


def sparse(kind, rng, n, m, d, compared_by="dot"):
    """Make scores of sparse rows, some of them without numbers."""
    sides = [KINDS[kind](rng, size, d).astype(np.float32) for size in (n, m)]
    sides = [side * (rng.random(side.shape) < 0.5) * (rng.random((len(side), 1)) < 0.9) for side in sides]
    rows = [rows_of(SparseVectors.of(csr_array(side.astype(np.float32)), compared_by)) for side in sides]
    return similarity_of(*rows), (reference.dot if compared_by == "dot" else reference.cosine)(*sides)


def tokens(kind, rng, n, m, d, compared_by="maxsim"):
    """Make scores of texts of 0 to 5 tokens."""
    sizes = [rng.integers(0, 6, size) for size in (n, m)]
    numbers = [KINDS[kind](rng, int(size.sum()) + 1, d).astype(np.float32) for size in sizes]
    texts = [np.split(of, np.cumsum(size))[:-1] for of, size in zip(numbers, sizes, strict=True)]
    rows = [rows_of(TokenVectors.of(side, compared_by, dim=d)) for side in texts]
    return similarity_of(*rows), reference.maxsim(*texts, mean=compared_by == "meanmaxsim")


class FunctionScores(Tally):
    """Scores of any kind and scale, by a function of numbers of queries and candidates, all kept."""

    def __init__(self, shape, scores):
        super().__init__()
        self.shape = shape
        self.all_keys = np.rint(scores(*map(np.arange, shape)) / UNIT).astype(np.int64)
        self.band = 8 * ROUNDING * float(np.abs(self.all_keys).max(initial=0)) * UNIT

    def panel(self, columns, device):
        return lambda rows, room: device.put((self.all_keys[rows, columns] * UNIT).astype(np.float32))

    def keys(self, queries, candidates):
        return self.all_keys[queries, candidates]

    def key_block(self, queries, candidates):
        return self.all_keys[np.ix_(queries, candidates)]

    def identity(self):
        return None

    def mean(self, query_weights, candidate_weights):
        total = query_weights @ as_scores(self.all_keys) @ candidate_weights
        return total / query_weights.sum() / candidate_weights.sum()


def function(kind, rng, n, m, d, scale=1.0):
    """Make scores by a function."""
    scores = KINDS[kind](rng, n, m).astype(np.float64) * scale
    keys = np.rint(scores / UNIT).astype(np.int64)
    return FunctionScores((n, m), lambda rows, columns: scores[np.ix_(rows, columns)]), keys


def corrected(kind, rng, n, m, d, inner=cosine):
    """Make scores less offsets: some equal, some apart by less than any screen sees."""
    similarity, keys = inner(kind, rng, n, m, d)
    offsets = rng.integers(-3, 4, m) * 250_000_000 + rng.integers(-2, 3, m)
    scale = int(rng.integers(1, 3))
    return Corrected(similarity, Offsets(scale, offsets)), scale * keys - offsets


SIMILARITIES = {
    "float32": cosine,
    "float16": partial(cosine, dtype=np.float16),
    "float64": partial(cosine, dtype=np.float64),
    "sparse dot": sparse,
    "sparse cosine": partial(sparse, compared_by="cosine"),
    "maxsim": tokens,
    "meanmaxsim": partial(tokens, compared_by="meanmaxsim"),
    "function": function,
    "large function": partial(function, scale=1e5),
    "corrected": corrected,
    "corrected dot": partial(corrected, inner=sparse),
}
EXTREME = ("lengths", "huge", "tiny", "large dimension")  # beyond float16, and refused where lengths count
CASES = [
    (form, kind)
    for form in SIMILARITIES
    for kind in KINDS
    if kind not in EXTREME or form in ("float32", "float64", "sparse cosine", "corrected")
]


def tally_of(similarity):
    """Give the similarity that counts pairs: of a corrected one, what it corrects."""
    return similarity.similarity if isinstance(similarity, Corrected) else similarity


class Questions:
    """Watchers of every sort for pairs, groups, weights and sides drawn at random, and their true answers."""

    def __init__(self, keys, rng, *, k=3, cap=1000, seed=5):
        (n, m), self.watchers, self.answers = keys.shape, {}, {}
        for name, table, columns in (("", keys, False), ("columns: ", keys.T, True)):
            size, others = table.shape
            weights = rng.integers(0, 4, others)
            weights[rng.integers(others)] = 1
            chosen = np.unique(rng.integers(0, size, 5))
            query, candidate = rng.integers(0, size, 40), rng.integers(0, others, 40)
            membership = rng.random((others, 4)) < 0.5
            codes, within = rng.integers(0, 3, others), rng.integers(0, 4, 40)
            each = np.arange(size), rng.integers(0, others, size)
            for title, pairs, options in (
                ("counts", (query, candidate), {}),
                ("counts, a pair a query", each, {}),
                ("counts by weight", (query, candidate), {"weights": weights}),
                ("counts by code", (query, candidate), {"groups": codes}),
                ("counts by membership", (query, candidate), {"groups": membership, "weights": weights}),
                ("counts within", (query, candidate), {"groups": membership, "within": within}),
                ("no counts", (query[:0], candidate[:0]), {}),
            ):
                key = table[pairs]
                self.watchers[name + title] = Counts(*pairs, key, **options, columns=columns)
                self.answers[name + title] = counted(table, *pairs, **options)
            for title, best, options in (
                ("top", k, {}),
                ("nearest", 1, {"weights": weights}),
                ("top of some", k, {"queries": chosen}),
                ("top by weight", k + 1, {"weights": weights, "queries": chosen}),
                ("top beyond all", others + 2, {}),
            ):
                watcher = Top(best, (n, m), **options, cap=cap, seed=seed, columns=columns)
                self.watchers[name + title] = watcher
                self.answers[name + title] = best_of(table, best, cap, seed, **options)

    def check(self, similarity, ranker):
        """Let a ranker answer all in one pass, and compare."""
        rank(similarity, list(self.watchers.values()), ranker)
        for name, watcher in self.watchers.items():
            assert answer(watcher) == self.answers[name], name


def answer(watcher):
    """Give what a watcher saw, in plain lists."""
    if isinstance(watcher, Counts):
        assert watcher.above.dtype == watcher.tied.dtype == np.int64
        return watcher.above.tolist(), watcher.tied.tolist()
    best = watcher.result()
    return {field.name: getattr(best, field.name).tolist() for field in fields(best)}


def counted(keys, query, candidate, groups=None, weights=None, within=None):
    """Count by the reference."""
    is_flat = groups is None
    if groups is None:
        groups = np.ones((keys.shape[1], 1), np.int64)
    elif groups.ndim == 1:
        groups = np.equal.outer(groups, np.arange(groups.max() + 1))
    members = groups.astype(np.int64) * (1 if weights is None else weights[:, None])
    sums = reference.counts(keys, query, candidate, members)
    if within is not None:
        return tuple(table[np.arange(len(query)), within].tolist() for table in sums)
    return tuple((table[:, 0] if is_flat else table).tolist() for table in sums)


def best_of(keys, k, cap, seed, weights=None, queries=None):
    """List the best by the reference, in the form of `answer`."""
    weights = np.ones(keys.shape[1], np.int64) if weights is None else weights
    lists, unlisted = reference.top(keys, k, weights, cap, seed)
    owners = range(len(keys)) if queries is None else queries.tolist()
    lines = [(owner, *line) for owner in owners for line in lists[owner]]
    columns = zip(*lines, strict=True) if lines else [()] * 5
    names = ("query", "candidate", "weight", "above", "tied")
    best = {name: list(column) for name, column in zip(names, columns, strict=True)}
    return best | {"unlisted": [unlisted[i] if i in owners else 0 for i in range(len(keys))]}


@st.composite
def problems(draw, forms=tuple(SIMILARITIES)):
    form, kind = draw(st.sampled_from([case for case in CASES if case[0] in forms]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.integers(1, 30)), draw(st.integers(1, 50)), draw(st.integers(1, 20))
    return rng, *SIMILARITIES[form](kind, rng, *sizes)


@st.composite
def constants(draw):
    usual = draw(st.sampled_from(list(SETTINGS.values())))
    return usual | {"tile_bytes": draw(st.integers(200, 9000)), "BLOCK": draw(st.integers(3, 40))}
