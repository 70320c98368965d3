"""What a result is known by in a history: its digest and its date."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

from xlingual.results import Results

_BESIDE = ("request", "run", "files", "timings", "costs", "diagnostics", "warnings")


def result_digest(results: Results) -> str:
    """Return a digest of all numbers, 64 hexadecimal digits: equal for equal numbers, whenever they were made."""
    kept = {name: part for name, part in results.to_dict().items() if name not in _BESIDE}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def date_of(results: Results) -> str:
    """Return when results were evaluated, in UTC; now where they do not say."""
    return dated(results) or in_utc(datetime.now(UTC))


def dated(results: Results) -> str | None:
    """Return when results say that they were evaluated, in UTC; None where they do not, or not as a date."""
    try:
        return in_utc(datetime.fromisoformat(str(results.run.get("date", ""))))
    except ValueError:
        return None


def in_utc(moment: datetime) -> str:
    """Return a moment as text whose order is that of time: 2026-11-28T06:00:18+00:00."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")
