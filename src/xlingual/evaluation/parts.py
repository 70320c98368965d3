"""What each system of an evaluation gives, and the lists that systems made of others ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from xlingual.arrays import Ints
from xlingual.embed import PoolVectors
from xlingual.encoders import Encoder
from xlingual.evaluation.run import Run
from xlingual.ranking import TextPool
from xlingual.ranking.listed import Lists
from xlingual.ranking.vector_lists import vector_lists
from xlingual.records import Texts
from xlingual.systems import ListSystem, Search
from xlingual.systems.made_of import needed

if TYPE_CHECKING:
    from xlingual.data.pools.pool import MultilingualPool

V = TypeVar("V")  # the vectors of an encoder
P = TypeVar("P")  # what is searched, such as a sample


@dataclass(eq=False)
class Parts(Generic[V, P]):
    """The systems of a run, one after another: vectors of encoders, and lists of other systems.

    `encode` makes the vectors of an encoder, which are kept while a system that is made of it is still to
    come. `sides` are those of the queries and candidates of a search, `lists` what a system that returns
    lists does in it.
    """

    run: Run
    encode: Callable[[str], V]
    sides: Callable[[V, P], tuple[TextPool, TextPool]]
    lists: Callable[[str, ListSystem, P], Lists]
    _kept: dict[str, V] = field(default_factory=dict)

    def each(self) -> Iterator[tuple[str, V | None]]:
        """Yield the name and the vectors of each system; None of one that returns lists."""
        names = list(self._systems)
        for place, name in enumerate(names):
            found = self.of(name)
            if found is not None and name in needed(self._systems, names[place + 1 :]):
                self._kept[name] = found
            yield name, found
            del found
            self._keep_for(names[place + 1 :])

    def of(self, name: str) -> V | None:
        """Return the vectors of a system; of one that returns lists None, and its parts are encoded."""
        if not isinstance(self._systems[name], ListSystem):
            return self._vectors(name)
        for part in needed(self._systems, [name]):
            if not isinstance(self._systems[part], ListSystem):
                self._kept[part] = self._vectors(part)
        return None

    def whole(self, name: str, place: P) -> Lists:
        """Return the lists of a system that returns lists."""
        one = self._systems[name]
        assert isinstance(one, ListSystem)
        return self.lists(name, one, place)

    def first(self, name: str, place: P, depth: int) -> Lists:
        """Return the first results of a system in a search."""
        if isinstance(self._systems[name], ListSystem):
            return self.whole(name, place).first(depth)
        options, progress = self.run.options, self.run.progress(f"ranking texts: {name}")
        return vector_lists(*self.sides(self._vectors(name), place), depth, options.ranker, progress)

    @property
    def _systems(self) -> Mapping[str, Encoder | ListSystem]:
        return self.run.by_name

    def _vectors(self, name: str) -> V:
        return self._kept[name] if name in self._kept else self.encode(name)

    def _keep_for(self, later: Iterable[str]) -> None:
        """Forget all vectors but those that these systems need."""
        wanted = needed(self._systems, later)
        self._kept = {name: found for name, found in self._kept.items() if name in wanted}


def pool_parts(
    run: Run, pool: MultilingualPool, candidate_text: str, encode: Callable[[str], PoolVectors]
) -> Parts[PoolVectors, Search]:
    """Return the systems of a run over a pool, of which a search names queries and candidates by rows."""

    def texts(role: str, rows: Ints) -> Texts:
        whole = pool.question_texts() if role == "query" else pool.candidate_texts(candidate_text)
        return whole.take(rows)

    def lists(name: str, one: ListSystem, search: Search) -> Lists:
        def first(other: str, depth: int) -> Lists:
            return parts.first(other, replace(search, ties="expected"), depth)

        asked = replace(search, lists_of=first, texts=texts, encode=partial(run.scored, name))
        return one.lists(asked)

    def sides(vectors: PoolVectors, search: Search) -> tuple[TextPool, TextPool]:
        return (
            TextPool.of(vectors.questions, search.query_rows),
            TextPool.of(vectors.candidates, search.candidate_rows),
        )

    parts = Parts[PoolVectors, Search](run, encode, sides, lists)
    return parts
