"""The one pass over a multilingual pool: every question against every candidate, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.multilingual_pool.columns import Columns
from xlingual.evaluation.multilingual_pool.counts import PoolCounts
from xlingual.evaluation.multilingual_pool.heads import BlockHeads, Heads
from xlingual.ranking import CPU, Cosine, GroupCounts, Ranker, Reduction, UnitVectors
from xlingual.records import Ints


@dataclass(frozen=True)
class Passed:
    """What the pass found: counts for every relevant candidate, and the head of each question's ranking."""

    counts: PoolCounts
    heads: Heads | None
    screened: int  # pairs scored in float32
    decided: int  # pairs scored in float64


def one_pass(
    pool: MultilingualPool,
    questions: np.ndarray,
    candidates: np.ndarray,
    *,
    top: int | None = None,
    depth: int = 0,
    ranker: Ranker = CPU,
    progress: Callable[[int, int], None] | None = None,
    cluster: Ints | None = None,
) -> Passed:
    """Rank all candidates for all questions: vectors [n, d] and [m, d] of the pool's rows.

    `top`: count the languages of so many first places, None for none; `depth` (at most `top`): keep so many
    of the first candidates. `cluster`: of each question, where not the pool's.
    """
    columns = Columns.of_candidates(candidates, pool.candidates.language, len(pool.languages))
    similarity = Cosine(UnitVectors(questions), columns.vectors)
    question, candidate = pool.relevant
    split = GroupCounts.of(
        similarity, question, columns.of[candidate], columns.bounds, weights=columns.weights
    )
    reductions: list[Reduction] = [split]
    heads = None
    if top is not None:
        heads = BlockHeads(columns, len(questions), top=top, depth=depth)
        reductions.append(heads)
    ranker.scan(similarity, reductions, progress=progress)
    above, tied = split.result()
    counts = PoolCounts(
        languages=pool.languages,
        question=question,
        candidate=candidate,
        key=split.keys_given,
        above=above,
        tied=tied,
        question_language=pool.questions.language,
        candidate_language=pool.candidates.language,
        cluster=pool.questions.cluster if cluster is None else cluster,
        article=pool.questions.article,
    )
    found = None if heads is None else heads.result(similarity, ranker)
    return Passed(counts, found, similarity.screened, similarity.decided)
