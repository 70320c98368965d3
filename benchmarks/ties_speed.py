"""Many ties and near-ties among different vectors: time against the same shapes without ties.

Categories as vectors, binary codes, counts of few words, texts that differ in a character, and an encoder
whose vectors have collapsed. What is asked for is what Backretrieval, retrieval and a multilingual pool ask
for. Answers for some queries are compared with the float64 matrix, of rows collapsed by the same rule. One
thread, processor time; `python -m benchmarks.ties_speed 20000 768` takes other numbers.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from xlingual.ranking.scan import innermost

from benchmarks.ranking_speed import sides
from benchmarks.vectors import Given, spectrum, two_languages
from xlingual import backretrieval
from xlingual.arrays import Ints
from xlingual.evaluation.multilingual_pool.one_pass import BlockHeads, PoolColumns
from xlingual.ranking import (
    Cosine,
    Counts,
    Cpu,
    GroupCounts,
    Reduction,
    Top,
    Transposed,
    one_library_thread,
)
from xlingual.ranking import reference as plain
from xlingual.ranking.similarity import UNIT
from xlingual.ranking.vectors import Pool

SIZE, DIM, IMAGE_DIM = 10_000, 768, 256
CHECKED = 50  # queries compared with the float64 matrix
GROUPS = 11  # languages of a pool
# times the same shape without ties; 3 is the goal, and lists of ties come on top of it: 200 for each query of
# the way back, 1,000 for each question of the pool, and one more pass for questions with more
LIMITS = {"nearest": 3.2, "counts": 3.2, "way back": 4.5, "pool": 4.5}
MEMORY = 1 << 30
EDGE = 1e-3  # of a key: what is so near to the next one may be either
CAP = 100  # ties listed for each query

Sides = tuple[np.ndarray, np.ndarray]


def categories(n: int, d: int) -> Sides:
    """Return one-hot vectors of 20 classes with random lengths."""
    rng = np.random.default_rng(1)
    eye = np.eye(20, d, dtype=np.float32)
    return tuple(
        eye[rng.integers(0, 20, n)] * rng.uniform(0.5, 2, (n, 1)).astype(np.float32) for _ in range(2)
    )  # type: ignore[return-value]


def codes(n: int, d: int) -> Sides:
    """Return binary codes of ±1."""
    rng = np.random.default_rng(2)
    return tuple(rng.choice(np.array([-1, 1], dtype=np.float32), (n, d)) for _ in range(2))  # type: ignore[return-value]


def short_codes(n: int, d: int) -> Sides:
    """Return binary codes of 12 bits, padded with zeros, with random lengths in float32."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(2):
        vectors = np.zeros((n, d), dtype=np.float32)
        vectors[:, :12] = rng.choice(np.array([-1, 1]), (n, 12)) * rng.uniform(0.5, 2, (n, 1))
        found.append(vectors)
    return found[0], found[1]


def few_words(n: int, d: int) -> Sides:
    """Return counts of three words of a vocabulary of 40."""
    rng = np.random.default_rng(4)
    found = []
    for _ in range(2):
        vectors = np.zeros((n, d), dtype=np.float32)
        np.add.at(vectors, (np.repeat(np.arange(n), 3), rng.integers(0, 40, 3 * n)), 1)
        found.append(vectors)
    return found[0], found[1]


def nearly_equal(n: int, d: int) -> Sides:
    """Return vectors of one direction and a little noise: cosines within 1e-8."""
    rng = np.random.default_rng(5)
    one = rng.standard_normal(d)
    return tuple((one + 4e-5 * rng.standard_normal((n, d))).astype(np.float32) for _ in range(2))  # type: ignore[return-value]


def nearly_copies(n: int, d: int) -> Sides:
    """Return 300 texts, each with copies that differ in the last digits."""
    rng = np.random.default_rng(6)
    base = rng.standard_normal((300, d))
    return tuple(
        (base[rng.integers(0, 300, n)] + 1e-6 * rng.standard_normal((n, d))).astype(np.float32)
        for _ in range(2)
    )  # type: ignore[return-value]


TIES = (categories, codes, short_codes, few_words, nearly_equal, nearly_copies)


