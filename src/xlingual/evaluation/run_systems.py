"""Runs of search engines beside encoders: what `run:FILE` and `runs={"name": …}` name, searched by names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints
from xlingual.data.names import AMBIGUOUS, UNKNOWN, Names
from xlingual.data.runs import SearchRun
from xlingual.data.runs.search_run import Order
from xlingual.encoders import Encoder, EncoderLike, Spec
from xlingual.encoders.registry import entries, returns_lists
from xlingual.encoders.scheme import LISTS
from xlingual.encoders.spec import read_options, scheme_for
from xlingual.errors import InputError, warn
from xlingual.evaluation.lists import Lists
from xlingual.records import Texts
from xlingual.requests.record import none_given
from xlingual.requests.shared import SYSTEMS

# a file, a run in memory, or {query: {candidate: score}}
RunLike: TypeAlias = "str | os.PathLike[str] | SearchRun | Mapping[str, Any]"
RunsLike: TypeAlias = "Mapping[str, RunLike] | Sequence[RunLike] | str | os.PathLike[str] | SearchRun"
SystemLike: TypeAlias = "EncoderLike | SearchRun"
Place: TypeAlias = tuple[str, str, int]  # source, target and seed of a search

_PLACES = ("source", "target", "seed")
_NAME = re.compile(r"([\w.-]+)=")
MANY_MISSING = 0.1  # of the queries


@dataclass(frozen=True, eq=False)
class Search:
    """The queries [n] and candidates [m] of an evaluation, as rows of all that have names.

    `source`, `target` and `seed` are what files of one search are named by. `alone`: there is no other pair
    of languages, so that ids need no language. `called`: the search in messages, where it is of no pair.
    `ties`: "trec" asks for the order of trec_eval, which has none.
    """

    queries: Names
    candidates: Names
    query_rows: Ints  # [n]
    candidate_rows: Ints  # [m]
    source: str
    target: str
    seed: int
    alone: bool = False
    called: str = ""
    ties: str = "expected"

    @property
    def place(self) -> Place:
        """What the search is of: source, target and seed."""
        return self.source, self.target, self.seed

    @property
    def where(self) -> str:
        """The search, in messages."""
        return self.called or f"{self.source}-{self.target}"

    @property
    def of_pair(self) -> bool:
        """Whether it is of one pair of languages, as a file of a run may be."""
        return not self.called


class RunSystem:
    """A run in memory, or a file of one; {source}, {target} and {seed} in its name stand for those searched.

    It takes the place of an encoder and its similarity. Where a file is of one pair of languages, ids need no
    language.
    """

    # what evaluations ask encoders: lists are the same whatever the role of a text
    by_role = False
    trained_on_images: bool | None = None
    origin: str | None = None

    def __init__(
        self, run: SearchRun | str, *, order: Order | None = None, latency: float | None = None
    ) -> None:
        self._given, self._order, self._latency = run, order, latency
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

    def at(self, place: Place) -> RunSystem:
        """Return the system of the file that answers one search: so nothing depends on other searches."""
        if isinstance(self._given, SearchRun):
            return self
        path = self._path_of(place)
        if path == self._given:
            return self
        if path not in self._at:
            self._at[path] = RunSystem(self._read_once(path))
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
        return given if isinstance(given, SearchRun) else self._read_once(given)

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

    def run_of(self, search: Search) -> SearchRun:
        """Return the run that is searched."""
        if isinstance(self._given, SearchRun):
            self._read[""] = self._given
            return self._given
        return self._read_once(self._path_of(search.place))

    def _path_of(self, place: Place) -> str:
        """Return the file of a search."""
        path = str(self._given)
        for name, value in zip(_PLACES, place, strict=True):
            path = path.replace(f"{{{name}}}", str(value))
        return path

    def _read_once(self, path: str) -> SearchRun:
        if path not in self._read:
            self._read[path] = SearchRun.read(path, order=self._order)
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
            if unknown == len(names):
                raise InputError(
                    f"{run.source}: none of its {unknown:,} {what} is known (first: {first!r}): name them by "
                    f"the ids of the data, or as language:id"
                )
            of = f"{unknown:,} of {len(names):,} {what}"
            self._say(
                run.source,
                f"{of} are not in the data that are evaluated and are left out (first: {first!r})",
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


def systems(
    specs: Sequence[SystemLike] | Mapping[str, SystemLike] | SystemLike,
    *,
    languages: Sequence[str],
    role_languages: Mapping[str, Sequence[str]] | None = None,
    fit_texts: Callable[[str], Texts] | None = None,
) -> dict[str, Encoder | RunSystem]:
    """Return name → encoder or run, in the order of `specs`; arguments as in `encoders.text_encoders`."""
    by_name = entries(specs, languages)
    runs = {name: _run_system(entry) for name, entry in by_name.items() if returns_lists(entry)}
    others = {
        name: str(entry) if isinstance(entry, Spec) else entry
        for name, entry in by_name.items()
        if name not in runs
    }
    built: dict[str, Encoder] = {}
    if others:
        built = encoders.text_encoders(
            others, languages=languages, role_languages=role_languages, fit_texts=fit_texts
        )
    return {name: runs[name] if name in runs else built[name] for name in by_name}


def _run_system(entry: object) -> RunSystem:
    if isinstance(entry, SearchRun):
        return RunSystem(entry)
    assert isinstance(entry, Spec)
    options, path = read_options(entry, scheme_for(entry, LISTS)), entry.argument
    if not any(f"{{{name}}}" in path for name in _PLACES) and not Path(path).exists():
        raise InputError(f"{path}: there is no such file: expected that of a run")
    return RunSystem(path, order=options["order"], latency=options["latency"])


def joined(text_encoders: Any, runs: RunsLike) -> Any:  # noqa: ANN401  (what `systems` takes)
    """Return encoders and runs together, as `systems` takes them: encoders first.

    A run is a file, [NAME=]FILE[?order=…] as the command line has it, a SearchRun, or what `SearchRun.of`
    takes; a mapping names them. Raises InputError where there is neither an encoder nor a run.
    """
    no_encoder = isinstance(text_encoders, tuple | list | dict) and not text_encoders
    named = [{name: run} if name is not None else [run] for name, run in _named_runs(runs)]
    if not named and no_encoder:
        raise InputError(none_given(SYSTEMS))
    if not named:
        return text_encoders
    return [*([] if no_encoder else [text_encoders]), *named]


def _named_runs(runs: Any) -> Iterator[tuple[str | None, Any]]:  # noqa: ANN401
    """Yield (name, spec or run) of each."""
    if isinstance(runs, Mapping):
        for name, run in runs.items():
            yield str(name), _spec_or_run(run, str(name))
    else:
        for run in runs if isinstance(runs, list | tuple) else (runs,):
            yield None, _spec_or_run(run, "run")


def _spec_or_run(run: Any, name: str) -> Any:  # noqa: ANN401
    if isinstance(run, str):
        named = _NAME.match(run)
        start, rest = (named[0], run[named.end() :]) if named else ("", run)
        return run if rest.startswith("run:") else f"{start}run:{rest}"
    if isinstance(run, os.PathLike):
        return str(Spec(None, "run", os.fspath(run)))
    return SearchRun.of(run, name)
