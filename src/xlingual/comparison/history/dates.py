"""When results were evaluated, as texts whose order is that of time."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from xlingual.results import Results


def dated(results: Results) -> str | None:
    """Return when results say that they were evaluated, in UTC; None where they do not, or not as a date."""
    try:
        return in_utc(datetime.fromisoformat(str(results.run.get("date", ""))))
    except ValueError:
        return None


def file_date(folder: Path) -> str:
    """Return when the file of a folder of results was written, in UTC."""
    path = folder if folder.is_file() else folder / "results.json"
    return in_utc(datetime.fromtimestamp(path.stat().st_mtime, UTC))


def in_utc(moment: datetime) -> str:
    """Return a moment as text whose order is that of time: 2026-11-28T06:00:18+00:00."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")
