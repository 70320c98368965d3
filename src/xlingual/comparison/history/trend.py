"""What changed from record to record: paired tests on equal queries, corrected for their number.

Successive records of one encoder are tested query by query, and the first against the last that can be
compared with it, which shows a slow drift. All these tests are one family, corrected after Holm; systems that
agree on every query need no test and do not count. Queries are the same and encoders are no chance, so
nothing is gained by averaging records before and after a change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np

from xlingual.comparison.choice import aligned_queries
from xlingual.comparison.history.database import reading
from xlingual.comparison.history.series import Chain, Findings, chains
from xlingual.comparison.history.stored import stored_results
from xlingual.comparison.outcome import EncoderTest, QuerySubset, Resampling, Rules, decide
from xlingual.comparison.queries import Queries
from xlingual.comparison.references import Reference
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.requests import answers
from xlingual.requests.history import HistoryRequest
from xlingual.results import Results
from xlingual.results.comparison import CANNOT_TELL, Compared
from xlingual.results.history import UNCHANGED, Change, Line, Point, Recorded, Series, Trend
from xlingual.signature import Signature

Pair: TypeAlias = tuple[str | None, str | None]
Progress: TypeAlias = Callable[[str, int, int], None]
_ALL: Pair = (None, None)


@answers(HistoryRequest)
def trend(
    history: str | Path,
    *,
    task: str | None = None,
    measures: Sequence[str] = (),
    encoders: Sequence[str] = (),
    pairs: Sequence[str] = (),
    by: str = "time",
    per_pair: bool = False,
    alpha: float = 0.05,
    replicates: int | None = None,
    seed: int = 0,
    progress: Progress = lambda what, done, total: None,
) -> Trend:
    """Return how results changed over time (`by="time"`) or from version to version (`by="label"`).

    By default all tasks and encoders of the history, each task by its first measure. `pairs` ("en-de") names
    language pairs that are shown and tested one by one; with `per_pair` all of them are.

    Raises:
        InputError: the history cannot be read; it has no such task, measure, encoder or language pair.

    """
    rules, notes = Rules("holm", alpha, None), list[str]()
    found = chains(history, task, measures, by, notes)
    _check_encoders(found, encoders)
    wanted = _pairs(found, pairs)
    tests = _Tests(Path(history), seed, replicates, rules)
    drafts = [_drafts(chain, encoders, wanted, tested=bool(pairs) or per_pair) for chain in found]
    for overall in (True, False):
        tests.run(
            [one for own in drafts for one in own if (one.pair == _ALL) == overall and one.tested], progress
        )
    return Trend(
        history=str(history),
        by=by,
        alpha=alpha,
        series=[_series(chain, own) for chain, own in zip(found, drafts, strict=True)],
        notes=list(dict.fromkeys([*notes, *tests.notes])),
        n_tests=sum(one.n_tests for own in drafts for one in own if one.pair == _ALL),
        n_pair_tests=sum(one.n_tests for own in drafts for one in own if one.pair != _ALL),
        replicates=tests.most_replicates,
        seed=seed,
    )


@dataclass
class _Draft:
    """A line whose changes are not decided yet."""

    chain: Chain
    encoder: str
    pair: Pair
    tested: bool
    findings: tuple[Findings, ...]  # of the records that have the encoder
    changes: list[Change | None]  # of the points, the first None
    whole: Change | None = None
    n_tests: int = 0


def _drafts(chain: Chain, encoders: Sequence[str], wanted: Sequence[Pair], *, tested: bool) -> list[_Draft]:
    """Return the lines of a chain: of each encoder, then of each encoder and language pair."""
    names = dict.fromkeys(name for one in chain.findings for name in one.encoders)
    chosen = [name for name in names if not encoders or name in encoders]
    pairs: list[Pair] = [pair for pair in _pairs_of(chain) if not wanted or pair in wanted]
    whole = not wanted or len(_pairs_of(chain)) == 1
    parts = pairs if len(_pairs_of(chain)) > 1 else []
    made = [(name, _ALL, True) for name in chosen if whole]
    made += [(name, pair, tested) for pair in parts for name in chosen]
    found = []
    for name, pair, test in made:
        own = tuple(one for one in chain.findings if one.of(name, pair) is not None)
        if own:
            found.append(_Draft(chain, name, pair, test, own, [None] * len(own)))
    return found


@dataclass(frozen=True)
class _Planned:
    """A test that is to be made, and where its outcome goes: the place of a point, None for the line."""

    draft: _Draft
    place: int | None
    since: Findings
    queries: Queries


class _Tests:
    """The tests of a history: they read the values of queries as they need them."""

    def __init__(self, path: Path, seed: int, replicates: int | None, rules: Rules) -> None:
        self.path, self.seed, self.replicates, self.rules = path, seed, replicates, rules
        self.notes: list[str] = []
        self.most_replicates = 0

    def run(self, drafts: Sequence[_Draft], progress: Progress) -> None:
        """Decide on all changes of some lines, which are one family."""
        load = lru_cache(maxsize=4)(self._load)
        planned: list[_Planned] = []
        for number, draft in enumerate(drafts):
            progress("reading the history", number, len(drafts))
            planned += self._plan(draft, load)
        resampling = Resampling(self.replicates, self.seed, len(planned), self.rules)
        found: list[EncoderTest] = []
        for number, one in enumerate(planned):
            progress("testing the changes", number, len(planned))
            earlier, later = one.queries.encoders
            found.append(resampling.test(QuerySubset(one.queries, *one.draft.pair), later, earlier))
            self.most_replicates = resampling.replicates
        (decided,) = decide([found], self.rules, np.empty(0))
        for one, outcome in zip(planned, decided, strict=True):
            change = _change(one, outcome)
            one.draft.n_tests += outcome.p is not None
            if one.place is None:
                one.draft.whole = change
            else:
                one.draft.changes[one.place] = change

    def _plan(self, draft: _Draft, load: Callable[[int, str, str], Results]) -> list[_Planned]:
        """Return the tests of a line; where there is nothing to test, the change is decided at once."""
        planned, start = [], 0
        for place in range(1, len(draft.findings)):
            since, now = draft.findings[place - 1 : place + 1]
            found = self._between(draft, since, now, load)
            if isinstance(found, _Planned):
                planned.append(_Planned(draft, place, since, found.queries))
            else:
                draft.changes[place] = found
                start = place if found.difference is None else start
        if len(draft.findings) - start > 2:
            since, now = draft.findings[start], draft.findings[-1]
            found = self._between(draft, since, now, load)
            if isinstance(found, _Planned):
                planned.append(found)
            else:
                draft.whole = found
        return planned

    def _between(
        self, draft: _Draft, since: Findings, now: Findings, load: Callable[[int, str, str], Results]
    ) -> _Planned | Change:
        """Return the queries of two records side by side, or the change where there is no test."""
        chain, asked = draft.chain, () if draft.pair == _ALL else ("-".join(map(str, draft.pair)),)
        both = [
            Reference(
                Path(f"record {one.record.id}"), draft.encoder, load(one.record.id, chain.task, chain.measure)
            )
            for one in (since, now)
        ]
        try:
            _, queries = aligned_queries(both, chain.measure, chain.task, asked)
        except InputError as error:
            why = _differing(since, now, draft.pair) or str(error)
            return Change(since.record.id, None, None, None, None, CANNOT_TELL, note=why)
        earlier, later = queries.encoders
        if queries.agree(earlier, later):
            return Change(since.record.id, 0.0, None, None, None, UNCHANGED, queries.n_distinct)
        return _Planned(draft, None, since, queries)

    def _load(self, record: int, task: str, measure: str) -> Results:
        with reading(self.path) as db:
            return stored_results(db, record, str(self.path), task, measure)


def _change(one: _Planned, found: Compared) -> Change:
    return Change(
        one.since.record.id,
        found.difference,
        found.ci,
        found.p,
        found.p_adjusted,
        found.outcome,
        one.queries.n_distinct,
        found.note,
    )


def _differing(since: Findings, now: Findings, pair: Pair) -> str | None:
    """Return in which conditions two records differ, None where in none."""
    by_key = [
        {
            (one.source, one.target, one.seed): Signature.parse(one.signature)
            for one in findings.entries
            if pair in (_ALL, (one.source, one.target))
        }
        for findings in (since, now)
    ]
    shared = next((key for key in by_key[0] if key in by_key[1]), None)
    if shared is None:
        return "other language pairs or seeds"
    differing = by_key[0][shared].differences(by_key[1][shared])
    return f"other conditions ({'; '.join(differing)})" if differing else None


def _series(chain: Chain, drafts: Sequence[_Draft]) -> Series:
    records: dict[int, Recorded] = {one.record.id: one.record for one in chain.findings}
    conditions = [dict(Signature.parse(one.signature).conditions) for one in chain.findings[-1].entries]
    common = {k: v for k, v in conditions[0].items() if all(own.get(k) == v for own in conditions)}
    return Series(
        chain.task, chain.measure, chain.data, list(records.values()), [_line(one) for one in drafts], common
    )


def _line(draft: _Draft) -> Line:
    points = []
    for one, change in zip(draft.findings, draft.changes, strict=True):
        row = one.of(draft.encoder, draft.pair)
        value, ci = (None, None) if row is None else (row.value, row.ci)
        points.append(Point(one.record.id, value, ci, change))
    return Line(draft.encoder, *draft.pair, points, draft.whole)


def _pairs_of(chain: Chain) -> list[tuple[str, str]]:
    """Return the language pairs of a chain."""
    return list(dict.fromkeys((one.source, one.target) for of in chain.findings for one in of.entries))


def _pairs(found: Sequence[Chain], names: Sequence[str]) -> list[Pair]:
    known = {"-".join(pair): pair for chain in found for pair in _pairs_of(chain)}
    for name in names:
        if name not in known:
            raise InputError(
                f"no language pair {name!r}.{did_you_mean(name, known)} Language pairs: {listed(known, 30)}"
            )
    return [known[name] for name in names]


def _check_encoders(found: Sequence[Chain], names: Sequence[str]) -> None:
    known = dict.fromkeys(name for chain in found for one in chain.findings for name in one.encoders)
    for name in names:
        if name not in known:
            raise InputError(f"no encoder {name!r}.{did_you_mean(name, known)} Encoders: {listed(known, 30)}")
