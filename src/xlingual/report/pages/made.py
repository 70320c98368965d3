"""How a result was made: the rows of a report's fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from xlingual.results.provenance import Input, Provenance

_SHORT = 12  # digits of a digest that people compare


def rows(found: Any) -> list[tuple[str, Sequence[str]]]:  # noqa: ANN401  (a record of results)
    """Return how a record was made, as rows of a name and values; none where it does not say."""
    provenance, run, request = (getattr(found, name, None) for name in ("provenance", "run", "request"))
    if not isinstance(provenance, Provenance):
        return []
    run = run if isinstance(run, Mapping) else {}
    made = f"xlingual {provenance.program.version}, conventions {provenance.program.conventions}"
    listed: list[tuple[str, Sequence[str]]] = [("made by", [made, *_date(run)])]
    if isinstance(request, Mapping) and "command" in request:
        listed.append(("command", [str(request["command"])]))
    if provenance.inputs:
        listed.append(("read", [_read(one) for one in provenance.inputs]))
    if provenance.derived_from:
        origins = [f"{one.path or 'in memory'} ({one.digest[:_SHORT]})" for one in provenance.derived_from]
        listed.append(("derived from", origins))
    return listed


def _read(one: Input) -> str:
    path = one.path or ("bytes of the images" if one.role == "images" else "in memory")
    return f"{path} ({one.role}, {(one.sha256 or one.digest or '–')[:_SHORT]})"


def _date(run: Mapping[str, Any]) -> list[str]:
    try:
        return [f"{datetime.fromisoformat(str(run['date'])):%Y-%m-%d %H:%M} UTC"]
    except (KeyError, ValueError):
        return []
