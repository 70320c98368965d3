"""The page of an overview of texts or a pool: how many there are in each language."""

from __future__ import annotations

from xlingual.notebook import Overview, PoolOverview
from xlingual.report import numbers
from xlingual.report.blocks import Finding, Page, Section
from xlingual.report.table import Cell, Table


def page(found: Overview | PoolOverview, *, title: str | None = None) -> Page:
    """Return the page of an overview."""
    if isinstance(found, PoolOverview):
        return _pool(found, title)
    total = sum(found.texts.values())
    languages = numbers.counted(len(found.texts), "language")
    sentence = (
        f"{numbers.counted(found.n_items, 'item')} with {numbers.counted(total, 'text')} in {languages} and "
        f"{numbers.counted(found.n_images, 'image')}."
    )
    rows = [[tag, Cell(numbers.count(amount), value=amount)] for tag, amount in found.texts.items()]
    table = Table.of_texts(found.name, ["language", "texts"], rows, where="both")
    return Page("overview", title or found.name, [Finding([sentence])], [Section("Texts", [table])])


def _pool(found: PoolOverview, title: str | None) -> Page:
    questions, candidates = sum(found.questions.values()), sum(found.candidates.values())
    sentence = (
        f"{numbers.counted(questions, 'question')} and {numbers.counted(candidates, 'candidate')} in "
        f"{numbers.counted(len(found.questions), 'language')}; {numbers.counted(found.n_relevant, 'pair')} "
        "of a question and a right answer."
    )
    rows = [
        [tag, *(Cell(numbers.count(amount), value=amount) for amount in (found.questions[tag], many))]
        for tag, many in found.candidates.items()
    ]
    columns = ["language", "questions", "candidates"]
    table = Table.of_texts(found.name, columns, rows, where="both")
    return Page("overview", title or found.name, [Finding([sentence])], [Section("Pool", [table])])
