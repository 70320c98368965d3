"""The one pass over a multilingual pool: every question against every candidate, once.

It leaves counts for every relevant candidate, and the head of each question's ranking. The best candidates of
a block of questions are looked at as soon as the block is done, so that no more is kept than is needed:
memory does not grow with the depth at which languages are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.passes import corrected, two_passes
from xlingual.forms import AnyVectors
from xlingual.ranking import (
    CPU,
    Banked,
    Counts,
    Offsets,
    Part,
    Pool,
    Ranker,
    Similarity,
    TextRows,
    TextSimilarity,
    Top,
    TopK,
    Watcher,
    rank,
    rows_of,
    similarity_of,
)
from xlingual.records import TargetCounts

_LISTED = 200_000  # ties of all questions: one more pass counts the languages of those that are not listed


@dataclass(frozen=True)
class PassCounts:
    """The result of a pass: counts of every relevant candidate, and the head of each question's ranking."""

    counts: PoolCounts
    heads: Heads | None
    offsets: Offsets | None  # of the pool's candidates, with a correction of hubs
    screened: int  # pairs scored in float32
    decided: int  # pairs scored in float64
    similarity: TextSimilarity | None = None  # of questions and columns; None of lists
    columns: PoolColumns | None = None


def one_pass(
    pool: MultilingualPool,
    questions: AnyVectors,
    candidates: AnyVectors,
    *,
    top: int | None = None,
    depth: int = 0,
    ranker: Ranker = CPU,
    repair: Banked | None = None,
    progress: Callable[[int, int], None] | None = None,
    cluster: Ints | None = None,
    pairs: tuple[Ints, Ints] | None = None,
) -> PassCounts:
    """Rank all candidates for all questions: vectors [n, d] and [m, d] of the pool's rows.

    `top`: count the languages of so many first places, None for none; `depth` (at most `top`): keep so many
    of the first candidates. `cluster`: of each question, where not the pool's. `pairs`: (question, candidate)
    that are counted, by question, where not the relevant ones. A `repair` of hubs takes one more pass, over
    the bank and the candidates.
    """
    columns = PoolColumns.of_candidates(candidates, pool.candidates.language, len(pool.languages))
    similarity = similarity_of(rows_of(questions), columns.vectors)
    question, candidate = pool.relevant if pairs is None else pairs
    offsets = None
    before, during = two_passes(progress, repair)
    if repair is not None:
        offsets = repair.offsets(similarity, ranker, before)
    scores = corrected(similarity, offsets)
    split = columns.counts(scores, question, columns.of[candidate])
    heads = None if top is None else BlockHeads(columns, len(questions), top=top, depth=depth)
    watchers: list[Watcher] = [split] if heads is None else [split, heads]
    rank(scores, watchers, ranker, progress=during)
    counts = PoolCounts(
        languages=pool.languages,
        question=question,
        candidate=candidate,
        key=split.key,
        above=split.above,
        tied=split.tied,
        question_language=pool.questions.language,
        candidate_language=pool.candidates.language,
        cluster=pool.questions.cluster if cluster is None else cluster,
        article=pool.questions.article,
    )
    found = None if heads is None else heads.result(similarity, ranker, offsets)
    if offsets is not None:
        offsets = offsets.take(columns.of)
    work = similarity.screened, similarity.decided
    return PassCounts(counts, found, offsets, *work, similarity, columns)


@dataclass(frozen=True)
class Columns:
    """The candidates as columns, each of one candidate or of several equal ones."""

    of: Ints  # [m] column of each candidate
    weights: Ints  # [u] how many candidates a column stands for

    def members(self) -> tuple[Ints, Ints]:
        """Return (candidates ordered by column, where each column's begin), int64 [m] and [u + 1]."""
        starts = np.concatenate([[0], np.cumsum(self.weights)]).astype(np.int64)
        return np.argsort(self.of, kind="stable"), starts


