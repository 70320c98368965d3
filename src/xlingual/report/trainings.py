"""Tables that the pages of studies share: differences with their tests, and the trainings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xlingual.report import numbers
from xlingual.report.table import Cell, Column, Table


def differences(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[Any]], *, more: Sequence[str] = (),
    **fields: Any,  # noqa: ANN401  (those of a table)
) -> Table:  # fmt: skip
    """Return a table of differences: names, the difference, its corrected p, the outcome, and `more`.

    `heads` are those of the names and the difference.
    """
    n = len(heads)
    cells = [[*row[:n], Cell.by(numbers.p_value, row[n]), *row[n + 1 :]] for row in rows]
    columns = [*heads, "adjusted p", Column("outcome", "words"), *more]
    return Table.of_texts(title, columns, cells, names=n - 1, data=True, **fields)


def trainings(heads: Sequence[str], rows: Iterable[Sequence[Any]], **fields: Any) -> Table:  # noqa: ANN401
    """Return a table of trainings: model and seed, what `heads` name, and the seconds."""
    cells = [[*row[:-1], Cell.by(numbers.duration, row[-1])] for row in rows]
    return Table.of_texts(
        "Trainings", ["model", "seed", *heads, "time"], cells, data=True, titled=False, **fields
    )
