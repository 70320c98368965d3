"""Pages about search systems: where not all are encoders, sentences and heads say system in place of encoder.

Names that users gave, their texts, and images' encoders stay as they are.
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from xlingual.report.axis import Axis
from xlingual.report.blocks import Cards, Heat, Page
from xlingual.report.marking import marked, parts
from xlingual.report.shapes import Drawing
from xlingual.report.table import Column, Table

T = TypeVar("T")

_WORD = re.compile(r"\b(?:([Aa])n )?(?<!image )(?<!text )(?<![-/#'])\b([Ee])ncoder(s?)\b(?![-/#])")
_AS_THEY_ARE = (Cards, Heat, Drawing, Axis)
_NAMES = ("names", "systems", "records", "timings", "style", "kind", "data", "where")


def of_systems(page: Page, title: str | None = None) -> Page:
    """Return a page with the word system for encoder; a title that a user gave stays."""
    found = _said(page)
    return found if title is None else replace(found, title=page.title)


def _said(part: T) -> T:
    """Return a part of a page in these words."""
    found: Any = part
    if isinstance(part, str):
        found = "".join(marked(text) if name else _WORD.sub(_system, text) for text, name in parts(part))
    elif isinstance(part, tuple | list):
        found = type(part)(_said(one) for one in part)
    elif isinstance(part, Table):
        found = replace(_fields(part), rows=tuple(_row(part, row) for row in part.rows))
    elif isinstance(part, Column):
        found = replace(_fields(part), csv=part.key)  # programs that read it know one name
    elif is_dataclass(part) and not isinstance(part, _AS_THEY_ARE):
        found = _fields(part)
    return found  # type: ignore[no-any-return]


def _fields(part: Any) -> Any:  # noqa: ANN401  (a block, or a part of one)
    titled = ("title", "text") if getattr(part, "data", False) else ()
    left = (*_NAMES, *titled, *(("rows", "looks") if isinstance(part, Table) else ()))
    return replace(part, **{f.name: _said(getattr(part, f.name)) for f in fields(part) if f.name not in left})


def _row(table: Table, row: Any) -> Any:  # noqa: ANN401
    """Return a row, cells of names as they are."""
    cells = zip(table.columns, row.cells, strict=False)
    made = tuple(cell if column.data else _said(cell) for column, cell in cells)
    return replace(row, cells=made, note=_said(row.note), heading=_said(row.heading))


def _system(found: re.Match[str]) -> str:
    article, first, plural = found.groups()
    return f"{f'{article} ' if article else ''}{'S' if first == 'E' else 's'}ystem{plural}"
