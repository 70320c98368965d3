"""One target only (LAReQA, Figure 4): each answer alone in the pool of all languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.evaluation.estimates import Score, difference
from xlingual.evaluation.multilingual_pool.views.means import by_pair, compact, mean_score
from xlingual.evaluation.multilingual_pool.views.precision import reciprocal_rank
from xlingual.evaluation.multilingual_pool.views.standings import Standings, own_and_other
from xlingual.evaluation.multilingual_pool.views.written import intervals, values


@dataclass(frozen=True)
class OneTarget:
    """AP (= 1/rank) of one answer in the pool without the question's other relevant candidates.

    `pairs` "ar->de": the mean over questions asked in ar; a question with several answers in de counts once,
    with their mean, each alone. `summary`: over questions that have answers in their own and in another
    language, the mean of the own language's value, that of the mean over the other languages, and the gap.
    """

    pairs: dict[str, Score]
    summary: dict[str, Score]

    def as_json(self) -> dict[str, Any]:
        """Return the values by name."""
        summary = {"one_target_summary": values(self.summary)} if self.summary else {}
        return {"one_target": values(self.pairs), **summary}

    def intervals(self) -> dict[str, Any]:
        """Return the intervals, nested alike."""
        summary = {"one_target_summary": intervals(self.summary)} if self.summary else {}
        return {"one_target": intervals(self.pairs), **summary}


def one_target(standings: Standings) -> OneTarget:
    """Return every answer's score when only it is in the pool.

    With G irrelevant candidates above and n tied (the answer included) that is (H(G + n) − H(G))/n.
    """
    above = standings.above - standings.relevant_above()
    tied = standings.tied - standings.relevant_tied() + 1
    counts = standings.counts
    table = standings.by_answer_language(reciprocal_rank(above, tied))
    own, other = own_and_other(counts, table)
    unpaired = np.isnan(own + other)
    own[unpaired] = other[unpaired] = np.nan
    summary = {"own": mean_score(own, counts.cluster), "other": mean_score(other, counts.cluster)}
    if summary["own"] is not None and summary["other"] is not None:
        summary["gap"] = difference(summary["own"], summary["other"])
    return OneTarget(by_pair(counts, table), compact(summary))
