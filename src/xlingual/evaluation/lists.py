"""Ranks from lists that a search system returned, in place of vectors and their similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError, parameter, warn
from xlingual.measures import Measure
from xlingual.measures.rank import DepthShare
from xlingual.ragged import groups, starts
from xlingual.records import TargetCounts

MOST_UNKNOWN = 0.01  # of a system's queries may have lists that are too short for a measure


@dataclass(frozen=True, eq=False)
class Lists:
    """What a system returned for n queries out of `n_candidates`, p results by position, best first.

    A list that has `ended` is shorter than the system would have returned: what is not in it was not found,
    and has all candidates above it. Behind any other list the candidates that are not in it all tie: their
    order is not known.
    """

    query: Ints  # [p], ascending
    candidate: Ints  # [p], each at most once for a query
    level: Ints  # [p], rising within a query; equal where results tie
    ended: np.ndarray  # bool [n]
    n_candidates: int
    score: Floats | None = None  # [p], where the system has scores
    pool: Ints | None = None  # [n], how many candidates each query has; None: `n_candidates`

    def __len__(self) -> int:
        return len(self.ended)

    @cached_property
    def sizes(self) -> Ints:
        """How many candidates each query has, int64 [n]."""
        return np.full(len(self), self.n_candidates) if self.pool is None else self.pool

    def part(self, lines: np.ndarray, pool: Ints) -> Lists:
        """Return the lists of chosen lines, bool [p], where each query has so many candidates, `pool` [n]."""
        query, candidate, level = (column[lines] for column in (self.query, self.candidate, self.level))
        score = None if self.score is None else self.score[lines]
        return replace(self, query=query, candidate=candidate, level=level, score=score, pool=pool)

    @cached_property
    def start(self) -> Ints:
        """The first line of each query, and the number of lines, int64 [n + 1]."""
        return starts(self.query, len(self))

    @cached_property
    def lengths(self) -> Ints:
        """How many candidates each query has, int64 [n]."""
        return np.diff(self.start)

    @cached_property
    def places(self) -> tuple[Ints, Ints]:
        """How many results of its query are above each line, and how many tie with it, itself included."""
        first, size = groups(self.query, self.level)
        above = np.repeat(first, size) - self.start[self.query]
        return above, np.repeat(size, size)

    @cached_property
    def level_scores(self) -> Floats | None:
        """A score for each line, the same where results tie; None where scores do not say the order."""
        if self.score is None:
            return None
        first, size = groups(self.query, self.level)
        best = np.maximum.reduceat(self.score, first) if len(first) else self.score
        same_query = np.diff(self.query[first]) == 0
        falls = bool((np.diff(best)[same_query] < 0).all())
        return np.repeat(best, size) if falls else None

    def counts(self, query: Ints, candidate: Ints) -> tuple[Ints, Ints]:
        """Return how many candidates are above each pair (query[i], candidate[i]), and how many tie with it.

        Each int64 [pairs]; a candidate ties with itself.
        """
        line = self.lines(query, candidate)
        above = np.where(self.ended, self.sizes, self.lengths)[query]
        tied = np.maximum(np.where(self.ended, 1, self.sizes - self.lengths), 1)[query]
        listed = line >= 0
        above[listed], tied[listed] = (places[line[listed]] for places in self.places)
        return above, tied

    def targets(self, query: Ints, candidate: Ints) -> TargetCounts:
        """Return where relevant candidates stand, pairs by query; what no list has is marked."""
        above, tied = self.counts(query, candidate)
        return TargetCounts(query, above, tied, self.sizes, above >= self.lengths[query])

    def lines(self, query: Ints, candidate: Ints) -> Ints:
        """Return the line of each pair (query[i], candidate[i]), int64 [pairs]; -1 where no list has it."""
        pairs, line = self._by_pair
        pair = query * self.n_candidates + candidate
        place = np.searchsorted(pairs[:-1], pair)
        return np.where(pairs[place] == pair, line[place], -1)

    @cached_property
    def _by_pair(self) -> tuple[Ints, Ints]:
        """All pairs of query and candidate as one number, ascending, and the line of each; -1 at the end."""
        pair = self.query * self.n_candidates + self.candidate
        order = np.argsort(pair)
        return np.append(pair[order], -1), np.append(order, -1)

    def unsettled(self, k: Ints | int | None) -> np.ndarray:
        """Return for each query, bool [n], whether its first k (None: all) are not known."""
        depth = self.sizes if k is None else np.minimum(k, self.sizes)
        unknown: np.ndarray = ~self.ended & (self.lengths < depth)
        return unknown


def check_reach(
    lists: Lists, measures: Sequence[Measure], who: str, behind: str = "is taken to be in random order"
) -> None:
    """Raise InputError where lists are too short for a measure; warn where a few of them are.

    `behind` says what happens to candidates behind the end of a list, whose order is not known.
    """
    for measure in measures:
        cut = cut_of(measure, lists.n_candidates)
        count = int(lists.unsettled(cut).sum())
        place = f"rank {cut:,}" if cut is not None else "the last candidate"
        problem = f"system {who}: {count:,} of {len(lists):,} lists end before {place}, so {measure.name}"
        if count > MOST_UNKNOWN * len(lists):
            reach = int(np.min(lists.lengths[~lists.ended], initial=lists.n_candidates))
            raise InputError(
                f"{problem} is not known: ask for {parameter('measures')} up to rank {reach:,}, or give "
                "longer lists, of these candidates alone"
            )
        if count:
            warn(f"{problem} is not known for these: what follows {behind}")


def cut_of(measure: object, pool: int) -> int | None:
    """Return the rank to which a measure looks; None: to the last candidate."""
    if isinstance(measure, DepthShare):
        return measure.k(pool)
    cut: int | None = getattr(measure, "k", getattr(measure, "cut", None))
    return cut


def first_group(lists: Lists) -> tuple[Ints, Ints]:
    """Return (query, candidate) of the results that stand first in their list, ties included, by query."""
    above, _ = lists.places
    first = above == 0
    return lists.query[first], lists.candidate[first]


def refuse_short(lists: Lists, who: str) -> None:
    """Raise InputError where many lists end before their first candidate; warn where a few do."""
    count = int(lists.unsettled(1).sum())
    problem = f"system {who}: {count:,} of {len(lists):,} lists end before any of the targets"
    if count > MOST_UNKNOWN * len(lists):
        raise InputError(
            f"{problem}: an index that holds more than these must be asked for more results, or for these "
            "alone (xlingual data sample writes queries and targets)"
        )
    if count:
        warn(f"{problem}: each target may be the first of these")
