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
from xlingual.comparison.outcome import EncoderTest, QuerySubset, Resampling, Rules, decide
from xlingual.comparison.queries import Queries
from xlingual.comparison.recorded import ALL, Chain, Numbers, Pair, chains, records_in
from xlingual.comparison.references import Reference
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.requests import answers
from xlingual.requests.history import HistoryRequest
from xlingual.results import Results
from xlingual.results.comparison import CANNOT_TELL, Compared
from xlingual.results.history import UNCHANGED, Change, Line, Point, Recorded, Series, Trend
from xlingual.signature import Signature

Progress: TypeAlias = Callable[[str, int, int], None]


@answers(HistoryRequest)
def history(
    folder: str | Path,
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

    `folder` holds a folder of results for each version, whose name is its label. By default all tasks and
    encoders are shown, each task by its first measure. `pairs` ("en-de") names language pairs that are shown
    and tested one by one; with `per_pair` all of them are.

    Raises:
        InputError: the folder holds no results; they have no such task, measure, encoder or language pair.

    """
    rules = Rules("holm", alpha, None)
    records = records_in(Path(folder))
    if not records:
        raise InputError(f"{folder} holds no folders of results: evaluate with --out {folder}/LABEL")
    all_chains = chains(records, task, measures, by)
    names = [name for chain in all_chains for one in chain.numbers for name in one.encoders]
    _refuse_unknown("encoder", encoders, names)
    _refuse_unknown("language pair", pairs, ["-".join(pair) for chain in all_chains for pair in chain.pairs])
    wanted = [pair for c in all_chains for pair in c.pairs if "-".join(pair) in pairs]
    tests = _Tests(seed, replicates, rules)
    drafts = [_drafts(chain, encoders, wanted, tested=bool(pairs) or per_pair) for chain in all_chains]
    for overall in (True, False):
        family = [one for part in drafts for one in part if (one.pair == ALL) == overall and one.tested]
        tests.run(family, progress)
    return Trend(
        history=str(folder),
        by=by,
        alpha=alpha,
        series=[_series(chain, part) for chain, part in zip(all_chains, drafts, strict=True)],
        notes=list(dict.fromkeys(tests.notes)),
        n_tests=sum(one.n_tests for part in drafts for one in part if one.pair == ALL),
        n_pair_tests=sum(one.n_tests for part in drafts for one in part if one.pair != ALL),
        replicates=tests.most_replicates,
        seed=seed,
    )


def _refuse_unknown(what: str, names: Sequence[str], present: Sequence[str]) -> None:
    known = dict.fromkeys(present)
    for name in names:
        if name not in known:
            raise InputError(
                f"no {what} {name!r}.{did_you_mean(name, known)} {what.capitalize()}s: {listed(known, 30)}"
            )


@dataclass
class _Draft:
    """A line whose changes are not decided yet."""

    chain: Chain
    encoder: str
    pair: Pair
    tested: bool
    numbers: tuple[Numbers, ...]  # of the records that have the encoder
    changes: list[Change | None]  # of the points, the first None
    whole: Change | None = None
    n_tests: int = 0


def _drafts(chain: Chain, encoders: Sequence[str], wanted: Sequence[Pair], *, tested: bool) -> list[_Draft]:
    """Return the lines of a chain: of each encoder, then of each encoder and language pair."""
    names = dict.fromkeys(name for one in chain.numbers for name in one.encoders)
    chosen = [name for name in names if not encoders or name in encoders]
    pairs: list[Pair] = [pair for pair in chain.pairs if not wanted or pair in wanted]
    whole = not wanted or len(chain.pairs) == 1
    parts = pairs if len(chain.pairs) > 1 else []
    lines = [(name, ALL, True) for name in chosen if whole]
    lines += [(name, pair, tested) for pair in parts for name in chosen]
    drafts = []
    for name, pair, test in lines:
        numbers = tuple(one for one in chain.numbers if one.of(name, pair) is not None)
        if numbers:
            drafts.append(_Draft(chain, name, pair, test, numbers, [None] * len(numbers)))
    return drafts


@dataclass(frozen=True)
class _Planned:
    """A test that is to be made, and where its outcome goes: the place of a point, None for the line."""

    draft: _Draft
    place: int | None
    since: Numbers
    queries: Queries


class _Tests:
    """The tests of a history: they read the values of queries as they need them."""

    def __init__(self, seed: int, replicates: int | None, rules: Rules) -> None:
        self.seed, self.replicates, self.rules = seed, replicates, rules
        self.notes: list[str] = []
        self.most_replicates = 0

    def run(self, drafts: Sequence[_Draft], progress: Progress) -> None:
        """Decide on all changes of some lines, which are one family."""
        load = lru_cache(maxsize=4)(Results.read)
        planned: list[_Planned] = []
        for number, draft in enumerate(drafts):
            progress("reading the history", number, len(drafts))
            planned += self._plan(draft, load)
        resampling = Resampling(self.replicates, self.seed, len(planned), self.rules)
        tested: list[EncoderTest] = []
        for number, one in enumerate(planned):
            progress("testing the changes", number, len(planned))
            earlier, later = one.queries.encoders
            tested.append(resampling.test(QuerySubset(one.queries, *one.draft.pair), later, earlier))
            self.most_replicates = resampling.replicates
        (decided,) = decide([tested], self.rules, np.empty(0))
        for one, outcome in zip(planned, decided, strict=True):
            change = _change(one, outcome)
            one.draft.n_tests += outcome.p is not None
            if one.place is None:
                one.draft.whole = change
            else:
                one.draft.changes[one.place] = change

    def _plan(self, draft: _Draft, load: Callable[[Path], Results]) -> list[_Planned]:
        """Return the tests of a line; where there is nothing to test, the change is decided at once."""
        planned, start = [], 0
        for place in range(1, len(draft.numbers)):
            since, now = draft.numbers[place - 1 : place + 1]
            outcome = self._between(draft, since, now, load)
            if isinstance(outcome, _Planned):
                planned.append(_Planned(draft, place, since, outcome.queries))
            else:
                draft.changes[place] = outcome
                start = place if outcome.difference is None else start
        if len(draft.numbers) - start > 2:
            since, now = draft.numbers[start], draft.numbers[-1]
            outcome = self._between(draft, since, now, load)
            if isinstance(outcome, _Planned):
                planned.append(outcome)
            else:
                draft.whole = outcome
        return planned

    def _between(
        self, draft: _Draft, since: Numbers, now: Numbers, load: Callable[[Path], Results]
    ) -> _Planned | Change:
        """Return the queries of two records side by side, or the change where there is no test."""
        chain, asked = draft.chain, () if draft.pair == ALL else ("-".join(map(str, draft.pair)),)
        both = [
            Reference(Path(f"record {one.record.id}"), draft.encoder, load(one.folder))
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


def _change(one: _Planned, outcome: Compared) -> Change:
    return Change(
        one.since.record.id,
        outcome.difference,
        outcome.ci,
        outcome.p,
        outcome.p_adjusted,
        outcome.outcome,
        one.queries.n_distinct,
        outcome.note,
    )


def _differing(since: Numbers, now: Numbers, pair: Pair) -> str | None:
    """Return in which conditions two records differ, None where in none."""
    before, after = (
        {
            (one.source, one.target, one.seed): Signature.parse(one.signature)
            for one in numbers.entries
            if pair in (ALL, (one.source, one.target))
        }
        for numbers in (since, now)
    )
    shared = next((key for key in before if key in after), None)
    if shared is None:
        return "other language pairs or seeds"
    differing = before[shared].differences(after[shared])
    return f"other conditions ({'; '.join(differing)})" if differing else None


def _series(chain: Chain, drafts: Sequence[_Draft]) -> Series:
    records: dict[int, Recorded] = {one.record.id: one.record for one in chain.numbers}
    conditions = [dict(Signature.parse(one.signature).conditions) for one in chain.numbers[-1].entries]
    common = {k: v for k, v in conditions[0].items() if all(other.get(k) == v for other in conditions)}
    lines = [_line(one) for one in drafts]
    return Series(chain.task, chain.measure, chain.data, list(records.values()), lines, common)


def _line(draft: _Draft) -> Line:
    points = []
    for one, change in zip(draft.numbers, draft.changes, strict=True):
        row = one.of(draft.encoder, draft.pair)
        value, ci = (None, None) if row is None else (row.value, row.ci)
        points.append(Point(one.record.id, value, ci, change))
    return Line(draft.encoder, *draft.pair, points, draft.whole)
