"""The lists of a multilingual pool: the candidates of each question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.multilingual_pool.numbers import ALL, POOL
from xlingual.evaluation.multilingual_pool.one_pass import PoolColumns
from xlingual.evaluation.passes import offsets_of
from xlingual.evaluation.rankings import Member, Ranking
from xlingual.ranking import Cosine, Offsets, UnitVectors

if TYPE_CHECKING:
    from xlingual.data.pools.rows import Candidates, Questions
    from xlingual.evaluation.multilingual_pool.evaluate import PoolRun


def rankings(run: PoolRun, encoder: str) -> Iterator[Ranking]:
    """Yield the lists of an encoder."""
    pool, vectors = run.pool, run.embedded(encoder, run.text_encoders[encoder])
    questions, candidates = UnitVectors(vectors.questions), UnitVectors(vectors.candidates)
    question, candidate = pool.relevant
    if run.choice.policy == "prefer-own":
        own = pool.questions.language[question] == pool.candidates.language[candidate]
        question, candidate = question[own], candidate[own]
    yield Ranking(
        *(encoder, ALL, POOL, run.options.seed),
        queries=_members(pool, pool.questions),
        candidates=_members(pool, pool.candidates),
        relevant=(question, candidate),
        query_vectors=questions,
        candidate_vectors=candidates,
        offsets=_offsets(run, questions, vectors.candidates),
    )


def _members(pool: MultilingualPool, part: Questions | Candidates) -> list[Member]:
    tags = pool.languages
    return [
        Member(tags[code], own, row)
        for row, (code, own) in enumerate(zip(part.language.tolist(), part.ids, strict=True))
    ]


def _offsets(run: PoolRun, questions: UnitVectors, candidates: np.ndarray) -> Offsets | None:
    """Return the offsets of questions and candidates by the repair of hubs, if there is one."""
    if run.options.repair is None:
        return None
    pool = run.pool
    columns = PoolColumns.of_candidates(candidates, pool.candidates.language, len(pool.languages))
    similarity = Cosine(questions, columns.vectors)
    sample = np.ones(len(questions), dtype=np.int64), columns.weights
    (found,) = offsets_of(similarity, [sample], run.options.repair, run.options.ranker)
    return Offsets(found.scale, found.queries, found.candidates[columns.of])
