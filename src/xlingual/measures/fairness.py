"""PEER, the probability that documents of different languages have equal expected ranks.

Yang, Jänich, Mayfield and Lawrie, Language Fairness in Multilingual Information Retrieval, SIGIR 2024,
doi:10.1145/3626772.3657943.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values, numbered
from xlingual.ragged import groups

CUT = 20
WEIGHTS = (0.5, 0.5)  # of irrelevant and of relevant candidates
Ranks = Literal["published", "level"]


@dataclass(frozen=True)
class Peer:
    """PEER of each query, the p-values it is made of, and for how many queries these say anything."""

    value: Floats  # [n], weighted mean of the two below
    other: Floats  # [n], p of the irrelevant candidates; 1 where they are of fewer than two languages
    relevant: Floats  # [n], p of the relevant candidates; 1 likewise
    other_tested: float  # share of the queries whose irrelevant candidates are of two languages or more
    relevant_tested: float  # the same for relevant ones

    @property
    def means(self) -> dict[str, float]:
        """Means over queries: "value", "relevant", "other"."""
        return {name: float(np.mean(getattr(self, name))) for name in ("value", "relevant", "other")}


def peer(
    query: Ints,
    rank: Floats,
    language: Ints,
    relevant: np.ndarray,
    *,
    n_queries: int,
    cut: int = CUT,
    weights: tuple[float, float] = WEIGHTS,
    ranks: Ranks = "published",
) -> Peer:
    """Return PEER@cut of each query: p of a Kruskal-Wallis test of equal ranks of the languages.

    One line for each candidate of a query: the irrelevant ones of the first `cut` ranks at least, and *all*
    relevant ones, since those beyond the cut count as not retrieved.

    Args:
        query: query of each line, int64 [e], any order.
        rank: rank of the candidate from 1, the mid-rank under ties, float64 [e]; beyond `cut` its size is
            not looked at (infinity will do).
        language: language of the candidate, int64 [e].
        relevant: whether it is relevant, bool [e].
        n_queries: how many queries there are; one without lines has PEER 1.
        cut: how many ranks count as retrieved.
        weights: of irrelevant and of relevant candidates; they sum to 1.
        ranks: "published" takes places in the list as numbers, as the authors' program `peer_measure` 0.0.1
            does; "level" ranks the candidates of a level among themselves, which is the test of the textbook.

    Raises ValueError for weights that do not sum to 1 and a cut below 1.

    """
    if cut < 1 or min(weights) < 0 or abs(sum(weights) - 1) > 1e-9:
        raise ValueError(f"PEER needs a cut of at least 1 and weights that sum to 1, got {cut}, {weights}")
    kept = relevant | (rank <= cut)
    lines = _Lines(query[kept] * 2 + relevant[kept], rank[kept], rank[kept] > cut, language[kept])
    values = _level_ranks(lines) if ranks == "level" else _published_ranks(lines)
    p, tested = _kruskal_wallis(lines.level, lines.language, values, 2 * n_queries)
    _, unfound = _sizes(lines, 2 * n_queries)
    total = np.bincount(lines.level, minlength=2 * n_queries)
    p = np.where(unfound == total, 1.0, p)  # nothing retrieved: nothing treated unequally
    other, own = p.reshape(-1, 2).T
    shares = tested.reshape(-1, 2).mean(axis=0) if n_queries else np.zeros(2)
    value: Floats = weights[0] * other + weights[1] * own
    return Peer(value, other, own, float(shares[0]), float(shares[1]))


class _Lines(NamedTuple):
    level: Ints  # [e] 2·query, + 1 for relevant candidates
    rank: Floats  # [e]
    missing: np.ndarray  # [e] bool: relevant, and beyond the cut
    language: Ints  # [e]


def _sizes(lines: _Lines, n_levels: int) -> tuple[Ints, Ints]:
    """Return how many lines each level has, and how many of them are beyond the cut."""
    total = np.bincount(lines.level, minlength=n_levels)
    return total, np.bincount(lines.level[lines.missing], minlength=n_levels)


def _published_ranks(lines: _Lines) -> Floats:
    """Return the places in the list; those beyond the cut tie after as many places as the level has lines.

    With relevant candidates both at large ranks and beyond the cut this can put the latter first.
    """
    total, missing = _sizes(lines, int(lines.level.max(initial=-1)) + 1)
    unfound = total + (missing + 1) / 2
    values: Floats = np.where(lines.missing, unfound[lines.level], lines.rank)
    return values


def _level_ranks(lines: _Lines) -> Floats:
    """Return mid-ranks among the lines of a level; those beyond the cut tie at its end."""
    place = np.where(lines.missing, np.inf, lines.rank)
    order = np.lexsort((place, lines.level))
    level, place = lines.level[order], place[order]
    start, size = groups(level, place)
    first = np.searchsorted(level, level[start])
    values = np.empty(len(order))
    values[order] = np.repeat(start - first + (size + 1) / 2, size)
    return values


def _kruskal_wallis(level: Ints, language: Ints, values: Floats, n_levels: int) -> tuple[Floats, np.ndarray]:
    """Return p of each level, and whether it has two languages or more (else p is 1); [n_levels] each.

    H = (N − 1) Σ_l n_l (mean_l − mean)² / Σ (value − mean)², which on ranks is the statistic corrected for
    ties, is compared with χ² of as many degrees of freedom as there are languages, less one.
    """
    from scipy.special import chdtrc

    n = np.bincount(level, minlength=n_levels)
    mean = np.bincount(level, weights=values, minlength=n_levels) / np.maximum(n, 1)
    centred = values - mean[level]
    within = np.bincount(level, weights=centred**2, minlength=n_levels)
    n_languages = int(language.max(initial=0)) + 1
    code = level * n_languages + language
    cells, cell = distinct_values(code), numbered(code)
    size, total = np.bincount(cell), np.bincount(cell, weights=centred)
    of_level = cells // n_languages
    groups = np.bincount(of_level, minlength=n_levels)
    between = np.bincount(of_level, weights=total**2 / size, minlength=n_levels)
    testable = (groups > 1) & (within > 1e-9)  # equal ranks: no difference
    h = (n - 1) * between / np.where(testable, within, 1.0)
    p = chdtrc(np.maximum(groups - 1, 1), np.maximum(h, 0.0))
    return np.where(testable, p, 1.0), groups > 1
