"""Views from the lists of the best candidates: language shares, hubs, and fairness by language."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.hubs import HUBS_OF, Hubs, Languages, hubs_of
from xlingual.evaluation.multilingual_pool.one_pass import Heads, PoolCounts
from xlingual.evaluation.multilingual_pool.views import View, by_pair, intervals, values
from xlingual.measures.fairness import CUT, peer
from xlingual.measures.hubness import Places
from xlingual.ragged import spans

SHARES_OF = 100  # best candidates whose languages are counted (the paper's Figure 6)
DEPTH = max(CUT, HUBS_OF)  # first candidates that are kept
_MOST_NAMED = 1000  # candidates that tie: more of them are not named one by one


@dataclass(frozen=True)
class Named:
    """The best candidates of each question one by one, of equal vectors each; parallel arrays [e]."""

    question: Ints
    candidate: Ints
    above: Ints
    tied: Ints

    @property
    def rank(self) -> Floats:
        """Mid-rank from 1."""
        return self.above + (self.tied + 1) / 2

    def first(self, k: int) -> Named:
        """Return those that may be among the first k."""
        kept = self.above < k
        return Named(self.question[kept], self.candidate[kept], self.above[kept], self.tied[kept])


def named(heads: Heads) -> Named:
    """Return the first candidates of each question, without groups of over `_MOST_NAMED` that tie."""
    rows = np.flatnonzero(heads.tied <= _MOST_NAMED)
    members, starts = heads.columns.members()
    column = heads.column[rows]
    line, place = spans(starts[column], heads.columns.weights[column])
    rows = rows[line]
    return Named(heads.question[rows], members[place], heads.above[rows], heads.tied[rows])


def language_shares(counts: PoolCounts, heads: Heads) -> View:
    """Return the shares of languages among each question's first 100 candidates (fewer in a small pool).

    "ar->de": of questions in ar, the share of candidates in de; and as a ratio to the share in the pool,
    which is known without error. Languages without candidates have no share.
    """
    pool = counts.sizes
    table = heads.places / heads.top
    table[:, pool == 0] = np.nan
    in_pool = dict(zip(counts.languages, (pool / pool.sum()).tolist(), strict=True))
    scores = by_pair(counts, table)
    share, ci = values(scores), intervals(scores)
    of_pool = {pair: in_pool[pair.partition("->")[2]] for pair in share}
    ratio = {pair: value / of_pool[pair] for pair, value in share.items()}
    ratio_ci = {
        pair: replace(one, low=one.low / of_pool[pair], high=one.high / of_pool[pair])
        for pair, one in ci.items()
    }
    names = ("language_share_top100", "language_share_ratio_top100")
    shown = dict(zip(names, (share, ratio), strict=True))
    return View({"top": heads.top, **shown}, dict(zip(names, (ci, ratio_ci), strict=True)))


def fairness(counts: PoolCounts, lines: Named) -> View:
    """Return PEER@20: do the languages stand equally high among irrelevant and among relevant candidates."""
    head = lines.first(CUT)
    width = len(counts.candidate_language)
    answers = counts.question * width + counts.candidate  # ascending
    listed = head.question * width + head.candidate
    irrelevant = answers[np.minimum(np.searchsorted(answers, listed), len(answers) - 1)] != listed
    whole = counts.whole_pool()
    candidate = np.concatenate([counts.candidate, head.candidate[irrelevant]])
    found = peer(
        np.concatenate([counts.question, head.question[irrelevant]]),
        np.concatenate([whole.above + (whole.tied + 1) / 2, head.rank[irrelevant]]),
        counts.candidate_language[candidate],
        np.arange(len(candidate)) < len(counts.candidate),
        n_queries=counts.n_questions,
    )
    tested = {"other_tested": found.other_tested, "relevant_tested": found.relevant_tested}
    return View({"fairness": {f"PEER@{CUT}": {**found.means, **tested}}})


def hubs(counts: PoolCounts, lines: Named) -> Hubs:
    """Return the hubs among the candidates over all questions."""
    m = len(counts.candidate_language)
    places = _places(lines, min(HUBS_OF, m), counts.n_questions, m)
    wrong = places.wrong(counts.question, counts.candidate)
    languages = Languages(counts.languages, counts.question_language, counts.candidate_language)
    return hubs_of(places, wrong, counts.cluster, languages=languages)


def first_places(heads: Heads, k: int, n: int, m: int) -> Places:
    """Return the first k places of n questions among m candidates."""
    return _places(named(heads), k, n, m)


def _places(lines: Named, k: int, n: int, m: int) -> Places:
    head = lines.first(k)
    return Places(k, n, m, head.question, head.candidate, head.above, head.tied)
