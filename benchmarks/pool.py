"""A multilingual pool of XQuAD-R's full size: all views, with intervals, against the bare product.

`python -m benchmarks.pool 100` takes another number of questions of each language, and of candidates.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.timed import Job, measure, product
from benchmarks.vectors import Roles, keys_of
from xlingual import MultilingualPool, Results, multilingual_pool
from xlingual.data.pools.pool import Candidates, Questions

QUESTIONS, DIM, GOAL = 1190, 768, 1.4
SIZES = (1222, 1276, 1234, 1180, 1215, 1244, 1219, 852, 1167, 1209, 1196)  # of the paper
LANGUAGES = ("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh")
CHECKED = 40  # questions compared with float64 scores

Vectors = tuple[np.ndarray, np.ndarray]  # of questions and candidates


def pool_of(n: int, sizes: Sequence[int], answers: Sequence[np.ndarray]) -> MultilingualPool:
    """Make a pool of n questions in each language, whose answers are these candidates of each language."""
    keys: list[list[str]] = [[] for _ in range(sum(sizes))]
    for first, rows in zip(np.cumsum((0, *sizes)).tolist(), answers, strict=False):
        for question, row in enumerate(rows.tolist()):
            keys[first + row].append(f"q{question}")
    number, codes, m = np.tile(np.arange(n), len(sizes)), np.arange(len(sizes)), sum(sizes)
    names, texts = [f"q{i}" for i in number], [f"question {i}" for i in range(len(number))]
    asked = Questions(names, np.repeat(codes, n), texts, names, number // 5)
    clusters = np.concatenate([np.arange(size) * (n // 5) // size for size in sizes])
    ids, texts, shared = [f"c{i}" for i in range(m)], [f"candidate {i}" for i in range(m)], map(tuple, keys)
    offered = Candidates(ids, np.repeat(codes, sizes), texts, [""] * m, list(shared), clusters)
    return MultilingualPool("synthetic", LANGUAGES, asked, offered, (), ())


def made(n: int, sizes: Sequence[int], dim: int) -> tuple[MultilingualPool, Vectors]:
    """Make a pool, and vectors that add up meaning, language and noise."""
    rng = np.random.default_rng(0)
    answers = [np.sort(rng.choice(size, n, replace=size < n)) for size in sizes]
    meaning = rng.standard_normal((n, dim)).astype(np.float32)
    asked, offered = [], []
    for rows, size in zip(answers, sizes, strict=True):
        language = 0.5 * rng.standard_normal(dim).astype(np.float32)
        means = rng.standard_normal((size, dim)).astype(np.float32)
        means[rows] = meaning
        for side, means_of in ((asked, meaning), (offered, means)):
            side.append(means_of + language + 1.5 * rng.standard_normal(means_of.shape).astype(np.float32))
    return pool_of(n, sizes, answers), (np.concatenate(asked), np.concatenate(offered))


def evaluate(pool: MultilingualPool, vectors: Vectors) -> Results:
    """Evaluate all views of one encoder."""
    return multilingual_pool(pool, text_encoders={"given": Roles(vectors)}, threads=1, store=None)


def check(pool: MultilingualPool, vectors: Vectors, results: Results) -> None:
    """Compare the average precision of some questions with one from float64 scores, expected under ties."""
    questions, candidates = vectors
    some = np.linspace(0, len(questions) - 1, CHECKED).astype(np.int64)
    values = results.per_query.column("value").to_numpy()[some]
    question, candidate = pool.relevant
    for value, row, keys in zip(values, some, keys_of(questions[some], candidates), strict=True):
        right = keys[candidate[question == row]]
        total = 0.0
        for key in right:
            tied, tied_right = int((keys == key).sum()), int((right == key).sum())
            place = np.arange(tied)
            others = place * (tied_right - 1) / max(tied - 1, 1)
            total += ((1 + (right > key).sum() + others) / (1 + (keys > key).sum() + place)).mean()
        assert abs(value - total / len(right)) < 1e-9, (row, value, total / len(right))


def main(n: int = QUESTIONS) -> None:
    """Print the ratio of all views."""
    evaluate(*made(20, (25,) * len(LANGUAGES), 16))  # so that no import is timed
    pool, vectors = made(n, [size * n // QUESTIONS for size in SIZES], DIM)
    whole = Job("all views", partial(evaluate, pool, vectors), goal=GOAL, check=partial(check, pool, vectors))
    title = " × ".join(f"{len(side):,}" for side in vectors)
    measure(f"{title}, {DIM} dimensions", [product(vectors), whole], turns=3)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:] if word.isdigit()))
