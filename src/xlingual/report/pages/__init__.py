"""The pages: each module makes one, as blocks in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from xlingual.errors import InputError
from xlingual.report.blocks import Page
from xlingual.results.provenance import Input, Provenance

# record → the module of its page, whose function `page` makes it
PAGES: Mapping[str, str] = {
    "Results": "evaluation",
    "Comparison": "comparison",
    "Leaderboard": "leaderboard",
    "Gate": "gate",
    "Plan": "plan",
    "Trend": "history",
    "Validation": "xlingual.papers.validation",
    "ValidationTable": "xlingual.papers.table1",
    "Repair": "repair",
    "BeforeAndAfter": "repair",
    "Pivot": "pivot",
    "Inspection": "inspection",
    "StudyFindings": "xlingual.papers.findings",
    "StudyAnalysis": "study",
    "Suite": "suite",
    "BackretrievalCheck": "backretrieval_check",
    "Verification": "verification",
    "Overview": "overview",
    "PoolOverview": "overview",
}
_SHORT = 12  # digits of a digest that people compare


def page_of(found: Any, *, title: str | None = None) -> Page:  # noqa: ANN401
    """Return the page of what was found: a record of `xlingual.results`, or several Results.

    Raises InputError where the record has no page.
    """
    if isinstance(found, str | Path):
        raise InputError(
            f"a page shows what was found, not the path {str(found)!r}: read it first, as in "
            f"Results.read({str(found)!r})"
        )
    several = isinstance(found, Sequence)
    name = "Results" if several else type(found).__name__
    if (
        other := next((type(one).__name__ for one in found if type(one).__name__ != name), "")
        if several
        else ""
    ):
        raise InputError(
            f"a page of several shows Results only, and one of these is a {other}: read the folders with "
            "Results.read, and give anything else on its own"
        )
    if name not in PAGES:
        raise InputError(f"a {name} has no page; these have one: {', '.join(PAGES)}")
    module = import_module(PAGES[name] if "." in PAGES[name] else f"xlingual.report.pages.{PAGES[name]}")
    page: Page = module.page(found, title=title)
    if not several or len(found) == 1:
        page = replace(page, made=_made(found[0] if several else found))
    return page


def _made(found: Any) -> list[tuple[str, Sequence[str]]]:  # noqa: ANN401  (a record of results)
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
