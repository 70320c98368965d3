"""Judgements from a file of their own in place of those that a pool has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.names import AMBIGUOUS, Names
from xlingual.data.pools.build import taken
from xlingual.data.pools.retrieval_folder import Rows, judged_columns
from xlingual.data.pools.rows import Candidates, Questions
from xlingual.data.runs.qrels import Qrels, QrelsLike
from xlingual.errors import InputError, listed


def with_qrels(source: str, rows: Rows, given: QrelsLike, *, unanswered: bool = False) -> Rows:
    """Return the rows judged anew, with what is left out in a sentence.

    Judgements name texts by their ids, or as language:id. Each question has a key of its own; one without a
    relevant candidate (with `unanswered`, a judged one) is left out.
    """
    languages, questions, candidates, notes = rows
    qrels = Qrels.of(given)
    query = _rows_of(qrels.source, "queries", qrels.queries, questions, languages)
    candidate = _rows_of(qrels.source, "candidates", qrels.candidates, candidates, languages)
    tags = languages
    lost = {
        "queries of the judgements that are not in the data": int((query < 0).sum()),
        "candidates of the judgements that are not in the data": int((candidate < 0).sum()),
    }
    query, candidate, grade = query[qrels.query], candidate[qrels.candidate], qrels.grade
    order = np.lexsort((query, candidate))
    order = order[(query[order] >= 0) & (candidate[order] >= 0)]
    query, candidate, grade = query[order], candidate[order], grade[order]
    stays = np.unique(query if unanswered else query[grade > 0])
    if not (grade > 0).any():
        raise InputError(
            f"{qrels.source}: no judgement above 0 is of a query and a candidate of {source}: name both by "
            "their ids, or as language:id"
        )
    lost["queries without a relevant candidate"] = len(questions) - len(stays)
    keys = [
        f"{tags[code]}:{own}" for code, own in zip(questions.language.tolist(), questions.ids, strict=True)
    ]
    held: list[dict[str, int]] = [{} for _ in range(len(candidates))]
    among = set(stays.tolist())
    for q, c, own in zip(query.tolist(), candidate.tolist(), grade.tolist(), strict=True):
        if q in among:
            held[c][keys[q]] = own
    if left_out := listed(f"{what} ({count:,})" for what, count in lost.items() if count):
        notes = (*notes, f"{qrels.source}: left out are {left_out}")
    return (
        languages,
        taken(replace(questions, key=keys), stays),
        replace(candidates, **judged_columns(held)),
        notes,
    )


def _rows_of(
    source: str, what: str, names: Sequence[str], part: Questions | Candidates, languages: tuple[str, ...]
) -> Ints:
    """Return the row of each name, below 0 for those that are not in the data."""
    rows = Names([languages[code] for code in part.language.tolist()], part.ids).rows(names)
    if (rows == AMBIGUOUS).any():
        first = names[int(np.argmax(rows == AMBIGUOUS))]
        raise InputError(f"{source}: {first!r} is the id of {what} in several languages: write language:id")
    return rows
