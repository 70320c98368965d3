"""The rows of an export, cleaned one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from xlingual.data.exports.cleaning import clean
from xlingual.data.exports.columns import ExportColumns
from xlingual.data.exports.images import ImageCells
from xlingual.data.exports.made import EMPTY, NO_LANGUAGE, OWN, TAG, UNKNOWN, Change, Imported
from xlingual.data.reading.tables import SourceTable
from xlingual.data.reading.values import is_missing
from xlingual.data.tags import tag_of
from xlingual.errors import InputError


class ExportRows:
    """The rows of an export, cleaned one by one; changes are added to `made`."""

    def __init__(
        self, table: SourceTable, columns: ExportColumns, images: ImageCells, made: Imported
    ) -> None:
        self.columns, self.images, self.made = columns, images, made
        used = {name for names in columns.texts.values() for name in names} | set(columns.fields)
        used |= {name for by in columns.language_fields.values() for name in by.values()}
        roles = (columns.id, columns.lang, columns.image, columns.item, columns.cluster, columns.split)
        self.cells = {name: table.load(name) for name in (*used, *filter(None, roles))}

    def changed(self, row: int, column: str, what: str, before: object, after: object = "") -> None:
        """Add a change."""
        self.made.changes.append(Change(row + 1, column, what, str(before), str(after)))

    def text(self, row: int, column: str) -> str:
        """Return a cell as a clean text; "" where there is none."""
        cell = self.cells[column][row]
        if is_missing(cell):
            return ""
        before = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False, default=str)
        after, kinds = clean(before.encode("utf-8", "replace").decode())
        if kinds:
            self.changed(row, column, "; ".join(kinds), before, after)
        return after

    def name(self, row: int, column: str | None) -> str:
        """Return a cell that names something; "" where there is none."""
        cell = self.cells[column][row] if column else None
        if is_missing(cell):
            return ""
        return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell).strip()

    def language(self, row: int) -> str | None:
        """Return the tag of a row's language, None where it has none that is known: said."""
        column = self.columns.lang or ""
        word = self.name(row, column)
        tag = tag_of(word) if word else self.columns.language
        if tag is None:
            self.changed(row, column, UNKNOWN if word else NO_LANGUAGE, word)
        elif tag != word and word:
            self.changed(row, column, TAG, word, tag)
        return tag

    def texts(self, row: int) -> Iterator[tuple[str, str]]:
        """Yield (language, text) of a row."""
        for own, names in self.columns.texts.items():
            tag = own or self.language(row)
            text = "\n".join(filter(None, (self.text(row, name) for name in names))) if tag else ""
            if text and tag:
                yield tag, text
            elif tag and len(self.columns.texts) == 1:
                self.changed(row, names[0], EMPTY, self.cells[names[0]][row] or "")

    def shared(self, row: int) -> dict[str, Any]:
        """Return what all texts of a row share: image, cluster, split, fields."""
        found: dict[str, Any] = {}
        if self.columns.image:
            cell = self.cells[self.columns.image][row]
            if isinstance(cell, bytes) or (isinstance(cell, dict) and cell.get("bytes")):
                raise InputError(
                    f"{self.made.source}, row {row + 1}, column {self.columns.image!r} holds the bytes of "
                    "images: such a table is a manifest as it is, so use it without an import"
                )
            path, url, kinds = self.images.path(cell)
            self.made.n_urls += bool(url) and path is None
            if kinds:
                self.changed(row, self.columns.image, "; ".join(kinds), cell, path or "")
            found |= {"image": path, "image_url": url or None}
        for role, column in (("cluster", self.columns.cluster), ("split", self.columns.split)):
            if column:
                found[role] = self.name(row, column) or None
        for column in self.columns.fields:
            cell = self.cells[column][row]
            named = f"export_{column}" if column in OWN else column
            found[named] = (self.text(row, column) or None) if isinstance(cell, str) else cell
        return found
