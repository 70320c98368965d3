"""Runs of search engines beside encoders: what `run:FILE` and `runs={"name": …}` name, searched by names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.data.names import AMBIGUOUS, UNKNOWN, Names
from xlingual.data.runs import SearchRun
from xlingual.data.samples import Sample
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
EXPECTED = "expected"


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
    ties: str = EXPECTED


class RunSystem:
    """A run in memory, or a file of one; {source}, {target} and {seed} in its name stand for those searched.

    It takes the place of an encoder and its similarity. Where a file is of one pair of languages, ids need no
    language.
    """

    # what evaluations ask encoders: lists are the same whatever the role of a text
    by_role = False
    trained_on_images: bool | None = None
    origin: str | None = None

    def __init__(self, run: SearchRun | str, *, latency: float | None = None) -> None:
        self._source, self._latency = run, latency
        self._path = run if isinstance(run, str) else ""
        self._runs: dict[tuple[str, str], SearchRun] = {}  # by file and ties

    def run(self, place: Place = ("", "", 0), ties: str = EXPECTED) -> SearchRun:
        """Return the run that answers a search, with `ties` "trec" in the order of trec_eval."""
        path = self._path
        for name, value in zip(_PLACES, place, strict=True):
            path = path.replace(f"{{{name}}}", str(value))
        if (path, ties) not in self._runs:
            if ties != EXPECTED:
                run = self.run(place).in_trec_order()
            elif isinstance(self._source, SearchRun):
                run = self._source
            else:
                run = SearchRun.read(path)
            self._runs[path, ties] = run
        return self._runs[path, ties]

    def identity(self, place: Place, ties: str = EXPECTED) -> str:
        """Return the digest and the depth of the run that answers a search; nothing of other searches."""
        run = self.run(place, ties)
        return f"run:{run.digest[:16]}?depth={run.depth}"

    @property
    def cost(self) -> Mapping[str, float]:
        """The latency of a query in milliseconds, where it was said."""
        return {} if self._latency is None else {"latency_ms": self._latency}

    def lists(self, search: Search) -> Lists:
        """Return the results that are candidates of the search.

        Queries without results, and names that nobody knows, are warned of.
        """
        run, n = self.run((search.source, search.target, search.seed), search.ties), len(search.query_rows)
        where = search.called or f"{search.source}-{search.target}"
        alone = search.alone or (
            not search.called and all(f"{{{name}}}" in self._path for name in _PLACES[:2])
        )
        query, candidate = (
            _places(_rows(run, names, side, texts, tag if alone else None), rows, len(texts))
            for names, side, texts, tag, rows in (
                (run.queries, "queries", search.queries, search.source, search.query_rows),
                (run.candidates, "candidates", search.candidates, search.target, search.candidate_rows),
            )
        )
        answered = query >= 0
        places, ended = query[answered], np.ones(n, dtype=bool)
        if not len(places):
            raise InputError(
                f"{run.source}: none of its {len(run):,} queries is one of {where} (first: "
                f"{run.queries[0]!r}): name queries by their ids, or as language:id; of several seeds, "
                "give a file for each, with {seed} in its name"
            )
        if missing := n - len(places):
            warn(
                f"{run.source}: {missing:,} of {n:,} queries of {where} have no results: they count as misses"
            )
        lines = np.flatnonzero(answered[run.query] & (candidate[run.candidate] >= 0))
        if not len(lines):
            raise InputError(
                f"{run.source}: none of its results is a candidate of {where} (first: "
                f"{run.candidates[0]!r}): give lists of these candidates alone, named by id or language:id"
            )
        if search.ties == EXPECTED:
            ended[places] = run.ended[answered]
        lines = lines[np.lexsort((run.level[lines], query[run.query[lines]]))]
        score = None if run.score is None else run.score[lines]
        columns = query[run.query[lines]], candidate[run.candidate[lines]], run.level[lines]
        return Lists(*columns, ended, len(search.candidate_rows), score)


def _rows(run: SearchRun, names: Sequence[str], side: str, texts: Names, language: str | None) -> Ints:
    """Return the row of each query or candidate of a run, −1 for a name that nobody knows."""
    rows = texts.rows(names, language)
    if (rows == AMBIGUOUS).any():
        raise InputError(
            f"{run.source}: {names[int(np.argmax(rows == AMBIGUOUS))]!r} is the id of texts in several "
            "languages: write language:id"
        )
    unknown = np.flatnonzero(rows == UNKNOWN)
    if len(unknown):
        first = names[unknown[0]]
        if len(unknown) == len(names):
            raise InputError(
                f"{run.source}: none of its {len(names):,} {side} is known (first: {first!r}): name them by "
                "the ids of the data, or as language:id"
            )
        warn(
            f"{run.source}: {len(unknown):,} of {len(names):,} {side} are not in the data that are evaluated "
            f"and are left out (first: {first!r})"
        )
    if len(np.unique(rows[rows >= 0])) + len(unknown) < len(names):
        raise InputError(f"{run.source}: two names of its {side} are of one text: use one of them")
    return rows


def _places(rows: Ints, chosen: Ints, n: int) -> Ints:
    """Return the place of each of `rows` in `chosen`, −1 where it is not there; rows are below n."""
    place = np.full(n + 1, -1, dtype=np.int64)  # the last for rows below 0
    place[chosen] = np.arange(len(chosen))
    return place[np.maximum(rows, -1)]


@dataclass(frozen=True, eq=False)
class SystemLists:
    """The lists of a run over samples of a manifest, as `TextVectors` are the vectors of an encoder."""

    name: str
    system: RunSystem
    manifest: Manifest
    names: Names  # of the manifest's rows
    alone: bool  # whether one language pair is evaluated, so that ids need no language
    count_unanswered: Callable[[str, str, str, int, Lists], None]  # of (name, source, target, seed)

    def of(self, sample: Sample) -> Lists:
        """Return the lists of a sample: its sources are queries, its targets candidates."""
        (source, target), seed = self._pair(sample), sample.seed
        rows = sample.source, sample.target
        lists = self.system.lists(Search(self.names, self.names, *rows, source, target, seed, self.alone))
        self.count_unanswered(self.name, source, target, seed, lists)
        return lists

    def who(self, sample: Sample) -> str:
        """Return the system and the language pair, for messages."""
        return f"{self.name!r}, {'-'.join(self._pair(sample))}"

    def _pair(self, sample: Sample) -> tuple[str, str]:
        """Return the languages of a sample."""
        tags, codes = self.manifest.languages, self.manifest.language
        return tags[codes[sample.source[0]]], tags[codes[sample.target[0]]]


def names_of(manifest: Manifest) -> Names:
    """Return the names of all texts of a manifest."""
    tags = manifest.languages
    return Names([tags[code] for code in manifest.language.tolist()], manifest.ids)


def systems(
    specs: Sequence[SystemLike] | Mapping[str, SystemLike] | SystemLike,
    *,
    languages: Sequence[str],
    role_languages: Mapping[str, Sequence[str]] | None = None,
    fit_texts: Callable[[str], Texts] | None = None,
) -> dict[str, Encoder | RunSystem]:
    """Return name → encoder or run, in the order of `specs`; arguments as in `encoders.text_encoders`."""
    by_name = entries(specs, languages)
    runs: dict[str, RunSystem] = {}
    others: dict[str, Any] = {}
    for name, entry in by_name.items():
        if isinstance(entry, SearchRun):
            runs[name] = RunSystem(entry)
        elif returns_lists(entry):
            options, path = read_options(entry, scheme_for(entry, LISTS)), entry.argument
            if not any(f"{{{place}}}" in path for place in _PLACES) and not Path(path).exists():
                raise InputError(f"{path}: there is no such file: expected that of a run")
            runs[name] = RunSystem(path, latency=options["latency"])
        else:
            others[name] = str(entry) if isinstance(entry, Spec) else entry
    built: dict[str, Encoder] = {}
    if others:
        built = encoders.text_encoders(
            others, languages=languages, role_languages=role_languages, fit_texts=fit_texts
        )
    return {name: runs[name] if name in runs else built[name] for name in by_name}


def joined(text_encoders: Any, runs: RunsLike) -> Any:  # noqa: ANN401  (what `systems` takes)
    """Return encoders and runs together, as `systems` takes them: encoders first.

    A run is a file, [NAME=]FILE[?order=…] as the command line has it, a SearchRun, or what `SearchRun.of`
    takes; a mapping names them. Raises InputError where there is neither an encoder nor a run.
    """
    no_encoder = isinstance(text_encoders, tuple | list | dict) and not text_encoders
    if isinstance(runs, Mapping):
        parts: list[Any] = [{str(name): _spec_or_run(run, str(name))} for name, run in runs.items()]
    else:
        several = runs if isinstance(runs, list | tuple) else [runs]
        parts = [[_spec_or_run(run, "run")] for run in several]
    if not parts and no_encoder:
        raise InputError(none_given(SYSTEMS))
    return [*([] if no_encoder else [text_encoders]), *parts] if parts else text_encoders


def _spec_or_run(run: Any, name: str) -> Any:  # noqa: ANN401
    """Return the spec of a file, or the run."""
    if isinstance(run, os.PathLike):
        return str(Spec(None, "run", os.fspath(run)))
    if not isinstance(run, str):
        return SearchRun.of(run, name)
    named = _NAME.match(run)
    start, rest = (named[0], run[named.end() :]) if named else ("", run)
    return run if rest.startswith("run:") else f"{start}run:{rest}"
