"""A column of translations, `{"en": …, "de": …}` in every cell, as one column for each language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xlingual.columns import Strings
from xlingual.data.languages import tag_problem
from xlingual.data.reading.columns import ReadOptions
from xlingual.data.reading.tables import SourceTable, check_names
from xlingual.data.reading.values import described
from xlingual.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

_USUAL = "translation"  # as Hugging Face datasets calls it
_PARTS = {"language", "translation"}  # of the type TranslationVariableLanguages: two lists


def spread(table: SourceTable, options: ReadOptions) -> tuple[SourceTable, ReadOptions]:
    """Return the wide form of a table with a column of translations, and the pattern of its text columns.

    It is the column `translation` of a table without other texts, or the text column that is given. Any
    other table stays as it is. A cell may have several texts of a language.
    """
    name = _column(table, options)
    cells = [] if name is None else table.load(name)
    first = next((cell for cell in cells if cell is not None), None)
    if name is None or not isinstance(first, Mapping):
        return table, options
    rows = [_texts(table, name, row, cell) for row, cell in enumerate(cells)]
    most: dict[str, int] = {}
    for texts in rows:
        for tag, several in texts.items():
            most[tag] = max(most.get(tag, 1), len(several))
    for tag in most:
        if problem := tag_problem(tag):
            raise InputError(f"{table.where(column=name)}: its part {problem}")
    columns = {
        f"{name}_{tag}" if count == 1 else f"{name}_{tag}_{number + 1}": [
            texts[tag][number] if len(texts.get(tag, ())) > number else None for texts in rows
        ]
        for tag, count in most.items()
        for number in range(count)
    }
    spread_table = _with_columns(table, name, columns)
    return spread_table, {**options, "text_column": f"{name}_{{lang}}"}


def _column(table: SourceTable, options: ReadOptions) -> str | None:
    """Return the column that may hold translations."""
    given = options.get("text_column")
    plain = options.get("lang_column") is None and "text" not in table.names
    name = given if given is not None else _USUAL if plain else None
    if name not in table.names or table.is_text(name) or table.is_code(name):
        return None
    return None if given is None and any(other.startswith("text_") for other in table.names) else name


def _texts(table: SourceTable, name: str, row: int, cell: Any) -> dict[str, list[str]]:  # noqa: ANN401
    """Return the texts of a cell by language."""
    if cell is None:
        return {}
    if not isinstance(cell, Mapping):
        raise InputError(
            f"{table.where(row, name)}: found {described(cell)} where translations are expected, such as "
            "{'en': 'a red shoe', 'de': 'ein roter Schuh'}"
        )
    if set(cell) == _PARTS and all(
        isinstance(part, Sequence) and not isinstance(part, str) for part in cell.values()
    ):
        pairs = list(zip(cell["language"], cell["translation"], strict=True))
    else:
        pairs = [
            (tag, text)
            for tag, texts in cell.items()
            for text in (texts if isinstance(texts, (list, tuple)) else [texts])
        ]
    found: dict[str, list[str]] = {}
    for tag, text in pairs:
        if text is not None and not isinstance(text, str):
            raise InputError(
                f"{table.where(row, name)}: found {described(text)} as the text in {tag!r}: write it as a "
                "string"
            )
        if text is not None:
            found.setdefault(str(tag), []).append(text)
    return found


def _with_columns(table: SourceTable, name: str, columns: Mapping[str, list[str | None]]) -> SourceTable:
    """Return a table with other columns in place of one."""

    def arrow(other: str) -> pa.ChunkedArray | None:
        import pyarrow as pa

        if other not in columns:
            return table.arrow(other)
        return pa.chunked_array(Strings.of([text or "" for text in columns[other]]).chunks, pa.large_string())

    names = [*(other for other in table.names if other != name), *columns]
    check_names(names, table.source)
    return replace(
        table,
        names=tuple(names),
        load=lambda other: list(columns[other]) if other in columns else table.load(other),
        is_text=lambda other: other in columns or table.is_text(other),
        is_code=lambda other: other not in columns and table.is_code(other),
        is_number=lambda other: other not in columns and table.is_number(other),
        arrow=arrow,
    )
