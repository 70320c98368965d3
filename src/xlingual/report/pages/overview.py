"""The page of an overview of texts: how many there are in each language."""

from __future__ import annotations

from xlingual.notebook import Overview
from xlingual.report import numbers
from xlingual.report.blocks import Finding, Page, Section
from xlingual.report.table import Cell, Table


def page(found: Overview, *, title: str | None = None) -> Page:
    """Return the page of an overview."""
    total = sum(found.texts.values())
    languages = numbers.counted(len(found.texts), "language")
    sentence = (
        f"{numbers.counted(found.n_items, 'item')} with {numbers.counted(total, 'text')} in {languages} and "
        f"{numbers.counted(found.n_images, 'image')}."
    )
    rows = [[tag, Cell(numbers.count(amount), value=amount)] for tag, amount in found.texts.items()]
    table = Table.of_texts(found.name, ["language", "texts"], rows, where="both")
    return Page("overview", title or found.name, [Finding([sentence])], [Section("Texts", [table])])