@dataclass(frozen=True)
class PoolColumns(Columns):
    """Columns of vectors, language by language: equal vectors of one language are one column."""

    vectors: TextRows  # [u]
    language: Ints  # [u], ascending
    n_languages: int

    @classmethod
    def of_candidates(cls, vectors: AnyVectors, language: Ints, n_languages: int) -> PoolColumns:
        """Collapse the candidates' vectors [m, d] within each language."""
        of = np.empty(len(vectors), dtype=np.int64)
        rows: list[Ints] = []
        sizes: list[int] = []
        for code in range(n_languages):
            own = distinct = np.flatnonzero(language == code)
            if len(own):
                pool = Pool.of(vectors, own)
                of[own], distinct = sum(sizes) + pool.code, pool.vectors.rows
            rows.append(distinct)
            sizes.append(len(distinct))
        return cls(
            of,
            np.bincount(of, minlength=sum(sizes)).astype(np.int64),
            rows_of(vectors, np.concatenate(rows)),
            np.repeat(np.arange(n_languages), sizes),
            n_languages,
        )

    def counts(self, scores: Similarity, question: Ints, column: Ints) -> Counts:
        """Ask for the candidates of each language above and tied with pairs (question, column)."""
        groups = self.language[:, None] == np.arange(self.n_languages)
        return Counts.of(scores, question, column, groups=groups, weights=self.weights)


@dataclass(frozen=True)
class PoolCounts:
    """How many candidates of each language stand above each relevant candidate, and tie with it.

    One line for each pair of a question and a relevant candidate, ordered by question, then candidate; G
    languages. Relevant candidates are counted like all others; each ties with itself. Those that a search
    system missed stand last, tied with each other, and are worth nothing.
    """

    languages: tuple[str, ...]  # [G]
    question: Ints  # [p], ascending; every question has a line
    candidate: Ints  # [p]
    key: Ints  # [p] exact score of the pair: equal keys are ties
    above: Ints  # [p, G]
    tied: Ints  # [p, G]
    question_language: Ints  # [n]
    candidate_language: Ints  # [m]
    cluster: Ints  # [n]: questions that are not independent
    article: Ints | None = None  # [n]
    unlisted: np.ndarray | None = None  # bool [p]: not in the list of a search system
    missed: np.ndarray | None = None  # bool [p]: neither would they be in a longer one

    @property
    def n_questions(self) -> int:
        """How many questions there are."""
        return len(self.question_language)

    @property
    def sizes(self) -> Ints:
        """How many candidates there are of each language, int64 [G]."""
        return np.bincount(self.candidate_language, minlength=len(self.languages)).astype(np.int64)

    @property
    def answer_language(self) -> Ints:
        """Language of each relevant candidate, int64 [p]."""
        return self.candidate_language[self.candidate]

    @property
    def asked_in(self) -> Ints:
        """Language of the question of each line, int64 [p]."""
        return self.question_language[self.question]

    def whole_pool(self) -> TargetCounts:
        """Return where every relevant candidate stands in the pool of all languages."""
        size = int(self.sizes.sum())
        above, tied = self.missed_last(self.above.sum(axis=1), self.tied.sum(axis=1), size, slice(None))
        return TargetCounts(self.question, above, tied, np.full(self.n_questions, size))

    def missed_last(
        self, above: Ints, tied: Ints, size: Ints | int, lines: Ints | slice
    ) -> tuple[Ints, Ints]:
        """Return counts of some lines, with all candidates of their pool (its `size`) above missed ones.

        That is how measures know what is worth nothing.
        """
        if self.missed is None:
            return above, tied
        missed = self.missed[lines]
        return np.where(missed, size, above), np.where(missed, 1, tied)


@dataclass(frozen=True)
class Heads:
    """The heads of n rankings.

    `places` [n, G]: how many of the first `top` candidates are of each language, under ties the expectation;
    NaN where a search system found none.
    The lines are the first `depth` columns of each question with all that tie with the last of them, ordered
    by question, then best first; where more than can be listed tie, a sample of these.
    """

    top: int
    places: Floats  # [n, G]
    question: Ints  # [e]
    column: Ints  # [e]
    above: Ints  # [e] candidates that score higher
    tied: Ints  # [e] that score the same, itself included
    columns: Columns


