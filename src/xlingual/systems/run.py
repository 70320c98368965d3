"""A run of a search engine as a system: its names found among the texts of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.names import AMBIGUOUS, UNKNOWN, Names, zeros_hint
from xlingual.data.runs import SearchRun
from xlingual.errors import InputError, warn
from xlingual.ranking.listed import Lists
from xlingual.systems.base import ListSystem, Place, Search

_PLACES = ("source", "target", "seed")
MANY_MISSING = 0.1  # of the queries


class RunSystem(ListSystem):
    """A run in memory, or a file of one; {source}, {target} and {seed} in its name stand for those searched.

    Where a file is of one pair of languages, ids need no language.
    """

    def __init__(
        self, run: SearchRun | str, *, order: Any = None, ids: str | None = None, latency: float | None = None  # noqa: ANN401
    ) -> None:  # fmt: skip
        self._given, self._order, self._ids, self._latency = run, order, ids, latency
        self._read: dict[str, SearchRun] = {}
        self._in_trec_order: dict[SearchRun, SearchRun] = {}
        self._at: dict[str, RunSystem] = {}  # by file
        self._said: set[tuple[str, str]] = set()
        self._seeds: set[int] = set()  # that were searched

    @property
    def identity(self) -> str:
        """The digest of the run and its depth; where each search has a file, ask the system of one (`at`)."""
        return _identity_of(self._run)

    @property
    def identity_in_trec_order(self) -> str:
        """The same of the run as trec_eval orders it."""
        return _identity_of(self._ordered(self._run))

    @property
    def identity_of_scores(self) -> str:
        """The same, with the digest of the scores."""
        return f"{self.identity}&scores={self._run.score_digest[:16]}"

    def at(self, place: Place) -> RunSystem:
        """Return the system of the file that answers one search: so nothing depends on other searches."""
        if isinstance(self._given, SearchRun):
            return self
        path, ids = self._path_of(place)
        if path == self._given:
            return self
        if path not in self._at:
            self._at[path] = RunSystem(self._read_once(path, ids))
        return self._at[path]

    @property
    def depth(self) -> int:
        """The length of the longest list."""
        return max(run.depth for run in self._searched.values())

    @property
    def cost(self) -> Mapping[str, float]:
        """The latency of a query in milliseconds, where the files have it."""
        known = {
            f"{place} {query}": value
            for place, run in enumerate(self._searched.values())
            for query, value in run.latency.items()
        }
        if not known:
            return {} if self._latency is None else {"latency_ms": self._latency}
        middle, late, mean = *np.percentile(list(known.values()), (50, 95)), np.mean(list(known.values()))
        found = {"latency_ms": middle, "latency_ms_95": late, "latency_ms_mean": mean}
        return {name: round(float(value), 3) for name, value in found.items()} | {"queries_timed": len(known)}

    @property
    def _searched(self) -> Mapping[str, SearchRun]:
        """The files that were searched so far; all that are given where none was."""
        return self._read or {"": self._run}

    @property
    def _run(self) -> SearchRun:
        given = self._given
        return given if isinstance(given, SearchRun) else self._read_once(given, self._ids or "")

    def lists(self, search: Search) -> Lists:
        """Return the results that are candidates of the search.

        Queries without results, and names that nobody knows, are warned of.
        """
        run, pairs = self.run_of(search), search.of_pair
        self._seeds.add(search.seed)
        if search.ties == "trec":
            run = self._ordered(run)
        alone = search.alone or (self._per_pair and pairs)
        asked = self._rows(run, "queries", search.queries, search.source if alone else None, pairs)
        found = self._rows(run, "candidates", search.candidates, search.target if alone else None, pairs)
        query = _places(asked, search.query_rows, len(search.queries))
        candidate = _places(found, search.candidate_rows, len(search.candidates))
        n, answered = len(search.query_rows), query >= 0
        ended = np.ones(n, dtype=bool)
        if search.ties != "trec":
            ended[query[answered]] = run.ended[answered]
        if not answered.any():
            raise InputError(
                f"{run.source}: none of its {len(run):,} queries is one of {search.where} (first: "
                f"{run.queries[0]!r}): name queries by their ids, or as language:id{self._of_seeds}"
            )
        if missing := n - int(answered.sum()):
            of = f"{missing:,} of {n:,} queries of {search.where}"
            hint = self._of_seeds if missing > MANY_MISSING * n else ""
            self._say(run.source, f"{of} have no results: they count as misses{hint}")
        if uneven := run.uneven(answered):
            self._say(run.source, uneven)
        kept = np.flatnonzero(answered[run.query] & (candidate[run.candidate] >= 0))
        if not len(kept) and pairs:
            _refuse_other_language(run, search, found[run.candidate[answered[run.query]]])
        asked_at = query
        query, candidate, level = query[run.query[kept]], candidate[run.candidate[kept]], run.level[kept]
        order = np.lexsort((level, query))
        query, candidate, level = query[order], candidate[order], level[order]
        score = None if run.score is None else run.score[kept][order]
        left_out = np.zeros(n, dtype=np.int64)
        left_out[asked_at[answered]] = run.lengths[answered]
        left_out -= np.bincount(query, minlength=n)
        return Lists(query, candidate, level, ended, len(search.candidate_rows), score, left_out=left_out)

    def _ordered(self, run: SearchRun) -> SearchRun:
        """Return a run in the order of trec_eval."""
        if run not in self._in_trec_order:
            self._in_trec_order[run] = run.in_trec_order()
        return self._in_trec_order[run]

    def answers(self, search: Search) -> bool:
        """Return whether there is a file for the search, with any of its queries."""
        if isinstance(self._given, str) and not Path(self._path_of(search.place)[0]).exists():
            return False
        run, pairs = self.run_of(search), search.of_pair
        language = search.source if search.alone or (self._per_pair and pairs) else None
        return bool(np.isin(search.queries.rows(run.queries, language), search.query_rows).any())

    def run_of(self, search: Search) -> SearchRun:
        """Return the run that is searched."""
        if isinstance(self._given, SearchRun):
            self._read[""] = self._given
            return self._given
        return self._read_once(*self._path_of(search.place))

    def _path_of(self, place: Place) -> tuple[str, str]:
        """Return the file of a search, and that of its queries' ids."""
        values = {name: str(value) for name, value in zip(_PLACES, place, strict=True)}
        path, ids = (_filled(text, values) for text in (str(self._given), self._ids or ""))
        return path, ids

    def _read_once(self, path: str, ids: str) -> SearchRun:
        if path not in self._read:
            self._read[path] = SearchRun.read(path, order=self._order, ids=ids or None)
        return self._read[path]

    @property
    def _of_seeds(self) -> str:
        """A hint where one file stands for the samples of several seeds, which have other queries each."""
        if not isinstance(self._given, str) or "{seed}" in self._given or len(self._seeds) < 2:
            return ""
        return "; each seed has queries of its own: give a file for each, with {seed} in its name"

    @property
    def _per_pair(self) -> bool:
        return isinstance(self._given, str) and all(f"{{{name}}}" in self._given for name in _PLACES[:2])

    def _rows(self, run: SearchRun, what: str, known: Names, language: str | None, pairs: bool) -> Ints:
        """Return the row of each query or candidate of the run, -1 for one that nobody knows.

        `pairs`: whether there may be a file for each pair of languages.
        """
        names = run.queries if what == "queries" else run.candidates
        rows = known.rows(names, language)
        if (rows == AMBIGUOUS).any():
            raise InputError(
                f"{run.source}: {names[int(np.argmax(rows == AMBIGUOUS))]!r} is the id of texts in several "
                "languages: write language:id"
                + (", or a file for each pair of languages, with {source} and {target} in its name" * pairs)
            )
        if unknown := int((rows == UNKNOWN).sum()):
            first = names[int(np.argmax(rows == UNKNOWN))]
            hint = zeros_hint((names[row] for row in np.flatnonzero(rows == UNKNOWN).tolist()), known.ids)
            if unknown == len(names):
                raise InputError(
                    f"{run.source}: none of its {unknown:,} {what} is known (first: {first!r}): name them by "
                    f"the ids of the data, or as language:id{hint}"
                )
            of = f"{unknown:,} of {len(names):,} {what}"
            self._say(
                run.source,
                f"{of} are not in the data that are evaluated and are left out (first: {first!r}){hint}",
            )
        found = rows[rows >= 0]
        if len(np.unique(found)) < len(found):
            raise InputError(f"{run.source}: two names of its {what} are of one text: use one of them")
        return rows

    def _say(self, source: str, sentence: str) -> None:
        if (source, sentence) not in self._said:
            self._said.add((source, sentence))
            warn(f"{source}: {sentence}")


