"""A manifest with translations: cross-lingual retrieval, by language pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.embed import RoleVectors, TextVectors
from xlingual.encoders import EncoderLike
from xlingual.errors import InputError
from xlingual.evaluation.compression.asked import (
    Asked,
    FormValues,
    QueryLines,
    Sides,
    both_pools,
    ordered_again,
)
from xlingual.evaluation.compression.vector_lists import vector_lists
from xlingual.evaluation.crosslingual_retrieval.evaluate import NAME, refuse_small_pools, several_answers
from xlingual.evaluation.crosslingual_retrieval.matches import rank_matches
from xlingual.evaluation.pair_run import PairRun, by_pair
from xlingual.evaluation.run import Options, TextSides
from xlingual.forms import dense
from xlingual.measures import Recall, as_recall, as_success, parse_rank_measures
from xlingual.ragged import members
from xlingual.ranking import rows_of
from xlingual.records import TargetCounts, Texts


class OverPairs(Asked):
    """Texts of items that have both languages of a pair: each retrieves its own item's texts."""

    def __init__(self, manifest: Manifest, spec: EncoderLike, options: Options, measure: str | None) -> None:
        named = parse_rank_measures(() if measure is None else (measure,))
        self.run: PairRun = PairRun(NAME, manifest, options, matching=True)
        self.run.ranks_texts = False  # by cosine alone
        self.run.prepare(spec)
        self.several = several_answers(manifest, self.run.tasks)
        if not self.several:
            named = as_recall(named)
        elif measure is None:
            named = as_success(named)
        self._measure = named[0]
        if not self._measure.higher_is_better:
            raise InputError(
                f"{self._measure.name} is a median, whose loss has no paired interval: take R@k, "
                "Success@k or RR"
            )
        self.measure = self._measure.name
        self.run.join_near_duplicates()
        refuse_small_pools(self.run.tasks, named)
        self._sides: TextSides = self.run.encode(self.name, self.run.sides_of)
        who = f"text encoder {self.name!r}"
        self.full = Sides(*(dense(one.vectors, who, "a smaller form") for one in self._both(self._sides)))
        self.languages = self.run.languages
        tasks = self.run.tasks
        numbers = [np.full(len(task.sample.source), place) for place, task in enumerate(tasks)]
        clusters = [self.run.manifest.cluster[task.sample.source] for task in tasks]
        self.lines = QueryLines(
            tuple(task.pair for task in tasks), np.concatenate(numbers), np.concatenate(clusters)
        )

    @staticmethod
    def _both(sides: TextSides) -> tuple[TextVectors, TextVectors]:
        return sides.queries, sides.candidates

    def _with(self, vectors: Sides) -> TextSides:
        """Return the vectors in the places of those of the encoder."""
        sides = self._sides
        if isinstance(sides, TextVectors):
            return replace(sides, vectors=vectors.queries)
        return RoleVectors(
            replace(sides.queries, vectors=vectors.queries),
            replace(sides.candidates, vectors=vectors.candidates),
        )

    def values(self, vectors: Sides) -> FormValues:
        """Return the measure of each query [n]."""
        return self._of(self._targets(vectors))

    def rescored(self, vectors: Sides, smallest: Sides, first: int) -> FormValues:
        """Return the same where the first candidates by `smallest` are ordered again."""
        before, item = self._targets(smallest), self.run.manifest.item
        queries, candidates = self._both(self._sides)
        found = []
        for task, counts in zip(self.run.tasks, before, strict=True):
            sample = task.sample
            asked, offered = queries.position[sample.source], candidates.position[sample.target]
            lists = vector_lists(
                *both_pools(smallest, asked, offered), min(first, len(offered)), self.run.options.ranker
            )
            lists = ordered_again(
                lists, rows_of(vectors.queries, asked), rows_of(smallest.candidates, offered)
            )
            query, match = members(item[sample.target], item[sample.source])
            here = lists.lines(query, match) >= 0
            above, tied = lists.counts(query, match)
            found.append(
                TargetCounts(
                    query,
                    np.where(here, above, counts.above),
                    np.where(here, tied, counts.tied),
                    counts.pool,
                )
            )
        return self._of(found)

    def _targets(self, vectors: Sides) -> list[TargetCounts]:
        run, found = self.run, list[TargetCounts]()
        for chosen in by_pair(run.tasks).values():
            found += rank_matches(
                run.manifest,
                self._with(vectors),
                [run.tasks[number].sample for number in chosen],
                ranker=run.options.ranker,
                tally=run.tally,
            )
        return found

    def _of(self, targets: Sequence[TargetCounts]) -> FormValues:
        measure = self._measure
        of_all = isinstance(measure, Recall) and self.several
        parts = [measure.per_query(one if of_all else one.best()) for one in targets]  # type: ignore[arg-type]
        return FormValues(np.concatenate(parts))

    def texts(self) -> tuple[Texts, ...]:
        """Return the texts of both sides."""
        return (self.run.manifest.texts(self.run.rows),)

    def conditions(self) -> dict[str, str]:
        """Return what the numbers depend on, as a signature of an evaluation has it."""
        return {
            "task": NAME,
            "pairs": ",".join("-".join(task.pair) for task in self.run.tasks),
            "data": self.run.manifest.digest[:12],
            **self.run.clusters(),
        }