@dataclass(frozen=True)
class _Block:
    """The heads of consecutive questions from `first` on; crowded ones lack the candidates not listed."""

    first: int
    places: Floats  # [rows, G]
    lines: tuple[Ints, Ints, Ints, Ints]  # question, column, above, tied
    crowded: Ints  # [c] questions where too many candidates tie with the last place to list them all
    last: Ints  # [c] a column that ties with the last place
    chance: Floats  # [c] of each such candidate to be among the first


class BlockHeads:
    """Keeps the heads of each block of questions, and no longer list."""

    def __init__(self, columns: PoolColumns, n: int, *, top: int, depth: int) -> None:
        if depth > top:
            raise ValueError(f"depth {depth} is beyond the first {top} places")
        self.columns, self.top, self.depth = columns, top, depth
        cap = int(np.clip(_LISTED // max(n, 1), 100, 1000))
        self._best = Top(top, (n, len(columns.vectors)), weights=columns.weights, cap=cap)
        self._blocks: list[_Block] = []

    def part(self, rows: slice) -> Part:
        """Begin a block of questions."""
        return self._best.part(rows)

    def take(self, rows: slice, arrays: Mapping[str, np.ndarray]) -> None:
        """Take in the best candidates of a block of questions."""
        found = TopK(**arrays)
        self._blocks.append(self._block(replace(found, query=found.query - rows.start), rows.start))

    def finish(self, similarity: Similarity) -> None:
        """Do nothing: blocks are finished one by one."""

    def identity(self) -> bytes:
        """Identify the question."""
        return self._best.identity()

    def _block(self, found: TopK, first: int) -> _Block:
        """Return the heads of one block; it numbers its questions from `first` on."""
        shape = (len(found.unlisted), self.columns.n_languages)
        crowded = np.flatnonzero(found.unlisted)
        chance = np.clip((self.top - found.above) / found.tied, 0.0, 1.0)
        last = np.searchsorted(found.query, crowded, side="right") - 1
        sampled = np.isin(found.query, crowded) & (found.above + found.tied >= self.top)
        weight = np.where(sampled, 0.0, chance * found.weight)
        cell = found.query * shape[1] + self.columns.language[found.candidate]
        places = np.bincount(cell, weight, shape[0] * shape[1]).astype(np.float64).reshape(shape)
        head = found.above < self.depth
        lines = (found.query[head] + first, found.candidate[head], found.above[head], found.tied[head])
        return _Block(first, places, lines, crowded + first, found.candidate[last], chance[last])

    def result(self, similarity: TextSimilarity, ranker: Ranker, offsets: Offsets | None = None) -> Heads:
        """Return the heads; the similarity is scanned once more for questions with very many ties."""
        blocks = sorted(self._blocks, key=lambda block: block.first)
        places, crowded, last, chance = (
            np.concatenate([getattr(block, name) for block in blocks])
            for name in ("places", "crowded", "last", "chance")
        )
        if len(crowded):
            shared = _tied_with(similarity, crowded, last, self.columns, ranker, offsets)
            places[crowded] += chance[:, None] * shared
        question, column, above, tied = (
            np.concatenate(parts) for parts in zip(*(block.lines for block in blocks), strict=True)
        )
        return Heads(self.top, places, question, column, above, tied, self.columns)


def _tied_with(
    similarity: TextSimilarity,
    questions: Ints,
    columns_tied: Ints,
    columns: PoolColumns,
    ranker: Ranker,
    offsets: Offsets | None,
) -> Ints:
    """Return how many candidates of each language tie with a column of each question, int64 [c, G]."""
    crowded = similarity_of(similarity.queries.take(questions), similarity.candidates)
    scores = corrected(crowded, offsets)
    split = columns.counts(scores, np.arange(len(questions)), columns_tied)
    rank(scores, [split], ranker)
    similarity.screened += crowded.screened
    similarity.decided += crowded.decided
    return split.tied
