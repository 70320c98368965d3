"""The lists of a multilingual pool: the candidates of each question."""

from __future__ import annotations

from dataclasses import replace

from xlingual.arrays import Ints
from xlingual.data.pools.pool import Candidates, MultilingualPool, Questions
from xlingual.embed.sides import PoolVectors
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.multilingual_pool.numbers import ALL, POOL
from xlingual.evaluation.multilingual_pool.one_pass import PoolColumns
from xlingual.evaluation.rankings import Member, Ranking
from xlingual.evaluation.run import Options
from xlingual.forms import AnyVectors
from xlingual.ranking import Banked, Offsets, Ranker, rows_of, similarity_of


def ranking_of(
    encoder: str,
    pool: MultilingualPool,
    given: PoolVectors | Lists,
    policy: str,
    options: Options,
    offsets: Offsets | None = None,
    repair: Banked | None = None,
    grades: Ints | None = None,
) -> Ranking:
    """Return the lists of an encoder or of a search system.

    `offsets` is that by the repair of hubs, where it is known; else `repair` finds it. `grades` are those
    of the relevant pairs, where they are not the pool's own.
    """
    question, candidate = pool.relevant
    grade = pool.grades if grades is None else grades
    if policy == "prefer-own":
        own = pool.questions.language[question] == pool.candidates.language[candidate]
        question, candidate, grade = question[own], candidate[own], grade[own]
    ranking = Ranking(
        *(encoder, ALL, POOL, options.seed),
        queries=members_of(pool, pool.questions),
        candidates=members_of(pool, pool.candidates),
        relevant=(question, candidate),
        judged=(question, candidate, grade),
    )
    if isinstance(given, Lists):
        return replace(ranking, given=given)
    questions, candidates = rows_of(given.questions), rows_of(given.candidates)
    return replace(
        ranking,
        query_vectors=questions,
        candidate_vectors=candidates,
        offsets=_offsets(pool, given.candidates, repair, options.ranker) if offsets is None else offsets,
    )


def members_of(pool: MultilingualPool, part: Questions | Candidates) -> list[Member]:
    """Return the questions, or the candidates, with their names."""
    tags = pool.languages
    return [
        Member(tags[code], own, row)
        for row, (code, own) in enumerate(zip(part.language.tolist(), part.ids, strict=True))
    ]


def _offsets(
    pool: MultilingualPool, candidates: AnyVectors, repair: Banked | None, ranker: Ranker
) -> Offsets | None:
    """Return the offsets of candidates by the correction of hubs, if there is one."""
    if repair is None:
        return None
    columns = PoolColumns.of_candidates(candidates, pool.candidates.language, len(pool.languages))
    similarity = similarity_of(repair.bank.vectors, columns.vectors)
    return repair.offsets(similarity, ranker).take(columns.of)
