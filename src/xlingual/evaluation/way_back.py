"""Steps 3 and 4 of Backretrieval: the rank of a query's own picture, seen from the retrieved text's picture.

All encoders share the passes over pictures; so do language pairs with the same pictures, and the seeds of a
language pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xlingual.evaluation.asked_ways import rank_asked
from xlingual.evaluation.nearest import Nearest
from xlingual.evaluation.picture_pass import PicturePass, grouped, sides_of
from xlingual.evaluation.picture_space import PictureSpace
from xlingual.evaluation.references import Reference, reference
from xlingual.evaluation.setup import Tally, Task
from xlingual.evaluation.side_ranks import Routes, SideRanks
from xlingual.measures import RankMeasure, RecallAt, RecallShare
from xlingual.ranking import CPU, Progress, Ranker


def ways_back(
    pictures: PictureSpace,
    tasks: Sequence[Task],
    nearest: Sequence[Sequence[Nearest]],
    measures: Sequence[RankMeasure],
    *,
    ranker: Ranker = CPU,
    progress: Progress | None = None,
    tally: Tally | None = None,
    look: Callable[[SideRanks, int], None] | None = None,
) -> tuple[list[list[Routes]], list[Reference]]:
    """Return routes for [encoder][task] and references for [task]; `nearest` is [encoder][task].

    `look` is called with the ranks of each task (and its number) while they are at hand.
    """
    routes: dict[tuple[int, int], Routes] = {}
    references: dict[int, Reference] = {}
    groups = grouped(sides_of(pictures, tasks), tasks)
    for done, group in enumerate(groups):
        part = _part(progress, done, groups)
        over = PicturePass(pictures, group, part)
        found = [SideRanks(over, sides, pictures, tasks, nearest, _depth(measures)) for sides in over.sides]
        if over.has_vectors and all(tasks[number].sample.is_part for side in group for number in side.tasks):
            for ranks in found:
                rank_asked(ranks, ranker, part, tally)
        else:
            _rank_all(over, found, measures, ranker, part)
        for ranks in found:
            for task in ranks.sides.tasks:
                references[task] = reference(ranks, task, measures)
                if look is not None:
                    look(ranks, task)
                for encoder in range(len(nearest)):
                    routes[encoder, task] = ranks.routes(encoder, task)
        if tally is not None:
            tally.add(over.similarity)
    numbers = range(len(tasks))
    by_encoder = [[routes[encoder, task] for task in numbers] for encoder in range(len(nearest))]
    return by_encoder, [references[task] for task in numbers]


def _depth(measures: Sequence[RankMeasure]) -> int:
    return max((m.k for m in measures if isinstance(m, RecallAt)), default=1)


def _rank_all(
    over: PicturePass,
    found: Sequence[SideRanks],
    measures: Sequence[RankMeasure],
    ranker: Ranker,
    progress: Progress | None,
) -> None:
    """Fill the ranks of the sides of one pass.

    A second pass is made only for the oracle of measures that need ranks beyond the first K, or where too
    many pictures tie with the K-th to be listed.
    """
    reductions = [reduction for ranks in found for reduction in ranks.reductions]
    ranker.scan(over.similarity, reductions, progress=progress)
    for ranks in found:
        ranks.finish()
    ranked = any(not isinstance(m, RecallAt | RecallShare) for m in measures)
    if ranked or any(ranks.is_capped for ranks in found):
        deep = [ranks.oracle_counts() for ranks in found]
        ranker.scan(over.similarity, deep, progress=progress)
        for ranks, counts in zip(found, deep, strict=True):
            ranks.deep = counts


def _part(progress: Progress | None, done: int, groups: Sequence[object]) -> Progress | None:
    """Return the progress of one group as a part of that of all."""
    if progress is None:
        return None
    steps = 1000  # of each group
    return lambda now, total: progress(done * steps + steps * now // max(total, 1), len(groups) * steps)
