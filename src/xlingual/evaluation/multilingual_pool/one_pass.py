"""The one pass over a multilingual pool: every question against every candidate, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.multilingual_pool.counts import PoolCounts
from xlingual.ranking import Cosine, GroupCounts, Pool, Reduction, Top, TopK, UnitVectors, scan
from xlingual.records import Floats, Ints


@dataclass(frozen=True)
class Columns:
    """The candidates as columns: language by language, equal vectors of one language as one column."""

    vectors: UnitVectors  # [u]
    of: Ints  # [m] column of each candidate
    language: Ints  # [u], ascending
    bounds: Ints  # [G + 1] first column of each language, and the number of columns
    weights: Ints  # [u] how many candidates a column stands for

    @classmethod
    def of_candidates(cls, vectors: np.ndarray, language: Ints, n_languages: int) -> Columns:
        """Collapse the candidates' vectors [m, d] within each language."""
        of = np.empty(len(vectors), dtype=np.int64)
        rows: list[Ints] = []
        sizes: list[int] = []
        for code in range(n_languages):
            own = np.flatnonzero(language == code)
            pool = Pool.of(vectors, own) if len(own) else None
            of[own] = sum(sizes) + (pool.code if pool is not None else 0)
            rows.append(pool.vectors.rows if pool is not None else own)
            sizes.append(len(rows[-1]))
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(
            UnitVectors(vectors, np.concatenate(rows)),
            of,
            np.repeat(np.arange(n_languages), sizes),
            bounds,
            np.bincount(of, minlength=int(bounds[-1])).astype(np.int64),
        )

    def members(self) -> tuple[Ints, Ints]:
        """Return (candidates ordered by column, where each column's begin), int64 [m] and [u + 1]."""
        starts = np.concatenate([[0], np.cumsum(self.weights)]).astype(np.int64)
        return np.argsort(self.of, kind="stable"), starts


@dataclass(frozen=True)
class Passed:
    """What the pass found: counts for every relevant candidate, and the best of each question."""

    counts: PoolCounts
    best: Best | None
    screened: int  # pairs scored in float32
    decided: int  # pairs scored in float64


@dataclass(frozen=True)
class Best:
    """The k best columns of each question, with all that tie with the k-th; `lines` as of `Top`."""

    k: int
    lines: TopK
    columns: Columns
    crowded: Ints  # [c] questions of which too many candidates tie with the k-th to list them all
    tied: Ints  # [c, G] how many candidates of each language those are

    def by_language(self, k: int) -> Floats:
        """Return how many of the first k candidates (at most `self.k`) are of each language, float64 [n, G].

        Ties at the boundary are shared out: the expectation under random tie-breaking.
        """
        lines = self.lines
        n, n_languages = len(lines.unlisted), len(self.columns.bounds) - 1
        chance = np.clip((k - lines.above) / lines.tied, 0.0, 1.0)
        weight = chance * lines.weight
        last = _last(lines, self.crowded)
        unsettled = np.isin(lines.query, self.crowded) & (lines.above + lines.tied >= self.k)
        weight[unsettled] = 0.0  # those listed are a sample
        cell = lines.query * n_languages + self.columns.language[lines.candidate]
        sums = np.bincount(cell, weight, n * n_languages).astype(np.float64)
        found: Floats = sums.reshape(n, n_languages)
        found[self.crowded] += chance[last, None] * self.tied
        return found


def _last(lines: TopK, queries: Ints) -> Ints:
    """Return the last line of each query: a candidate that ties with the k-th."""
    return np.searchsorted(lines.query, queries, side="right") - 1


def one_pass(
    pool: MultilingualPool,
    questions: np.ndarray,
    candidates: np.ndarray,
    *,
    top: int | None = None,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Passed:
    """Rank all candidates for all questions: vectors [n, d] and [m, d] of the pool's rows.

    `top`: keep so many of the best candidates of each question, None for none.
    """
    languages = pool.languages
    columns = Columns.of_candidates(candidates, pool.candidates.language, len(languages))
    similarity = Cosine(UnitVectors(questions), columns.vectors)
    question, candidate = pool.relevant
    split = GroupCounts.of(
        similarity, question, columns.of[candidate], columns.bounds, weights=columns.weights
    )
    reductions: list[Reduction] = [split]
    best = None
    if top is not None:
        best = Top(top, similarity.shape, weights=columns.weights)
        reductions.append(best)
    scan(similarity, reductions, threads=threads, progress=progress)
    counts = PoolCounts(
        languages=languages,
        question=question,
        candidate=candidate,
        key=split.keys_given,
        above=split.above,
        tied=split.tied,
        question_language=pool.questions.language,
        candidate_language=pool.candidates.language,
        cluster=pool.questions.cluster,
        article=pool.questions.article,
    )
    if best is None or top is None:
        return Passed(counts, None, similarity.screened, similarity.decided)
    lines = best.result()
    crowded = np.flatnonzero(lines.unlisted)
    again = Cosine(UnitVectors(questions, crowded), columns.vectors)
    tied = _tied_with_the_last(again, lines, crowded, columns, threads)
    return Passed(
        counts,
        Best(top, lines, columns, crowded, tied),
        similarity.screened + again.screened,
        similarity.decided + again.decided,
    )


def _tied_with_the_last(
    similarity: Cosine, lines: TopK, crowded: Ints, columns: Columns, threads: int
) -> Ints:
    """Return how many candidates of each language tie with the last line of each crowded question [c, G]."""
    last = lines.candidate[_last(lines, crowded)]
    split = GroupCounts.of(similarity, np.arange(len(crowded)), last, columns.bounds, weights=columns.weights)
    if len(crowded):
        scan(similarity, [split], threads=threads)
    return split.tied
