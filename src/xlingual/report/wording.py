"""The words of a page for what was evaluated: encoders, or systems where some are search systems."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from xlingual.report.axis import Axis
from xlingual.report.blocks import Cards, Heat, Page
from xlingual.report.marking import named_as
from xlingual.report.shapes import Shape
from xlingual.report.table import Column

T = TypeVar("T")

_WITHOUT = (Cards, Heat, Axis, Shape)  # they hold no sentences


def worded(page: Page, *, systems: bool) -> Page:
    """Return a page whose words for what was evaluated are said (`marking.ENCODER`)."""
    found = _said(page, systems)
    return replace(found, evaluated="Systems") if systems else found


def _said(part: T, systems: bool) -> T:
    """Return a part of a page with these words said; itself where it has none."""
    found: Any = part
    if isinstance(part, str):
        found = named_as(part, systems)
    elif isinstance(part, tuple | list):
        made = [_said(one, systems) for one in part]
        if any(one is not other for one, other in zip(made, part, strict=True)):
            found = tuple(made) if isinstance(part, tuple) else made
    elif is_dataclass(part) and not isinstance(part, _WITHOUT):
        own = {field.name: getattr(part, field.name) for field in fields(part)}
        changed = {name: said for name, value in own.items() if (said := _said(value, systems)) is not value}
        if changed and isinstance(part, Column):  # programs that read it know one name
            changed["csv"] = part.csv or named_as(part.key, False)
        found = replace(part, **changed) if changed else part  # type: ignore[type-var]
    return found  # type: ignore[no-any-return]
