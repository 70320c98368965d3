"""Views that belong to other measures than AP: what is among the first k, and nDCG within one language."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.lists import cut_of
from xlingual.evaluation.multilingual_pool.language_bias import monolingual_view, own_other_gap
from xlingual.evaluation.multilingual_pool.relevant_ranks import RelevantRanks
from xlingual.evaluation.multilingual_pool.views import Scores, View, by_pair
from xlingual.measures import NDCG, PoolMeasure
from xlingual.records import JudgedCounts

FOUND, MONOLINGUAL = "found", "monolingual-pool"


def views_of_measure(measure: PoolMeasure, size: int) -> set[str]:
    """Return the names of the views that belong to a measure other than AP, in a pool of that size."""
    cut = cut_of(measure, size)
    names = {FOUND} if cut is not None and cut < size else set()
    return names | ({MONOLINGUAL} if isinstance(measure, NDCG) else set())


def measure_views(
    ranks: RelevantRanks, measure: PoolMeasure, wanted: Collection[str], grades: Ints
) -> list[View]:
    """Return the wanted views of a measure; `grades` are those of the pool's relevant pairs."""
    size = int(ranks.counts.sizes.sum())
    names = views_of_measure(measure, size) & set(wanted)
    views = []
    if FOUND in names and (cut := cut_of(measure, size)) is not None:
        views.append(found_among(ranks, cut))
    if MONOLINGUAL in names and isinstance(measure, NDCG):
        views.append(monolingual_view(ranks, monolingual_ndcg(ranks, measure, grades)))
    return views


def found_among(ranks: RelevantRanks, k: int) -> View:
    """Return the share of the answers that are among the first k: R@k of own and of other languages.

    "ar->de": of questions in ar, the share of their answers in de, the mean over questions that have some.
    The summary is over questions that have answers in their own and in another language, as that of
    `one_target`.
    """
    table = ranks.by_answer_language(share_among(ranks, k))
    shown: Scores = {"found": by_pair(ranks.counts, table)}
    known = own_other_gap(ranks.counts, table)
    return View.of({**shown, "found_summary": known} if known else shown, found_at=k)


def share_among(ranks: RelevantRanks, k: int) -> Floats:
    """Return how probable it is that each line's candidate is among the first k, float64 [p]."""
    return ranks.without_missed(np.clip((k - ranks.above) / ranks.tied, 0.0, 1.0))


def monolingual_ndcg(ranks: RelevantRanks, measure: NDCG, grades: Ints) -> Floats:
    """Return each question's nDCG in its language's pool [n]; NaN without an answer there."""
    counts, rows = ranks.counts, np.flatnonzero(ranks.own)
    language, pool = ranks.answer_language[rows], counts.sizes[counts.question_language]
    above, tied, question = (
        ranks.above_of(language, rows),
        ranks.tied_of(language, rows),
        ranks.question[rows],
    )
    above, tied = counts.missed_last(above, tied, pool[question], ranks.line[rows])
    lines = question, above, tied, grades[ranks.line[rows]]
    return measure.per_query(JudgedCounts(*lines, pool, pool))
