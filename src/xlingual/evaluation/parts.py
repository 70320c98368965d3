"""What each system of an evaluation gives, and the lists that systems made of others ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sample
from xlingual.encoders import Encoder
from xlingual.evaluation.listed import SystemLists
from xlingual.evaluation.ragged import members
from xlingual.evaluation.run import Run, TextSides
from xlingual.ranking import Progress, Ranker, TextPool, Top, similarity_of
from xlingual.ranking.listed import Lists
from xlingual.ranking.similarity import UNIT
from xlingual.systems import ListSystem, Names
from xlingual.systems.made_of import needed


def vector_lists(
    queries: TextPool,
    candidates: TextPool,
    depth: int,
    ranker: Ranker,
    progress: Progress | None = None,
) -> Lists:
    """Return the first `depth` candidates of each query by exact scores; see `Lists.first` for ties.

    What is behind the end ties, as all of an encoder's candidates have a score.
    """
    similarity = similarity_of(queries.vectors, candidates.vectors)
    weights = np.bincount(candidates.code, minlength=len(candidates.vectors)).astype(np.int64)
    top = Top(min(depth, len(candidates.code)), similarity.shape, weights=weights, cap=depth)
    ranker.scan(similarity, [top], progress=progress)
    best = top.result()
    kept = best.above + best.tied <= depth
    distinct, vector, above = best.query[kept], best.candidate[kept], best.above[kept]
    score = similarity.exact(distinct, vector) * UNIT
    query, line = members(distinct, queries.code)  # texts that share a vector
    owner, candidate = members(candidates.code, vector[line])
    query, line, n = query[owner], line[owner], len(queries.code)
    return Lists(query, candidate, above[line], np.zeros(n, dtype=bool), len(candidates.code), score[line])


@dataclass(eq=False)
class PairParts:
    """What the systems of a run over language pairs give: vectors, or lists.

    The vectors of an encoder are kept while a system that is made of it is still to come.
    """

    run: Run
    manifest: Manifest
    names: Names
    alone: bool
    encode: Callable[[str], TextSides]
    _kept: dict[str, TextSides] = field(default_factory=dict)

    @property
    def _systems(self) -> Mapping[str, Encoder | ListSystem]:
        return self.run.by_name

    def of(self, name: str) -> TextSides | SystemLists:
        """Return what a system gives; what it is made of is encoded before."""
        one = self._systems[name]
        if not isinstance(one, ListSystem):
            return self._vectors(name)
        for part in needed(self._systems, [name]):
            if not isinstance(self._systems[part], ListSystem):
                self._kept[part] = self._vectors(part)
        return self._lists_of(name, one)

    def keep_for(self, later: Iterable[str]) -> None:
        """Forget all vectors but those that these systems need."""
        wanted = needed(self._systems, later)
        self._kept = {name: found for name, found in self._kept.items() if name in wanted}

    def each(self) -> Iterable[tuple[str, TextSides | SystemLists]]:
        """Yield what each system gives, one after another."""
        names = list(self._systems)
        for place, name in enumerate(names):
            found = self.of(name)
            if not isinstance(found, SystemLists) and name in needed(self._systems, names[place + 1 :]):
                self._kept[name] = found
            yield name, found
            del found
            self.keep_for(names[place + 1 :])

    def first(self, name: str, sample: Sample, depth: int) -> Lists:
        """Return the first results of a system in a sample."""
        one = self._systems[name]
        if isinstance(one, ListSystem):
            return self._lists_of(name, one).of(sample).first(depth)
        vectors = self._vectors(name)
        return vector_lists(
            vectors.queries.pool(sample.source),
            vectors.candidates.pool(sample.target),
            depth,
            self.run.options.ranker,
            self.run.progress(f"ranking texts: {name}"),
        )

    def _vectors(self, name: str) -> TextSides:
        return self._kept[name] if name in self._kept else self.encode(name)

    def _lists_of(self, name: str, one: ListSystem) -> SystemLists:
        return SystemLists(name, one, self.manifest, self.names, self.alone, self.first)
