"""Results of any size without an evaluation: random values of queries, in tables as results have them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from benchmarks.vectors import Given, two_languages
from xlingual import Results, backretrieval

HUBS = 0.3  # exponent of how often a target is retrieved: some are, much more often than others
LIKE = 0.5  # share of what encoders retrieve that all of them do


def _template() -> Results:
    """Return the results of a small evaluation, whose records are filled with other numbers."""
    lines = np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32)
    return backretrieval(
        two_languages(20),
        text_encoders={"given": Given(lines)},
        image_encoder=Given(lines, "images"),
        measures=["R@10"],
        pairs="en-de",
        store=None,
    )


def made(encoders: int, pairs: int, queries: int, *, near: float = 0.002, seed: int = 0) -> Results:
    """Return Backretrieval of so many encoders, language pairs and queries in each pair.

    A query is one item in all pairs. The true values of encoders lie `near` to each other, in steps.
    """
    rng, small = np.random.default_rng(seed), _template()
    names, n = [f"e{i:02}" for i in range(encoders)], pairs * queries
    item = np.tile(np.arange(queries), pairs)
    difficulty = rng.standard_normal(queries)[item]
    usual = _targets(rng, n, queries)
    values, targets = [], []
    for place in range(encoders):
        ahead = difficulty + rng.standard_normal(n) < 0.5 - 2.5 * near * place
        values.append(ahead.astype(np.float64))
        targets.append(np.where(rng.random(n) < LIKE, usual, _targets(rng, n, queries)))
    languages = [f"l{k:02}" for k in range(pairs)]
    pair = np.repeat(np.arange(pairs), queries)

    def coded(code: np.ndarray, words: list[str]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(np.tile(code, encoders).astype(np.int32)), words)

    count = n * encoders
    encoder = pa.DictionaryArray.from_arrays(
        pa.array(np.repeat(np.arange(encoders, dtype=np.int32), n)), pa.array(names)
    )
    ids = [f"q{i}" for i in range(queries)]
    first = small.entries[0]
    table = pa.table(
        {
            "task": coded(np.zeros(n), [first.task]),
            "encoder": encoder,
            "source": coded(pair, languages),
            "target": coded(np.zeros(n), ["de"]),
            "measure": coded(np.zeros(n), [first.measure]),
            "seed": np.zeros(count, dtype=np.int64),
            "query": coded(item, ids),
            "cluster": np.tile(item, encoders),
            "retrieved": coded(np.zeros(n), ["t"]),
            "retrieved_cluster": np.concatenate(targets),
            "value": np.concatenate(values),
        }
    )
    entries = [
        replace(
            first,
            encoder=name,
            source=language,
            value=float(own[pair == k].mean()),
            n_source=queries,
            n_target=queries,
            signature=first.signature.replace("given:given", f"given:{name}"),
        )
        for name, own in zip(names, values, strict=True)
        for k, language in enumerate(languages)
    ]
    whole = next(row for row in small.summary)
    summary = [
        replace(whole, encoder=name, source=None, target=None, value=float(own.mean()))
        for name, own in zip(names, values, strict=True)
    ]
    return Results(entries, summary, table)


def _targets(rng: np.random.Generator, n: int, queries: int) -> np.ndarray:
    """Return what n queries retrieve, ids after those of the queries."""
    return queries + (queries * rng.random(n) ** (1 / (1 - HUBS))).astype(np.int64)
