"""Scores of means over questions, of which some may have no value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.multilingual_pool.counts import PoolCounts
from xlingual.measures.precision import AveragePrecision
from xlingual.records import Floats, Ints

AP = AveragePrecision()


def mean_score(values: Floats, cluster: Ints) -> Score | None:
    """Return the score of the mean of values in 0..1 [n]; NaN: not counted; None where none counts."""
    rows = np.flatnonzero(~np.isnan(values))
    return score(AP, values[rows], (cluster[rows],)) if len(rows) else None


def by_question_language(counts: PoolCounts, values: Floats) -> dict[str, Score]:
    """Return the mean of values in 0..1 [n] over the questions of each language, where there are any."""
    found = {}
    for code, language in enumerate(counts.languages):
        rows = np.flatnonzero(counts.question_language == code)
        found[language] = mean_score(values[rows], counts.cluster[rows])
    return compact(found)


def by_pair(counts: PoolCounts, table: Floats) -> dict[str, Score]:
    """Return the means of a table [n, G] by answer language: "ar->de" is asked in ar, answered in de."""
    found = {}
    for asked_in, asked in enumerate(counts.languages):
        rows = np.flatnonzero(counts.question_language == asked_in)
        part, cluster = table[rows], counts.cluster[rows]
        for answered_in, answer in enumerate(counts.languages):
            found[f"{asked}->{answer}"] = mean_score(part[:, answered_in], cluster)
    return compact(found)


def compact(found: Mapping[str, Score | None]) -> dict[str, Score]:
    """Return those scores that there are."""
    return {name: each for name, each in found.items() if each is not None}
