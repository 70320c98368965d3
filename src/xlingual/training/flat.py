"""Nested settings under flat names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings under names joined by dots.

    >>> flat({"a": 1, "b": {"c": 2}})
    {'a': 1, 'b.c': 2}
    """
    named: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            named |= flat(value, f"{prefix}{name}.")
        else:
            named[prefix + name] = value
    return named
