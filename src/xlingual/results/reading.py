"""From rows of JSON to records: what is missing is named, what a later version added is passed over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

from xlingual.errors import InputError
from xlingual.results.evaluation import Interval

Record = TypeVar("Record")


@contextmanager
def fields_of(path: Path, made_by: str) -> Iterator[None]:
    """Turn what goes wrong with the fields of a file into one InputError that names file and field."""
    try:
        yield
    except KeyError as error:
        raise InputError(f"{path}: the field {error} is missing: run {made_by} again") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: a field is not what it must be ({error}): run {made_by} again") from error


def refuse_unknown(path: Path, names: Iterable[str], known: Iterable[str], where: str, made_by: str) -> None:
    """Raise InputError where a name that a file refers to is not among those that it holds at `where`."""
    held = set(known)
    for name in names:
        if name not in held:
            raise InputError(f"{path}: {name!r} is not among {where}: run {made_by} again")


def record(kind: type[Record], row: Mapping[str, Any], **built: object) -> Record:
    """Return a record of a dataclass; `built` are fields that are made already.

    `ci`, and what ends in `_ci`, become Intervals. A missing key raises KeyError with its name, unless the
    field has a default.
    """
    values = dict(built)
    for field in fields(kind):  # type: ignore[arg-type]  # a dataclass, which TypeVar cannot say
        name = field.name
        optional = field.default is not MISSING or field.default_factory is not MISSING
        if name not in values and (name in row or not optional):
            values[name] = row[name]
    for name in values:
        if (name == "ci" or name.endswith("_ci")) and isinstance(values[name], Mapping):
            values[name] = record(Interval, values[name])  # type: ignore[arg-type]
    return kind(**values)
