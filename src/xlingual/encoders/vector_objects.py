"""`{language: array}`, `{language: path}` and single arrays: vectors that are given as they are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xlingual.encoders.objects import is_array
from xlingual.encoders.vectorfile import check_file
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError, listed
from xlingual.forms import array_of, refuse_bytes
from xlingual.records import digest


class GivenVectors(VectorsEncoder):
    """Vectors in memory or in files, one table for each language, or one for all.

    Lines are counted as those of `vectors:`: by item, by text of the language, or by row.
    """

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self.tables = {tag: _table(tag, given) for tag, given in tables.items()}
        self.languages_given = tuple(tag for tag in self.tables if tag)
        super().__init__("{lang}" if self.languages_given else "array", self.languages_given)

    @cached_property
    def identity(self) -> str:
        """A hash of all numbers."""
        parts: list[str | bytes] = []
        for tag in sorted(self.tables):
            table = self._open(self._path(tag, None))
            parts += [tag, str(table.shape), str(table.dtype), *(np.asarray(row).tobytes() for row in table)]
        return f"arrays:{digest(*parts).hex()[:16]}"

    def _path(self, language: str, role: str | None) -> Path:
        """Return the file of a language, for an array a name that messages can show."""
        if self.languages_given and language not in self.tables:
            raise InputError(
                f"there are no vectors for {language!r}: give an array or a path for it too (given: "
                f"{listed(self.languages_given)})"
            )
        found = self.tables[language if self.languages_given else ""]
        return (
            found
            if isinstance(found, Path)
            else Path(f"the array of {language}" if language else "the array")
        )

    def _check_file(self, path: Path) -> None:
        if any(path == table for table in self.tables.values() if isinstance(table, Path)):
            check_file(path)

    def _open(self, path: Path) -> Any:  # noqa: ANN401  (an array or Rows)
        for tag, table in self.tables.items():
            if not isinstance(table, Path) and self._path(tag, None) == path:
                return np.asarray(table)
        return super()._open(path)

    def patterns_there(self) -> str:
        """Return nothing: no pattern is asked for."""
        return ""


def _table(tag: str, given: Any) -> NDArray[Any] | Path:  # noqa: ANN401  (an array, a tensor or a path)
    if not is_array(given):
        return Path(given)
    found = array_of(given)
    who = f"the array{f' of {tag}' if tag else ''} holds"
    if found.dtype.kind not in "fiu":
        raise InputError(f"{who} {found.dtype}; expected numbers [n, d]")
    refuse_bytes(found, who)
    return found


def adapter_of(entry: Any, kind: str) -> GivenVectors:  # noqa: ANN401  (an array, or a mapping)
    """Return the encoder that looks the vectors up; `kind` is texts or images alike."""
    return GivenVectors(entry if isinstance(entry, Mapping) else {"": entry})
