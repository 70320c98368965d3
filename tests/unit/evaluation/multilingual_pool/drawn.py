"""Small pools drawn at random, with vectors of many ties, and an encoder that gives them."""

import numpy as np

from xlingual import MultilingualPool
from xlingual.data.pools.pool import Candidates, Questions

LANGUAGES = ("ar", "de", "en")


class Given:
    """Gives the vectors that it was made with."""

    def __init__(self, questions, candidates, identity="given"):
        self.vectors, self.identity = {"query": questions, "candidate": candidates}, identity

    def encode(self, batch):
        return self.vectors[batch.role]


def a_pool(asked_in, key, language, keys, cluster=None, languages=LANGUAGES):
    """Return a pool of questions with a language and a key, and candidates with a language and keys."""
    n, m = len(asked_in), len(language)
    cluster = list(key) if cluster is None else cluster
    number = {name: i for i, name in enumerate(dict.fromkeys(cluster))}
    of_candidate = [
        number[own[0]] if own and own[0] in number else len(number) + i for i, own in enumerate(keys)
    ]
    return MultilingualPool(
        "a pool",
        tuple(languages),
        Questions(
            [f"q{i}" for i in range(n)],
            np.asarray(asked_in, dtype=np.int64),
            [f"question {i}" for i in range(n)],
            list(key),
            np.array([number[name] for name in cluster], dtype=np.int64),
            np.array([number[name] // 2 for name in cluster], dtype=np.int64),
        ),
        Candidates(
            [f"c{i}" for i in range(m)],
            np.asarray(language, dtype=np.int64),
            [f"sentence {i}" for i in range(m)],
            [""] * m,
            [tuple(own) for own in keys],
            np.array(of_candidate, dtype=np.int64),
        ),
        (),
        (),
    )


def drawn(rng, n, m, n_keys=4, levels=2, dim=3, repeats=0.3):
    """Return a pool and vectors of few whole numbers: many ties, equal rows, rows of zeros."""
    language = np.concatenate([np.arange(3), rng.integers(0, 3, m - 3)])
    keys = [[f"k{j}" for j in np.flatnonzero(rng.random(n_keys) < 0.4)] for _ in range(m)]
    key = [f"k{j}" for j in rng.integers(0, n_keys, n)]
    held = {name for own in keys for name in own}
    for name in sorted(set(key) - held):
        keys[int(rng.integers(m))].append(name)
    vectors = [rng.integers(-levels, levels + 1, (size, dim)).astype(np.float32) for size in (n, m)]
    for rows in vectors:
        again = np.flatnonzero(rng.random(len(rows)) < repeats)
        rows[again] = rows[rng.integers(0, len(rows), len(again))] * rng.choice([0, 1, 2, 3], (len(again), 1))
    return a_pool(rng.integers(0, 3, n), key, language, keys), *vectors
