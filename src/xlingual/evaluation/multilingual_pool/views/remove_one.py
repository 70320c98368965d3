"""Remove one target (LAReQA, Table 3): what it costs to lose the own-language answer, or another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.evaluation.estimates import Score
from xlingual.evaluation.multilingual_pool.views.means import mean_score
from xlingual.evaluation.multilingual_pool.views.precision import precision_at
from xlingual.evaluation.multilingual_pool.views.standings import Standings, own_and_other
from xlingual.evaluation.multilingual_pool.views.written import intervals, values
from xlingual.records import Floats, Ints
from xlingual.stats import Part


@dataclass(frozen=True)
class RemoveOne:
    """mAP after one relevant candidate has left the pool, over questions where both kinds can leave.

    `scores`: "same", where it is in the question's language (of several, each equally likely); "rand", in
    another language, the exact expectation over a random language and a random answer in it; and
    "relative_delta" = (rand − same)/rand, from the two means. 0: free of same-language bias. Without such
    questions there are no scores.
    """

    scores: dict[str, Score]
    n_questions: int

    def as_json(self) -> dict[str, Any]:
        """Return the values by name."""
        if not self.scores:
            return {}
        return {"remove_one": {**values(self.scores), "n_questions": self.n_questions}}

    def intervals(self) -> dict[str, Any]:
        """Return the intervals, nested alike."""
        return {"remove_one": intervals(self.scores)} if self.scores else {}


def remove_one(standings: Standings) -> RemoveOne:
    """Return what removing one relevant candidate leaves of average precision."""
    counts = standings.counts
    table = standings.by_answer_language(average_precision_without(standings))
    same, rand = own_and_other(counts, table)
    rows = np.flatnonzero(~np.isnan(same + rand))
    same, rand, cluster = same[rows], rand[rows], counts.cluster[rows]
    without_same, without_rand = mean_score(same, cluster), mean_score(rand, cluster)
    if without_same is None or without_rand is None:
        return RemoveOne({}, 0)
    delta = _relative_delta(same, rand, cluster)
    return RemoveOne({"same": without_same, "rand": without_rand, "relative_delta": delta}, len(rows))


def average_precision_without(standings: Standings) -> Floats:
    """Return the question's average precision once the line's candidate has left the pool, float64 [p].

    What stands above the candidate stays as it was; its tie group has one place and one relevant candidate
    less; below, one candidate and one relevant candidate fewer are above. NaN where it is the only one.
    """
    s = standings
    above, tied = s.above, s.tied
    relevant_above, relevant_tied = s.relevant_above(), s.relevant_tied()
    as_it_was = precision_at(above, tied, relevant_above, relevant_tied)
    # a line that has no relevant candidate above or beside it is never read from the next two
    below = precision_at(np.maximum(above - 1, 0), tied, np.maximum(relevant_above - 1, 0), relevant_tied)
    beside = precision_at(above, np.maximum(tied - 1, 1), relevant_above, np.maximum(relevant_tied - 1, 1))
    up_to, _ = _running(s, as_it_was)
    total = up_to[s.start] + (relevant_tied - 1) * beside
    up_to, all_of_it = _running(s, below)
    under = np.flatnonzero(s.stop < s.last)
    total[under] += all_of_it[under] - up_to[s.stop[under]]
    left = s.last - s.first - 1
    found: Floats = np.divide(total, left, out=np.full(len(total), np.nan), where=left > 0)
    return found


def _running(s: Standings, values: Floats) -> tuple[Floats, Floats]:
    """Return for each line the sum of the values of its question before it, and of all of them.

    The running sum falls back to zero at each question, so that it never grows large and loses digits.
    """
    heads = np.flatnonzero(s.first == np.arange(len(values)))
    totals = np.add.reduceat(values, heads)
    steps = np.zeros(len(values))
    steps[1:] = values[:-1]
    steps[heads[1:]] -= totals[:-1]
    return np.cumsum(steps), np.repeat(totals, np.diff(heads, append=len(values)))


def _relative_delta(same: Floats, rand: Floats, cluster: Ints) -> Score:
    """Return the score of 1 − mean(same)/mean(rand), with residuals linearised in both means."""
    s, r = float(same.mean()), float(rand.mean())
    residuals = ((rand - r) * s / r - (same - s)) / (r * len(same))
    # where nothing varies the span says how far it could be: δ is at most 1, but below 0 it has no bound
    return Score((r - s) / r, (Part(residuals, (cluster,)),), None, span=max(1.0, s / r))