class Asked:
    """Two sides with equal rows collapsed, and the reductions over them."""

    def __init__(self, given: Sides) -> None:
        self.pools = [Pool.of(side) for side in given]
        self.similarity = Cosine(*(pool.vectors for pool in self.pools))
        own = [np.arange(len(side)) for side in given]
        self.weights = [pool.weights(every) for pool, every in zip(self.pools, own, strict=True)]
        width = self.similarity.shape[1]
        self.query, self.target = np.divmod(
            np.unique(self.pools[0].code * width + self.pools[1].code[: len(given[0])]), width
        )

    def counts(self) -> list[Reduction]:
        """Return what retrieval with one right answer asks for."""
        return [Counts.of(self.similarity, self.query, self.target, weights=self.weights[1])]

    def nearest(self) -> list[Reduction]:
        """Return what the first steps of Backretrieval ask for."""
        return [Top(1, self.similarity.shape, weights=self.weights[1], cap=CAP)]

    def way_back(self) -> list[Reduction]:
        """Return what the last steps of Backretrieval ask for."""
        shape = self.similarity.shape
        return [
            *self.counts(),
            Top(10, shape, weights=self.weights[1], cap=CAP),
            Transposed(Top(1, shape[::-1], weights=self.weights[0], cap=CAP)),
        ]

    def pool(self) -> list[Reduction]:
        """Return what a pool of many languages asks for: each query has an answer in each."""
        rows, columns = self.similarity.shape
        bounds = np.linspace(0, columns, min(GROUPS, columns) + 1).astype(np.int64)
        groups = len(bounds) - 1
        query = np.repeat(np.arange(rows), groups)
        target = bounds[:-1][None, :] + np.arange(rows)[:, None] % np.diff(bounds)
        return [
            GroupCounts.of(self.similarity, query, target.reshape(-1), bounds, weights=self.weights[1]),
            BlockHeads(self.columns(bounds), rows, top=100, depth=1),
        ]

    def columns(self, bounds: Ints) -> PoolColumns:
        """Return the candidates as columns of languages."""
        language = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        return PoolColumns(self.pools[1].code, self.weights[1], self.pools[1].vectors, language, bounds)


WANTED: dict[str, Callable[[Asked], list[Reduction]]] = {
    "nearest": Asked.nearest,
    "counts": Asked.counts,
    "way back": Asked.way_back,
    "pool": Asked.pool,
}


def run(given: Sides, what: str) -> tuple[float, Asked, list[Reduction]]:
    """Return the seconds of a pass, with collapsing and the last decisions, and its answer."""
    begun = time.process_time()
    asked = Asked(given)
    reductions = WANTED[what](asked)
    Cpu().scan(asked.similarity, reductions)
    for one in map(innermost, reductions):
        if isinstance(one, Top):
            one.found = one.result()
        elif isinstance(one, BlockHeads):
            one.found = one.result(asked.similarity, Cpu())
    return time.process_time() - begun, asked, reductions


def assert_right(asked: Asked, reductions: list[Reduction]) -> None:
    """Compare the answers for some queries with the float64 matrix."""
    whole = [pool.vectors.raw[pool.vectors.rows] for pool in asked.pools]
    for outer in reductions:
        one = innermost(outer)
        left, right = (whole, asked.weights)[0], asked.weights[1]
        if isinstance(outer, Transposed):
            left, right = whole[::-1], asked.weights[0]
        rows = np.unique(np.linspace(0, len(left[0]) - 1, CHECKED).astype(np.int64))
        keys = _keys(asked.similarity, rows, left, turned=isinstance(outer, Transposed))
        if isinstance(one, Top):
            _assert_top(one, rows, keys, right)
        elif isinstance(one, Counts):
            lines = np.flatnonzero(np.isin(asked.query, rows))
            own = np.searchsorted(rows, asked.query[lines])
            above, tied = plain.counts(keys, own, asked.target[lines], right)
            np.testing.assert_array_equal(one.above[lines], above)
            np.testing.assert_array_equal(one.tied[lines], tied)
        elif isinstance(one, BlockHeads):
            _assert_heads(one, rows, keys, right)
        else:
            _assert_groups(one, rows, keys, right)


def _keys(similarity: Cosine, rows: Ints, sides: Sequence[np.ndarray], *, turned: bool) -> Ints:
    """Return the keys of some rows by the float64 matrix; on the edge of rounding, those of single pairs."""
    wide = [side.astype(np.float64) for side in sides]
    unit = [one / np.maximum(np.linalg.norm(one, axis=1, keepdims=True), 1e-30) for one in wide]
    scaled = unit[0][rows] @ unit[1].T / UNIT
    keys = np.rint(scaled).astype(np.int64)
    i, j = np.nonzero(np.abs(scaled - keys) > 0.5 - EDGE)
    pairs = (j, rows[i]) if turned else (rows[i], j)
    own = similarity.exact(*pairs)
    assert np.abs(own - scaled[i, j]).max(initial=0) < 0.5 + EDGE
    keys[i, j] = own
    return keys


