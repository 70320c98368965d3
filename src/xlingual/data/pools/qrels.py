"""Judgements from a file of their own in place of those that a pool has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.names import AMBIGUOUS, UNKNOWN, Names, zeros_hint
from xlingual.data.pools.build import taken
from xlingual.data.pools.rows import Candidates, Questions
from xlingual.data.runs.qrels import Qrels, QrelsLike
from xlingual.errors import InputError, listed

V = TypeVar("V")


def with_qrels(
    source: str, languages: tuple[str, ...], questions: Questions, candidates: Candidates, given: QrelsLike
) -> tuple[Questions, Candidates, tuple[str, ...]]:
    """Return questions and candidates judged anew, and what is left out, in a sentence.

    Judgements name texts by their ids, or as language:id. Each question has a key of its own; one without a
    relevant candidate is left out.
    """
    qrels = Qrels.of(given)
    (asked, query), (found, candidate) = (
        _rows(qrels, what, names, languages, part)
        for what, names, part in (
            ("queries", qrels.queries, questions),
            ("candidates", qrels.candidates, candidates),
        )
    )
    query, candidate, grade = query[qrels.query], candidate[qrels.candidate], qrels.grade
    order = np.lexsort((query, candidate))
    order = order[(query[order] >= 0) & (candidate[order] >= 0)]
    query, candidate, grade = query[order], candidate[order], grade[order]
    kept = np.unique(query[grade > 0])
    if not len(kept):
        raise InputError(
            f"{qrels.source}: no judgement above 0 is of a query and a candidate of {source}: name both by "
            "their ids, or as language:id"
            + (zeros_hint(qrels.queries, questions.ids) or zeros_hint(qrels.candidates, candidates.ids))
        )
    tags = [languages[code] for code in questions.language.tolist()]
    keys = [f"{tag}:{own}" for tag, own in zip(tags, questions.ids, strict=True)]
    right = grade > 0
    wrong = ~right & np.isin(query, kept)
    m, names = len(candidates), [keys[row] for row in query.tolist()]
    judged = replace(
        candidates,
        keys=_held(m, candidate, names, right),
        grades=_held(m, candidate, grade.tolist(), right),
        irrelevant=_held(m, candidate, names, wrong) if wrong.any() else None,
    )
    lost = {
        "queries of the judgements that are not in the data": asked,
        "candidates of the judgements that are not in the data": found,
        "queries without a relevant candidate": len(questions) - len(kept),
    }
    left_out = listed(f"{what} ({count:,})" for what, count in lost.items() if count)
    notes = (f"{qrels.source}: left out are {left_out}",) if left_out else ()
    return taken(replace(questions, key=keys), kept), judged, notes


def _rows(
    qrels: Qrels, what: str, names: Sequence[str], languages: Sequence[str], part: Questions | Candidates
) -> tuple[int, Ints]:
    """Return how many names nobody knows, and the row of each name, below 0 for these."""
    tags = [languages[code] for code in part.language.tolist()]
    rows = Names(tags, part.ids).rows(names)
    if (rows == AMBIGUOUS).any():
        first = names[int(np.argmax(rows == AMBIGUOUS))]
        raise InputError(
            f"{qrels.source}: {first!r} is the id of {what} in several languages: write language:id"
        )
    return int((rows == UNKNOWN).sum()), rows


def _held(m: int, candidate: Ints, values: Sequence[V], chosen: np.ndarray) -> list[tuple[V, ...]]:
    """Return the values of the chosen judgements by candidate [m], in their order."""
    found: list[list[V]] = [[] for _ in range(m)]
    for row in np.flatnonzero(chosen).tolist():
        found[candidate[row]].append(values[row])
    return [tuple(own) for own in found]
