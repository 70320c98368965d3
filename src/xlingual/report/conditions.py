"""What the numbers depend on, read from the signatures of the entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlingual.results import Entry, Results


@dataclass(frozen=True)
class Condition:
    """A key of the signatures and the values it takes, in order of appearance."""

    key: str
    values: list[str]


def fields(signature: str) -> dict[str, str]:
    """Return the fields of a signature.

    >>> fields("task:backretrieval|data:ab:cd")
    {'task': 'backretrieval', 'data': 'ab:cd'}
    """
    parts = (part.partition(":") for part in signature.split("|") if part)
    return {key: value for key, _, value in parts}


def collected(entries: Iterable[Entry]) -> list[Condition]:
    """Return every key of the signatures with all its values."""
    found: dict[str, dict[str, None]] = {}
    for signature in dict.fromkeys(entry.signature for entry in entries):
        for key, value in fields(signature).items():
            found.setdefault(key, {})[value] = None
    return [Condition(key, list(values)) for key, values in found.items()]


def unequal(runs: Sequence[Results], task: str) -> list[str]:
    """Return the keys whose values differ between runs, apart from those that name the text encoder."""
    by_run = []
    for run in runs:
        entries = [entry for entry in run.entries if entry.task == task]
        by_run.append({found.key: set(found.values) for found in collected(entries)})
    keys = dict.fromkeys(key for found in by_run for key in found)
    return [
        key
        for key in keys
        if not _names_system(key) and any(f.get(key) != by_run[0].get(key) for f in by_run)
    ]


def _names_system(key: str) -> bool:
    name = key.lower()
    return name in ("system", "text") or ("encoder" in name and "image" not in name)
