"""A history as an object: recording results, and what changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xlingual.comparison.gate import LAST_PASSING, gate
from xlingual.comparison.history.database import reading
from xlingual.comparison.history.exporting import write_export
from xlingual.comparison.history.recording import record
from xlingual.comparison.history.stored import recorded, stored_results
from xlingual.comparison.history.trend import trend
from xlingual.comparison.references import Given
from xlingual.errors import InputError
from xlingual.results import Results
from xlingual.results.gate import Gate
from xlingual.results.history import Recorded, Trend


class History:
    """Results over time in the file `path`, which the first record makes.

    >>> history = History("history.sqlite")
    >>> history.record(results, label="v1.4")  # doctest: +SKIP
    >>> history.trend()  # doctest: +SKIP
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"History({str(self.path)!r})"

    def record(
        self,
        results: Given,
        *,
        label: str | None = None,
        revision: str | None = None,
        gate: Gate | None = None,
    ) -> Recorded:
        """Record results, or a folder of results, and return the record; see `recording.record`."""
        return record(results, self.path, label, revision=revision, gate=gate)

    @property
    def records(self) -> list[Recorded]:
        """What was recorded, the oldest first; empty where the file does not exist yet."""
        if not self.path.exists():
            return []
        with reading(self.path) as db:
            return recorded(db)

    def results(self, record: int | Recorded) -> Results:
        """Return the results of a record: numbers and values of their queries, without texts."""
        number = record.id if isinstance(record, Recorded) else record
        with reading(self.path) as db:
            if not recorded(db, number):
                raise InputError(f"{self.path} has no record {number}: history.records lists them")
            return stored_results(db, number, str(self.path))

    def trend(self, **options: Any) -> Trend:  # noqa: ANN401  (the keywords of `trend`)
        """Return how results changed; the options are those of `trend.trend`."""
        return trend(self.path, **options)

    def gate(self, candidate: Given, *, margin: float, **options: Any) -> Gate:  # noqa: ANN401  (those of `gate`)
        """Decide on a candidate against the last run that passed; `record(…, gate=…)` keeps the decision."""
        return gate(candidate, margin=margin, against=LAST_PASSING, history=self.path, **options)

    def export(self, path: str | Path, **options: Any) -> None:  # noqa: ANN401  (the keywords of `trend`)
        """Write a row for every value to a file that ends in .csv or .parquet."""
        write_export(self.trend(**options), Path(path))
