"""Tables of records: each column names what it shows of a record; heads, CSV and small screens follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal

from xlingual.report.table import Cell, Column, Row, Table, narrower


@dataclass(frozen=True)
class Col:
    """A column: its head, and an attribute of the record, or a function that gives its cell or value."""

    head: str
    of: str | Callable[[Any], Any]
    ci: str = ""  # the attribute of the interval: then it is a difference
    kind: Literal["number", "name", "words"] = "number"
    main: bool = False
    spare: bool = False  # it is dropped where there is little room
    short: str = ""  # its head in a terminal and in texts
    meaning: str = ""

    def cell(self, record: Any) -> Cell:  # noqa: ANN401
        """Make the cell of a record."""
        value = attrgetter(self.of)(record) if isinstance(self.of, str) else self.of(record)
        if isinstance(value, Cell):
            return value
        if self.ci:
            return Cell.difference(value, attrgetter(self.ci)(record), signed=True)
        if isinstance(value, str):
            return Cell(value)
        return Cell.count(value) if isinstance(value, int) else Cell.of(value)

    @property
    def key(self) -> str:
        """Its head in a terminal and in texts."""
        return self.short or self.head.lower()


def of_records(
    title: str,
    records: Sequence[Any],
    *columns: Col | None,
    csv: str = "",
    **more: Any,  # noqa: ANN401  (fields of a table)
) -> Table:
    """Make a table with a row for each record; `csv` lists the attributes that CSV has."""
    shown = [column for column in columns if column is not None]
    spare = tuple(column.key for column in shown if column.spare)
    lines = [{path.rpartition(".")[2]: _value(record, path) for path in csv.split()} for record in records]
    fields: dict[str, Any] = {
        "looks": narrower(*spare),
        "in_verdict": spare,
        "records": lines if csv else None,
    }
    heads = tuple(
        Column(
            column.head, column.kind, column.key, "interval" if column.ci else "", column.main,
            meaning=column.meaning,
        )
        for column in shown
    )  # fmt: skip
    return Table(
        title, heads, tuple(Row(tuple(column.cell(record) for column in shown)) for record in records),
        **{**fields, "where": "both", **more},
    )  # fmt: skip


def _value(record: Any, path: str) -> Any:  # noqa: ANN401
    """Give an attribute of a record, or of one in it ("ci.low"); None where there is none."""
    first, _, rest = path.partition(".")
    value = getattr(record, first)
    return _value(value, rest) if rest and value is not None else value
