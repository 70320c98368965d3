"""What the numbers depend on, read from the signatures of the entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlingual.results import Entry, Results
from xlingual.signature import Signature


@dataclass(frozen=True)
class Condition:
    """A key of the signatures and the values it takes, in order of appearance."""

    key: str
    values: list[str]


def collected(entries: Iterable[Entry]) -> list[Condition]:
    """Return every condition of the signatures with all its values."""
    found: dict[str, dict[str, None]] = {}
    for signature in dict.fromkeys(entry.signature for entry in entries):
        for key, value in parsed(signature).conditions.items():
            found.setdefault(key, {})[value] = None
    return [Condition(key, list(values)) for key, values in found.items()]


def systems(entries: Iterable[Entry]) -> list[Condition]:
    """Return each encoder's name with what identifies it; the key is the name."""
    found: dict[str, dict[str, None]] = {}
    for encoder, signature in dict.fromkeys((entry.encoder, entry.signature) for entry in entries):
        for value in parsed(signature).system.values():
            found.setdefault(encoder, {})[value] = None
    return [Condition(encoder, list(values)) for encoder, values in found.items()]


def unequal(runs: Sequence[Results], task: str) -> list[str]:
    """Return the conditions whose values differ between runs."""
    by_run = []
    for run in runs:
        entries = [entry for entry in run.entries if entry.task == task]
        by_run.append({found.key: set(found.values) for found in collected(entries)})
    keys = dict.fromkeys(key for found in by_run for key in found)
    return [key for key in keys if any(found.get(key) != by_run[0].get(key) for found in by_run)]


def parsed(signature: str) -> Signature:
    """Return the parts of a signature; one that cannot be read stands as a whole under one key."""
    try:
        return Signature.parse(signature)
    except ValueError:
        return Signature({"signature": signature}, {})
