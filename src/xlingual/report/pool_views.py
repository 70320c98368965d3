"""The numbers of each encoder over a pool, and how they are written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xlingual.report import numbers
from xlingual.report.leaders import BoardRow
from xlingual.report.table import Cell
from xlingual.results import Entry, Interval, Results, by_key

TASK = "multilingual-pool"
ONE_TARGET, FOUND = "one_target_summary", "found_summary"

Pair: TypeAlias = tuple[str, str]  # question language, answer language


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
        value = self._at(*keys)
        return float(value) if isinstance(value, (int, float)) else None

    def interval(self, *keys: str) -> Interval | None:
        """Return the interval of a number of the views, None where there is none."""
        ci = self._at("ci", *keys)
        return ci if isinstance(ci, Interval) else None

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
        view = self._at(name)
        return view if isinstance(view, Mapping) else {}

    def pairs(self, name: str) -> dict[Pair, Any]:
        """Return a view by (question language, answer language); empty where it is absent."""
        split = {key.partition("->"): value for key, value in self.mapping(name).items()}
        return {(key[0], key[2]): value for key, value in split.items()}

    def _at(self, *keys: str) -> Any:  # noqa: ANN401  (whatever a view holds)
        view: Any = None if self.entry is None else self.entry.views
        for key in keys:
            view = view.get(key) if isinstance(view, Mapping) else getattr(view, key, None)
        return view


def views_of(runs: Sequence[Results], rows: Iterable[BoardRow]) -> list[EncoderViews]:
    """Return each row with its entry, in the order of the rows."""
    views = []
    for row in rows:
        entries = runs[row.run - 1].entries
        same = by_key(entries, task=row.task, measure=row.measure, encoder=row.encoder)
        views.append(EncoderViews(row, next(iter(same), None)))
    return views


def languages_of(encoders: Iterable[EncoderViews]) -> list[str]:
    """Return all languages of the pools, in order of appearance."""
    return list(dict.fromkeys(language for encoder in encoders for language in encoder.languages))


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
    runs: Sequence[Results], encoders: Iterable[EncoderViews], name: str
) -> list[tuple[EncoderViews, list[dict[str, Any]]]]:
    """Return the rows of a table of the results for each encoder that has some."""
    rows: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for place, run in enumerate(runs, start=1):
        for row in run.tables[name].to_pylist() if name in run.tables else []:
            rows.setdefault((place, row["encoder"]), []).append(row)
    keyed = [(encoder, (encoder.row.run, encoder.row.encoder)) for encoder in encoders]
    return [(encoder, rows[key]) for encoder, key in keyed if key in rows]


def share(value: float | None, ci: Interval | None = None, digits: int = 1) -> Cell:
    """Return a share in percent; the ends of its interval are seen to be on either side of zero.

    >>> share(0.1234).plain, share(None).plain, share(0.02, Interval(0.0004, 0.04, 0.95, "bootstrap")).plain
    ('12.3 %', '–', '2.00 % [0.04, 4.00]')
    """
    digits = numbers.digits_beside([100 * end for end in numbers.ends(ci)], (0.0,), digits)

    def write(value: float, *_: Interval) -> str:
        text, *ends = (numbers.number(100 * each, digits=digits) for each in (value, *numbers.ends(ci)))
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
