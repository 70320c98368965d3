"""The figures of docs/results/pivot.md: one record a run, kept as soon as it ends."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

OUT = Path(os.environ.get("PIVOT_RECORDS", "docs/results/pivot.json"))
Json = dict[str, Any]


def records(part: str) -> list[Json]:
    """Return the records of a part, in the order in which they were made."""
    return [one for one in _all() if one["key"].startswith(f"{part}|")]


def kept(key: str, make: Callable[[], Mapping[str, Any]]) -> Json:
    """Return the record with this key; it is made where it is not there yet, and written at once."""
    everything = _all()
    for one in everything:
        if one["key"] == key:
            return one
    found = {"key": key, **make()}
    everything = [*_all(), found]
    lines = ",\n".join(json.dumps(one) for one in everything)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(f'{{"records": [\n{lines}\n]}}\n', encoding="utf-8")
    print(key, found.get("seconds", ""), flush=True)
    return found


def _all() -> list[Json]:
    if not OUT.exists():
        return []
    content: Mapping[str, list[Json]] = json.loads(OUT.read_text(encoding="utf-8"))
    return content["records"]
