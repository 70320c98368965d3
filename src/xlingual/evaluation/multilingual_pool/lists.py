"""What the lists of the best candidates tell: language shares, hubs, and fairness by language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.evaluation.estimates import Score
from xlingual.evaluation.multilingual_pool.counts import PoolCounts
from xlingual.evaluation.multilingual_pool.heads import Heads
from xlingual.evaluation.multilingual_pool.views.means import by_pair
from xlingual.evaluation.multilingual_pool.views.written import intervals, values
from xlingual.measures.fairness import CUT, Peer, peer
from xlingual.measures.hubness import Hubness, hubness
from xlingual.records import Floats, Ints

SHARES_OF = 100  # best candidates whose languages are counted (the paper's Figure 6)
HUBS_OF = 10
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
    size = heads.columns.weights[column]
    ends = np.cumsum(size)
    within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - size, size)
    return Named(
        np.repeat(heads.question[rows], size),
        members[np.repeat(starts[column], size) + within],
        np.repeat(heads.above[rows], size),
        np.repeat(heads.tied[rows], size),
    )


@dataclass(frozen=True)
class LanguageShares:
    """Shares of the languages among the best candidates, by question language; and against the pool's.

    Languages without candidates have no share.
    """

    top: int
    shares: dict[str, Score]  # "ar->de"
    pool: dict[str, float]  # share of each language in the pool

    def as_json(self) -> dict[str, Any]:
        """Return the values by name."""
        share = values(self.shares)
        return {
            "top": self.top,
            "language_share_top100": share,
            "language_share_ratio_top100": {
                pair: value / self._of_pool(pair) for pair, value in share.items()
            },
        }

    def intervals(self) -> dict[str, Any]:
        """Return the intervals, nested alike."""
        share = intervals(self.shares)
        ratio = {
            pair: ci | {end: ci[end] / self._of_pool(pair) for end in ("low", "high")}
            for pair, ci in share.items()
        }
        return {"language_share_top100": share, "language_share_ratio_top100": ratio}

    def _of_pool(self, pair: str) -> float:
        """Return the share of a pair's second language in the pool, which is known without error."""
        return self.pool[pair.partition("->")[2]]


def language_shares(counts: PoolCounts, heads: Heads) -> LanguageShares:
    """Return the shares of languages among each question's first 100 candidates (fewer in a small pool)."""
    pool = counts.sizes
    table = heads.places / heads.top
    table[:, pool == 0] = np.nan
    share = dict(zip(counts.languages, (pool / pool.sum()).tolist(), strict=True))
    return LanguageShares(heads.top, by_pair(counts, table), share)


@dataclass(frozen=True)
class Fairness:
    """PEER of the ranking's head."""

    cut: int
    found: Peer

    def as_json(self) -> dict[str, Any]:
        """Return the values by name."""
        tested = {
            "other_tested": self.found.other_tested,
            "relevant_tested": self.found.relevant_tested,
        }
        return {"fairness": {f"PEER@{self.cut}": {**self.found.means, **tested}}}

    def intervals(self) -> dict[str, Any]:
        """Return none."""
        return {}


def fairness(counts: PoolCounts, lines: Named) -> Fairness:
    """Return PEER@20: do the languages stand equally high among irrelevant and among relevant candidates."""
    head = lines.first(CUT)
    width = len(counts.candidate_language)
    answers = counts.question * width + counts.candidate
    irrelevant = ~np.isin(head.question * width + head.candidate, answers)
    whole = counts.whole_pool()
    candidate = np.concatenate([counts.candidate, head.candidate[irrelevant]])
    found = peer(
        np.concatenate([counts.question, head.question[irrelevant]]),
        np.concatenate([whole.above + (whole.tied + 1) / 2, head.rank[irrelevant]]),
        counts.candidate_language[candidate],
        np.arange(len(candidate)) < len(counts.candidate),
        n_queries=counts.n_questions,
    )
    return Fairness(CUT, found)


@dataclass(frozen=True)
class Hubs:
    """How unevenly the first places are divided among the candidates; `languages` are those they are in."""

    languages: dict[str, int]  # tag → place in `found.by_language`
    found: Hubness

    def as_json(self) -> dict[str, Any]:
        """Return the values by name."""
        return {
            "hubs": {
                "k": self.found.k,
                "skewness": self.found.skewness,
                "never": self.found.never,
                "largest": self.found.largest,
                "expected": self.found.expected,
                "threshold": self.found.threshold,
                "n": len(self.found.hubs),
                "by_language": {
                    tag: float(self.found.by_language[code]) for tag, code in self.languages.items()
                },
            }
        }

    def intervals(self) -> dict[str, Any]:
        """Return none."""
        return {}


def hubs(counts: PoolCounts, lines: Named) -> Hubs:
    """Return the hubness of the candidates over all questions."""
    k = min(HUBS_OF, len(counts.candidate_language))
    head = lines.first(k)
    found = hubness(
        head.question,
        head.candidate,
        head.above,
        head.tied,
        k=k,
        n_queries=counts.n_questions,
        language=counts.candidate_language,
        n_languages=len(counts.languages),
    )
    return Hubs({tag: code for code, tag in enumerate(counts.languages) if counts.sizes[code]}, found)


def nearest_own(counts: PoolCounts, heads: Heads) -> Floats:
    """Return the share of each question's first place that is in its own language, float64 [n].

    The heads are of the first place only.
    """
    first: Floats = heads.places[np.arange(counts.n_questions), counts.question_language]
    return first