def _identity_of(run: SearchRun) -> str:
    return f"run:{run.digest[:16]}?depth={run.depth}"


def _places(rows: Ints, among: Ints, n: int) -> Ints:
    """Return the place of each of `rows` in `among`, -1 where it is not there; rows are below n."""
    place = np.full(n + 1, -1, dtype=np.int64)  # the last one for rows below 0
    place[among] = np.arange(len(among))
    return place[np.maximum(rows, -1)]


def _refuse_other_language(run: SearchRun, search: Search, rows: Ints) -> None:
    """Raise InputError where known candidates, rows, are all of other languages than the target."""
    languages = search.candidates.languages
    tags = {languages[row] for row in np.unique(rows[rows >= 0]).tolist() if row < len(languages)}
    if tags and search.target in languages and search.target not in tags:
        first = run.candidates[0]
        raise InputError(
            f"{run.source}: {search.where}: none of its candidates is in the target language {search.target} "
            f"(first: {first!r}): name candidates {search.target}:id, or give a file that is of this search"
        )


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Return a file's name with the values of what it is of."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def build(argument: str, options: Mapping[str, Any]) -> RunSystem:
    """Return the system of a spec, run:FILE; raise InputError where there is no such file."""
    if not any(f"{{{name}}}" in argument for name in _PLACES) and not Path(argument).exists():
        raise InputError(f"{argument}: there is no such file: expected that of a run")
    given = {name: options.get(name) for name in ("order", "ids", "latency")}
    return RunSystem(argument, **given)
