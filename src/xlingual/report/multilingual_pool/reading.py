"""What the results say about each encoder over a multilingual pool: its row, its entry and its views."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from xlingual.report import conditions
from xlingual.report.leaders import Row
from xlingual.results import Entry, Interval, Results
from xlingual.results.document import plain
from xlingual.results.views import PoolViews

TASK = "multilingual-pool"
VIEWED = "AP"  # the measure whose entries carry the views of language bias
AGNOSTIC = "agnostic"
PREFER_OWN = "prefer-own"

Pair = tuple[str, str]  # question language, answer language


@dataclass(frozen=True)
class Seen:
    """One encoder in one run: its row of the leaderboard and, where there is one, its entry with views."""

    row: Row
    entry: Entry | None

    @cached_property
    def views(self) -> Mapping[str, Any]:
        """What was looked at, as JSON has it; empty where nothing was."""
        return plain(self.entry.views) or {} if self.entry else {}

    @property
    def languages(self) -> list[str]:
        """The languages of the pool, in its order."""
        return list(self.views.get("languages", ()))

    def number(self, *keys: str) -> float | None:
        """Return a number of the views by its keys, None where it is absent."""
        found = _within(self.views, keys)
        return float(found) if isinstance(found, (int, float)) else None

    def interval(self, *keys: str) -> Interval | None:
        """Return the interval of a number of the views, None where there is none."""
        found = _within(self.views.get("ci") or {}, keys)
        if isinstance(found, Interval):
            return found
        if not isinstance(found, Mapping) or not {"low", "high"} <= set(found):
            return None
        return Interval(found["low"], found["high"], found.get("level", 0.95), found.get("method", ""))

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return a view that holds several values by name; empty where it is absent."""
        found = self.views.get(name)
        return found if isinstance(found, Mapping) else {}

    def pairs(self, name: str) -> dict[Pair, Any]:
        """Return a view by (question language, answer language); empty where it is absent."""
        found = {key.partition("->"): value for key, value in self.mapping(name).items()}
        return {(key[0], key[2]): value for key, value in found.items()}


def seen(runs: Sequence[Results], rows: Iterable[Row], policy: str = AGNOSTIC) -> list[Seen]:
    """Return each row with its entry under a policy, in the order of the rows."""
    return [Seen(row, _entry(runs[row.run - 1], row, policy)) for row in rows]


def languages_of(found: Iterable[Seen]) -> list[str]:
    """Return all languages of the pools, in order of appearance."""
    return list(dict.fromkeys(language for one in found for language in one.languages))


def sides_of(languages: Iterable[str], pairs: Collection[Pair]) -> tuple[list[str], list[str]]:
    """Return the languages that ask and those that answer in any of the pairs, in the order of the pool.

    >>> sides_of(["de", "en", "th"], [("th", "de"), ("th", "en"), ("en", "en")])
    (['en', 'th'], ['de', 'en'])
    """
    asked, answered = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    return [tag for tag in languages if tag in asked], [tag for tag in languages if tag in answered]


def _entry(run: Results, row: Row, policy: str) -> Entry | None:
    return next(
        (
            entry
            for entry in run.entries
            if (entry.task, entry.measure, entry.encoder) == (TASK, row.measure, row.encoder)
            and policy_of(entry) == policy
        ),
        None,
    )


def languages_in(entry: Entry) -> list[str]:
    """Return the languages of the pool that an entry is about; none where it tells none."""
    return entry.views.languages if isinstance(entry.views, PoolViews) else []


def policy_of(entry: Entry) -> str:
    """Return the language policy an entry was measured under."""
    return conditions.parsed(entry.signature).conditions.get("policy", AGNOSTIC)


def policies_of(runs: Iterable[Results]) -> list[str]:
    """Return the language policies of the results' entries, in order of appearance."""
    return list(
        dict.fromkeys(policy_of(entry) for run in runs for entry in run.entries if entry.task == TASK)
    )


def _within(content: Any, keys: Sequence[str]) -> Any:  # noqa: ANN401  (JSON)
    for key in keys:
        if not isinstance(content, Mapping):
            return None
        content = content.get(key)
    return content