def _assert_top(top: Top, rows: Ints, keys: Ints, weights: Ints) -> None:
    found = top.found
    for row, own in zip(rows.tolist(), keys, strict=True):
        lines = found.query == row
        above = np.array([weights[own > key].sum() for key in own[found.candidate[lines]]])
        tied = np.array([weights[own == key].sum() for key in own[found.candidate[lines]]])
        np.testing.assert_array_equal(found.above[lines], above)
        np.testing.assert_array_equal(found.tied[lines], tied)
        best = np.sort(own)[::-1]
        order = np.argsort(-own, kind="stable")
        kth = own[order][np.searchsorted(np.cumsum(weights[order]), top.k)]
        wanted = weights[own >= kth].sum()
        assert found.weight[lines].sum() + found.unlisted[row] == wanted, (row, best[:5])
        assert len(np.unique(found.candidate[lines])) == lines.sum()


def _assert_heads(heads: BlockHeads, rows: Ints, keys: Ints, weights: Ints) -> None:
    found, language = heads.found, heads.columns.language
    for row, own in zip(rows.tolist(), keys, strict=True):
        kth = np.sort(np.repeat(own, weights))[-heads.top]
        higher, tied = (
            np.bincount(language, weights * mask, found.places.shape[1]) for mask in (own > kth, own == kth)
        )
        share = (heads.top - higher.sum()) / tied.sum()
        np.testing.assert_allclose(found.places[row], higher + share * tied)
        lines = found.question == row
        np.testing.assert_array_equal(found.above[lines], 0)
        np.testing.assert_array_equal(found.tied[lines], weights[own == own.max()].sum())


def _assert_groups(counts: GroupCounts, rows: Ints, keys: Ints, weights: Ints) -> None:
    above, tied = counts.result()
    groups = above.shape[1]
    for place, row in enumerate(rows.tolist()):
        own = keys[place]
        for line in range(row * groups, (row + 1) * groups):
            key = counts.keys_given[line]
            for group in range(groups):
                part = slice(counts.bounds[group], counts.bounds[group + 1])
                assert above[line, group] == weights[part][own[part] > key].sum()
                assert tied[line, group] == weights[part][own[part] == key].sum()


def evaluations() -> None:
    """Print what the whole Backretrieval of 20,000 rows takes, where images, or texts, tie."""
    manifest, texts = two_languages(SIZE), spectrum(np.random.default_rng(0), 2 * SIZE, 64)
    usual = spectrum(np.random.default_rng(1), 2 * SIZE, IMAGE_DIM)
    backretrieval(  # so that no import is timed
        manifest, text_encoders={"e": Given(texts)}, image_encoder=Given(usual), pairs="en-de", examples=False
    )
    sides_of = {"no ties": usual} | {
        make.__name__: np.concatenate(make(SIZE, IMAGE_DIM)) for make in (categories, nearly_equal)
    }
    print(f"Backretrieval of {2 * SIZE:,} rows, {IMAGE_DIM}-d, without examples")
    for name, vectors in sides_of.items():
        for side, (left, right) in {"images": (texts, vectors), "texts": (vectors, usual)}.items():
            begun = time.process_time()
            backretrieval(
                manifest,
                text_encoders={"e": Given(left)},
                image_encoder=Given(right, "images"),
                pairs="en-de",
                threads=1,
                examples=False,
            )
            print(f"   {name}, {side}: {time.process_time() - begun:.2f} s")


def main(n: int = SIZE, d: int = DIM, *only: str) -> None:
    """Print how many times the time without ties each kind takes."""
    print(f"{n:,} × {n:,}, {d}-d, one thread, processor time")
    worst = dict.fromkeys(WANTED, 0.0)
    for what in WANTED:
        with one_library_thread():
            usual, asked, reductions = run(sides(n, d), what)
            usual = min(usual, run(sides(n, d), what)[0])
        print(f"   {what}: {usual:.2f} s without ties")
        for make in TIES:
            if only and make.__name__ not in only:
                continue
            given = make(n, d)
            with one_library_thread():
                seconds, asked, reductions = run(given, what)
            assert_right(asked, reductions)
            worst[what] = max(worst[what], seconds / usual)
            decided = asked.similarity.decided
            ratio = f"{seconds:7.2f} s  {seconds / usual:6.2f} times"
            print(f"      {make.__name__:14s} {ratio}, {decided:,} pairs decided")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"   most memory {peak / 2**20:.0f} MiB")
    evaluations()
    assert all(worst[what] <= limit for what, limit in LIMITS.items()), worst
    assert peak < MEMORY, peak


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:3]), *sys.argv[3:])
