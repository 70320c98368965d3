"""The values of single questions in the pool of all languages, and in that of their own language."""

from __future__ import annotations

from collections.abc import Callable

from xlingual.arrays import Vectors
from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.multilingual_pool.language_bias import (
    monolingual_average_precision,
    same_and_other,
    single_answer_precision,
)
from xlingual.evaluation.multilingual_pool.one_pass import one_pass
from xlingual.evaluation.multilingual_pool.relevant_ranks import relevant_ranks
from xlingual.measures import average_precision
from xlingual.ranking import CPU, Ranker
from xlingual.results.regime_study import OTHER, OWN_POOL, POOL, SAME, QuestionValues


def question_values(
    pool: MultilingualPool,
    questions: Vectors,
    candidates: Vectors,
    *,
    ranker: Ranker = CPU,
    progress: Callable[[int, int], None] | None = None,
) -> QuestionValues:
    """Return the average precision of each question, from vectors [n, d] and [m, d] of the pool's rows.

    `pool`: among all candidates (LAReQA, Table 2); `own_pool`: among those of the question's language (Table
    4); `same` and `other`: with a single answer in the pool, in the question's language or in another (mean
    over languages), for the questions that have both (Figure 4). All from one pass.
    """
    counts = one_pass(pool, questions, candidates, ranker=ranker, progress=progress).counts
    ranks = relevant_ranks(counts)
    same, other = same_and_other(counts, single_answer_precision(ranks))
    tags = [pool.languages[code] for code in pool.questions.language]
    return QuestionValues(
        [f"{tag}/{name}" for tag, name in zip(tags, pool.questions.ids, strict=True)],
        tags,
        counts.cluster,
        {
            POOL: average_precision(counts.whole_pool()),
            OWN_POOL: monolingual_average_precision(ranks),
            SAME: same,
            OTHER: other,
        },
    )
