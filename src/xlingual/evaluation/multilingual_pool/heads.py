"""The head of each question's ranking: the languages of the first places, and the first candidates.

The best candidates of a block of questions are looked at as soon as the block is done, so that no more is
kept than is needed: memory does not grow with the depth at which languages are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.evaluation.multilingual_pool.columns import Columns
from xlingual.ranking import Cosine, GroupCounts, Ranker, Top, TopK, UnitVectors
from xlingual.records import Floats, Ints


@dataclass(frozen=True)
class Heads:
    """The heads of n rankings.

    `places` [n, G]: how many of the first `top` candidates are of each language, under ties the expectation.
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
    """The heads of consecutive questions from `first` on, without what is not listed of crowded ones."""

    first: int
    places: Floats  # [rows, G]
    lines: tuple[Ints, Ints, Ints, Ints]  # question, column, above, tied
    crowded: Ints  # [c] questions of which too many candidates tie with the last place to list them all
    last: Ints  # [c] a column that ties with the last place
    chance: Floats  # [c] of each such candidate to be among the first


class BlockHeads:
    """A reduction that keeps the heads: each part is the `Top` of one block of questions."""

    def __init__(self, columns: Columns, n: int, *, top: int, depth: int) -> None:
        if depth > top:
            raise ValueError(f"depth {depth} is beyond the first {top} places")
        self.columns, self.top, self.depth = columns, top, depth
        self._best = Top(top, (n, len(columns.vectors)), weights=columns.weights)
        self._blocks: list[_Block] = []

    def within(self, rows: slice, columns: slice) -> Top:
        """Return what some questions and columns have to find out."""
        return self._best.within(rows, columns)

    def alone(self, rows: slice, columns: slice) -> Top:
        """Return the same as a pass of its own, with questions and columns numbered from zero."""
        return self._best.alone(rows, columns)

    def merge(self, parts: Sequence[Top]) -> None:
        """Take in the best candidates of whole blocks of questions, all columns seen."""
        self._blocks += [self._block(part.result(), part.origin[0]) for part in parts]

    def _block(self, found: TopK, first: int) -> _Block:
        """Return the heads of one block; it numbers its questions from `first` on."""
        shape = (len(found.unlisted), len(self.columns.bounds) - 1)
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

    def result(self, similarity: Cosine, ranker: Ranker) -> Heads:
        """Return the heads; the similarity is asked once more for questions with very many ties."""
        blocks = sorted(self._blocks, key=lambda block: block.first)
        places = np.concatenate([block.places for block in blocks])
        crowded = np.concatenate([block.crowded for block in blocks])
        if len(crowded):
            last = np.concatenate([block.last for block in blocks])
            chance = np.concatenate([block.chance for block in blocks])
            shared = _tied_with(similarity, crowded, last, self.columns, ranker)
            places[crowded] += chance[:, None] * shared
        question, column, above, tied = (
            np.concatenate(parts) for parts in zip(*(block.lines for block in blocks), strict=True)
        )
        return Heads(self.top, places, question, column, above, tied, self.columns)


def _tied_with(
    similarity: Cosine, questions: Ints, columns_tied: Ints, columns: Columns, ranker: Ranker
) -> Ints:
    """Return how many candidates of each language tie with a column of each question, int64 [c, G]."""
    asked = similarity.queries
    again = Cosine(UnitVectors(asked.raw, asked.rows[questions]), similarity.candidates)
    split = GroupCounts.of(
        again, np.arange(len(questions)), columns_tied, columns.bounds, weights=columns.weights
    )
    ranker.scan(again, [split])
    similarity.screened += again.screened
    similarity.decided += again.decided
    return split.result()[1]
