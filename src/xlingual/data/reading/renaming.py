"""Columns of texts that are named by languages in words or capitals: english, Title EN."""

from __future__ import annotations

import re

from xlingual.data.reading.tables import SourceTable
from xlingual.data.tags import tag_of
from xlingual.errors import listed
from xlingual.languages import named

_NAME = re.compile(r"(?P<stem>.*[\s_.:/(\[-])?(?P<word>[^\s_.:/()\[\]-]+)[)\]\s]*")


def renaming_hint(table: SourceTable, leave: set[str | None]) -> str:
    """Return a question about columns that look like texts in languages, and how to rename them.

    It is "" where there are no two of them. Columns in `leave` mean something else.
    """
    by_stem: dict[str, dict[str, str]] = {}
    for name in table.names:
        match = _NAME.fullmatch(name)
        if match is None or name in leave or not table.is_text(name):
            continue
        tag = tag_of(match["word"])
        if tag is not None:
            by_stem.setdefault(match["stem"] or "", {}).setdefault(tag, name)
    columns = next((found for found in by_stem.values() if len(found) > 1), None)
    if columns is None:
        return ""
    new = [f"{name} → text_{tag}" for tag, name in columns.items()]
    *some, last = map(named, columns)
    return (
        f" Are the columns {listed(columns.values(), 20)} texts in {', '.join(some)} and {last}? Then rename "
        f"them: {listed(new, 20)} (of a file, xlingual data import does it)."
    )
