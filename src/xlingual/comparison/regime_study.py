"""From the values of questions to a study of regimes: means over trainings, and every pair of regimes tested.

p-values are corrected (Holm) over all pairs of regimes, for each value by itself. See
docs/reference/training.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from xlingual.comparison.queries import Labels, Queries
from xlingual.comparison.trainings import decided, difference, mean_over_trainings, whole
from xlingual.errors import InputError
from xlingual.results.regime_study import (
    TESTED,
    VALUES,
    QuestionValues,
    RegimeDifference,
    RegimeScores,
    Score,
)
from xlingual.stats.trainings import spread
from xlingual.streams import stream

REPLICATES = 1999


def regime_scores(
    values: Mapping[str, QuestionValues], models: Mapping[str, Sequence[str]]
) -> list[RegimeScores]:
    """Return the scores of regimes, the best in the pool of all languages first.

    `values` are those of each model, `models` the names of the models of each regime, by seed.
    """
    queries = {kind: queries_of(values, kind) for kind in VALUES}
    found = []
    for name, own in models.items():
        pool, *others = (_score(queries[kind], own) for kind in VALUES)
        assert pool is not None  # every question has a relevant candidate
        found.append(RegimeScores(name, list(own), pool, *others))
    return sorted(found, key=lambda one: -one.pool.value)


def regime_differences(
    values: Mapping[str, QuestionValues],
    models: Mapping[str, Sequence[str]],
    *,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> list[RegimeDifference]:
    """Return every regime less every later one of `models`, tested on the same questions."""
    found = []
    for where in TESTED:
        queries = queries_of(values, where)
        if queries is None:
            continue
        pairs = list(combinations(models, 2))
        tested = [
            difference(
                queries,
                whole(queries, models[one], models[other]),
                rng=stream(seed, f"regimes|{one}|{other}|{where}"),
                replicates=replicates,
            )
            for one, other in pairs
        ]
        found += [
            RegimeDifference(*pair, where=where, **fields)
            for pair, fields in zip(pairs, decided(tested), strict=True)
        ]
    return found


def queries_of(values: Mapping[str, QuestionValues], kind: str) -> Queries | None:
    """Return the questions that have a value of a kind, each with equal weight; None where there are none.

    Raises InputError where models were evaluated on different questions.
    """
    first = next(iter(values.values()))
    for name, own in values.items():
        if own.question != first.question:
            raise InputError(f"{name} was evaluated on other questions than {next(iter(values))}")
    rows = np.flatnonzero(np.isfinite(first.value[kind]))
    if not len(rows):
        return None
    languages = tuple(dict.fromkeys(first.language))
    code = np.array([languages.index(first.language[row]) for row in rows.tolist()], dtype=np.int64)
    return Queries.of_one_sample(
        "multilingual-pool",
        "AP",
        tuple(values),
        np.stack([own.value[kind][rows] for own in values.values()]),
        first.cluster[rows],
        language=Labels(code, languages),
    )


def _score(queries: Queries | None, models: Sequence[str]) -> Score | None:
    if queries is None:
        return None
    value, ci, each = mean_over_trainings(queries, models)
    mean = np.mean([queries.values[queries.row_of(name)] for name in models], axis=0)
    languages = queries.labels["language"]
    return Score(
        value=value,
        ci=ci,
        per_training=each,
        sd_training=spread(each),
        by_language={
            tag: float(mean[languages.code == code].mean())
            for code, tag in enumerate(languages.words)
            if (languages.code == code).any()
        },
    )
