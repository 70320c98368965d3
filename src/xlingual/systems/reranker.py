"""`cross-encoder:FOLDER::SYSTEM`: the first results of a system, ordered anew by a model that reads pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.encoders import Encoder
from xlingual.errors import InputError, warn
from xlingual.ragged import groups
from xlingual.ranking.listed import Lists
from xlingual.ranking.similarity import UNIT
from xlingual.records import Texts
from xlingual.systems.base import ListSystem, Search

FIRST, DEPTH = 100, 1000


class RerankedSystem(ListSystem):
    """A system whose `first` results are ordered by the scores of pairs; the others follow as they were.

    Scores are equal where they are equal to 9 decimals. Results that tie beyond the `first` are not read.
    """

    def __init__(self, scorer: Encoder, system: str, first: int = FIRST, depth: int = DEPTH) -> None:
        self.scorer, self.parts, self.first, self._depth = scorer, (system,), first, max(depth, first)

    @property
    def identity(self) -> str:
        """The model, the options, and the name of the system."""
        return self._identity(self.parts[0])

    def identity_over(self, part: Callable[[str, bool], str]) -> str:
        """Return the model, the options, and the identity of the system."""
        return self._identity(f"({part(self.parts[0], False)})")

    def _identity(self, part: str) -> str:
        return f"rerank:v1?first={self.first}&depth={self._depth}&model={self.scorer.identity}::{part}"

    @property
    def depth(self) -> int:
        """The most results that there are."""
        return self._depth

    def lists(self, search: Search) -> Lists:
        """Return the lists of the system, each with its first results in another order."""
        found = search.first(self.parts[0], self._depth)
        assert search.texts is not None
        assert search.encode is not None
        above, tied = found.places
        read = np.flatnonzero(above + tied <= self.first)
        queries = search.texts("query", search.query_rows)
        candidates = search.texts("candidate", search.candidate_rows)
        pairs = _pairs(queries, candidates, found.query[read], found.candidate[read])
        scored = search.encode(self.scorer, pairs)
        if scored.truncated is not None and (cut := int(np.sum(scored.truncated))):
            warn(
                f"{search.where}: {cut:,} of {len(read):,} pairs were longer than the cross-encoder reads "
                "and were cut"
            )
        key = np.rint(np.asarray(scored.vectors, dtype=np.float64)[:, 0] / UNIT).astype(np.int64)
        return replace(reordered(found, read, key), taken=self._depth)


def _pairs(queries: Texts, candidates: Texts, query: Ints, candidate: Ints) -> Texts:
    """Return each pair as a row: the candidate's text, with the query as its context."""
    asked, rows = list(queries.text), candidate.tolist()
    text, language, ids = (list(column) for column in (candidates.text, candidates.language, candidates.ids))
    return Texts(
        text=[text[row] for row in rows],
        language=[language[row] for row in rows],
        ids=[ids[row] for row in rows],
        context=[asked[row] for row in query.tolist()],
    )


def reordered(found: Lists, read: Ints, key: Ints) -> Lists:
    """Return the lists with the results that were read first, by falling key."""
    behind = np.ones(len(found.query), dtype=bool)
    behind[read] = False
    within = found.level.copy()
    within[read] = -key
    order = np.lexsort((found.candidate, within, behind, found.query))
    first, size = groups(found.query[order], behind[order], within[order])
    level = np.repeat(np.arange(len(first)), size)
    return replace(found, query=found.query[order], candidate=found.candidate[order], level=level, score=None)


def reranker(
    model: Any,  # noqa: ANN401
    system: str,
    *,
    first: int = FIRST,
    depth: int = DEPTH,
) -> RerankedSystem:
    """Return a system: the `first` results of another one, by its name, ordered by a CrossEncoder.

    Args:
        model: a CrossEncoder of sentence-transformers, or any object with predict([(query, candidate), …])
            that returns a score for each pair.
        system: the name of a system of the same call.
        first: how many of its results are read.
        depth: how many of its results there are, those that are read among them.

    """
    from xlingual.encoders.cross_encoder import adapter_of

    if first < 1:
        raise InputError(f"reranker: first must be at least 1, found {first}")
    return RerankedSystem(adapter_of(model), system, first, depth)


def build(argument: str, options: Mapping[str, Any]) -> RerankedSystem:
    """Return the system of a spec; its name is checked where all systems are known."""
    from xlingual.encoders.cross_encoder import folder_of

    who = f"cross-encoder:{argument}"
    if options["over"] is None:
        raise InputError(f"{who}: which system's results are read? Write {who}::NAME")
    scorer = folder_of(argument, options, who)
    return RerankedSystem(scorer, options["over"], options["first"], options["depth"])
