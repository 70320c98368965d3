"""`{language: vectors}`, `{language: path}` and single tables: vectors that are given as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xlingual.encoders.objects import has, is_table
from xlingual.encoders.options import KIND, TRAINED_ON
from xlingual.encoders.registry import read_options
from xlingual.encoders.schemes import SCHEMES
from xlingual.encoders.spec import parse
from xlingual.encoders.vectorfile import VectorOptions, check_file, file_digest
from xlingual.encoders.vectorindex import vectors_of_index
from xlingual.encoders.vectors import VectorsEncoder, options_of
from xlingual.errors import InputError, listed
from xlingual.forms import array_of, refuse_bytes, type_in_words
from xlingual.records import digest

# what may stand behind the path of a language
_SCHEME = replace(
    SCHEMES["vectors"],
    options=tuple(one for one in SCHEMES["vectors"].options if one not in (TRAINED_ON, KIND)),
)


class GivenVectors(VectorsEncoder):
    """Vectors in memory or in files, one table for each language, or one for all.

    Lines are counted as those of `vectors:`: by item, by text of the language, or by row.
    """

    def __init__(self, tables: Mapping[str, Any]) -> None:
        tables, options = _read(tables)
        self.tables = {tag: _table(tag, given) for tag, given in tables.items()}
        self.languages_given = tuple(tag for tag in self.tables if tag)
        super().__init__("{lang}" if self.languages_given else "array", self.languages_given, options)

    @cached_property
    def identity(self) -> str:
        """A hash of all numbers; of the files where options say what of them counts."""
        parts: list[str | bytes] = []
        for tag in sorted(self.tables):
            if self.options.stated:  # then all of them are files
                parts += [tag, self.options.stated, file_digest(self._path(tag, None))]
                continue
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


def _table(tag: str, given: Any) -> NDArray[Any] | Path:  # noqa: ANN401  (vectors in any form, or a path)
    if not is_table(given):
        return Path(given)
    who = f"the array{f' of {tag}' if tag else ''}"
    found = _array(given, who)
    if found.dtype.kind not in "fiu" or found.ndim != 2:
        what = "numbers" if found.dtype.kind in "fiu" else type_in_words(found).partition(",")[0]
        raise InputError(
            f"{who} ({type(given).__name__}) holds {what}, shape {found.shape}; expected numbers [n, d]"
            f"{_remedy(given, found)}"
        )
    refuse_bytes(found, f"{who} holds")
    return found


def _array(given: Any, who: str) -> NDArray[Any]:  # noqa: ANN401
    """Return the array that an object stands for; of one that holds a vector in each cell, these as rows."""
    if has(given, "reconstruct_n"):
        return vectors_of_index(given, who)
    if hasattr(given, "detach") and given.is_floating_point():
        given = given.detach().cpu().float()
    elif has(given, "to_pylist"):
        given = given.to_pylist()
    elif has(given, "to_numpy"):
        given = given.to_numpy()
    try:
        found = array_of(given)
    except ValueError:  # rows of several lengths
        found = np.empty(len(given), dtype=object)
        found[:] = list(given)
    if found.dtype.kind != "O" or found.ndim != 1:
        return found
    rows = [array_of(row) for row in found]
    for number, row in enumerate(rows, start=1):
        if row.ndim != 1 or row.dtype.kind not in "fiu":
            value = found[number - 1]
            shown = repr(value) if value is None or isinstance(value, str | int | float) else _kind(value)
            raise InputError(f"{who}: row {number} is {shown[:60]}; expected a vector, a list of numbers")
        if len(row) != len(rows[0]):
            raise InputError(
                f"{who}: row {number} has {len(row)} numbers and row 1 has {len(rows[0])}: make all vectors "
                "with one model"
            )
    return np.stack(rows) if rows else np.empty((0, 0), dtype=np.float32)


def _kind(value: object) -> str:
    return f"a value of the type {type(value).__name__}"


def _remedy(given: Any, found: NDArray[Any]) -> str:  # noqa: ANN401
    """Return what to do with a data frame whose columns are no dimensions, or with numbers as objects."""
    if not hasattr(given, "columns"):
        return ": convert it with .astype('float32')" if found.dtype.kind == "O" else ""
    names = [str(name) for name in given.columns]
    return f": name the column of vectors, such as frame[{names[-1]!r}] (its columns: {listed(names)})"


def _read(tables: Mapping[str, Any]) -> tuple[dict[str, Any], VectorOptions]:
    """Return the tables, and what stands behind ? of their paths, which must be the same for all."""
    found: dict[str, Any] = {}
    options: dict[str, VectorOptions] = {}
    for tag, given in tables.items():
        found[tag], options[tag] = given, VectorOptions()
        if isinstance(given, str) and "?" in given:
            spec = parse(given, SCHEMES)
            found[tag] = Path(spec.argument)
            options[tag] = options_of(read_options(replace(spec, scheme="vectors"), _SCHEME))
    first, *others = options.items()
    for tag, other in others:
        if other != first[1]:
            stated = (f"{name}: {one.stated or 'none'}" for name, one in (first, (tag, other)))
            raise InputError(
                f"write the same options behind the path of each language, and give no arrays beside them "
                f"(found {listed(stated)})"
            )
    return found, first[1]


def adapter_of(entry: Any, kind: str) -> GivenVectors:  # noqa: ANN401  (vectors, or a mapping)
    """Return the encoder that looks the vectors up; `kind` is texts or images alike."""
    return GivenVectors(entry if isinstance(entry, Mapping) else {"": entry})
