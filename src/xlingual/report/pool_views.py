"""The numbers of each encoder over a multilingual pool, and how they are written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from xlingual.report import conditions, numbers
from xlingual.report.leaders import BoardRow, contains
from xlingual.report.table import Cell
from xlingual.results import Entry, Interval, Results, by_key

TASK = "multilingual-pool"
ONE_TARGET, FOUND = "one_target_summary", "found_summary"
AGNOSTIC = "agnostic"
PREFER_OWN = "prefer-own"

Pair: TypeAlias = tuple[str, str]  # question language, answer language
Side: TypeAlias = Literal["above", "holds", "below", "unknown"]


@dataclass(frozen=True)
class EncoderViews:
    """One encoder in one run: its row of the leaderboard and, where there is one, its entry with views."""

    row: BoardRow
    entry: Entry | None

    @property
    def languages(self) -> list[str]:
        """The languages of the pool, in its order."""
        return list(self._at("languages") or ())

    def number(self, *keys: str) -> float | None:
        """Return a number of the views by its keys, None where it is absent."""
        found = self._at(*keys)
        return float(found) if isinstance(found, (int, float)) else None

    def interval(self, *keys: str) -> Interval | None:
        """Return the interval of a number of the views, None where there is none."""
        found = self._at("ci", *keys)
        return found if isinstance(found, Interval) else None

    def cell(self, *keys: str) -> Cell:
        """Return a number of the views with its interval."""
        return Cell.of(self.number(*keys), self.interval(*keys))

    def difference(self, *keys: str) -> Cell:
        """Return a difference of the views with its interval."""
        return Cell.difference(self.number(*keys), self.interval(*keys))

    def share(self, *keys: str) -> Cell:
        """Return a share of the views in percent, with its interval."""
        return share(self.number(*keys), self.interval(*keys))

    @property
    def summary(self) -> str:
        """The view that has the means over own and other languages: of AP, or of what is found at a cut."""
        return ONE_TARGET if self.has(ONE_TARGET) else FOUND

    @property
    def cut(self) -> str:
        """How many first candidates a measure with a cut looks at."""
        k = self.number("found_at")
        return "" if k is None else numbers.count(int(k))

    def has(self, name: str) -> bool:
        """Tell whether a view is there and not empty."""
        return self._at(name) not in (None, {}, [])

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return a view that holds several values by name; empty where it is absent."""
        found = self._at(name)
        return found if isinstance(found, Mapping) else {}

    def pairs(self, name: str) -> dict[Pair, Any]:
        """Return a view by (question language, answer language); empty where it is absent."""
        found = {key.partition("->"): value for key, value in self.mapping(name).items()}
        return {(key[0], key[2]): value for key, value in found.items()}

    def _at(self, *keys: str) -> Any:  # noqa: ANN401  (whatever a view holds)
        found: Any = None if self.entry is None else self.entry.views
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else getattr(found, key, None)
        return found


def views_of(runs: Sequence[Results], rows: Iterable[BoardRow], policy: str = AGNOSTIC) -> list[EncoderViews]:
    """Return each row with its entry under a language policy, in the order of the rows."""

    def entry_of(row: BoardRow) -> Entry | None:
        return next((entry for entry in entries_of(runs, row) if policy_of(entry) == policy), None)

    return [EncoderViews(row, entry_of(row)) for row in rows]


def entries_of(runs: Sequence[Results], row: BoardRow) -> list[Entry]:
    """Return the entries of a row: one for each policy that was measured."""
    return by_key(runs[row.run - 1].entries, task=row.task, measure=row.measure, encoder=row.encoder)


def policy_of(entry: Entry) -> str:
    """Return the language policy an entry was measured under."""
    return conditions.parsed(entry.signature).conditions.get("policy", AGNOSTIC)


def policies_of(runs: Iterable[Results]) -> set[str]:
    """Return the language policies of the results' entries."""
    return {policy_of(entry) for run in runs for entry in by_key(run.entries, task=TASK)}


def languages_of(found: Iterable[EncoderViews]) -> list[str]:
    """Return all languages of the pools, in order of appearance."""
    return list(dict.fromkeys(language for one in found for language in one.languages))


def question_and_answer_languages(
    languages: Iterable[str], pairs: Collection[Pair]
) -> tuple[list[str], list[str]]:
    """Return the languages of questions and those of answers in any of the pairs, in the order of the pool.

    >>> question_and_answer_languages(["de", "en", "th"], [("th", "de"), ("th", "en"), ("en", "en")])
    (['en', 'th'], ['de', 'en'])
    """
    questions, answers = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    return [tag for tag in languages if tag in questions], [tag for tag in languages if tag in answers]


def tables_of(
    runs: Sequence[Results], found: Iterable[EncoderViews], name: str
) -> list[tuple[EncoderViews, list[dict[str, Any]]]]:
    """Return the rows of a table of the results for each encoder that has some."""
    of: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for place, run in enumerate(runs, start=1):
        for row in run.tables[name].to_pylist() if name in run.tables else []:
            of.setdefault((place, row["encoder"]), []).append(row)
    keyed = [(one, (one.row.run, one.row.encoder)) for one in found]
    return [(one, of[key]) for one, key in keyed if key in of]


def side_of_zero(ci: Interval | None) -> Side:
    """Return on which side of zero the whole interval lies; "holds" where it contains zero."""
    if ci is None:
        return "unknown"
    if contains(ci, 0.0):
        return "holds"
    return "above" if ci.low > 0 else "below"


def share(value: float | None, ci: Interval | None = None, digits: int = 1) -> Cell:
    """Return a share in percent; the ends of its interval are seen to be on either side of zero.

    >>> share(0.1234).plain, share(None).plain, share(0.02, Interval(0.0004, 0.04, 0.95, "bootstrap")).plain
    ('12.3 %', '–', '2.00 % [0.04, 4.00]')
    """
    digits = numbers.digits_beside([100 * end for end in numbers.ends(ci)], (0.0,), digits)

    def write(value: float, *_: Interval) -> str:
        text, *ends = (numbers.number(100 * one, digits=digits) for one in (value, *numbers.ends(ci)))
        return f"{text} % [{', '.join(ends)}]" if ends else f"{text} %"

    return Cell.by(write, value, ci)


def times(ratio: float) -> str:
    """Return how many times its share of the pool a language takes.

    >>> times(1.42), times(0.055), times(12.3)
    ('1.4', '0.06', '12')
    """
    return numbers.number(ratio, digits=2 if ratio < 0.1 else 1 if ratio < 10 else 0)


def amount(value: float | None) -> str:
    """Return a mean number of candidates: two decimals where it is small, none where it is large.

    >>> amount(0.254), amount(12.34), amount(1234.5)
    ('0.25', '12.3', '1,234')
    """
    if value is None:
        return numbers.MISSING
    if value >= 100:
        return f"{value:,.0f}"
    return numbers.number(value, digits=1 if value >= 10 else 2)
