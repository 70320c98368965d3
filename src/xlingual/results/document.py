"""Records and the files of JSON that hold them: written, read and checked in one place."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from xlingual.errors import InputError
from xlingual.notebook import html_of
from xlingual.results.files import read_json, write_json
from xlingual.results.values import about
from xlingual.typed import convert

Kind = TypeVar("Kind", bound=msgspec.Struct)
Asked: TypeAlias = Annotated[
    dict[str, Any], about("How this was made: the command, and all it was asked that changes a number.")
]
RunOf: TypeAlias = Annotated[
    dict[str, Any], about("The run: date, versions, threads and folders; it may differ between equal runs.")
]


class Document(msgspec.Struct, frozen=True, tag_field="schema"):
    """What a file holds; its tag, the name and version of its kind, stands first in it as `schema`.

    What a later version added is passed over; what an earlier one lacked has a default.
    """

    made_by: ClassVar[str]  # what writes such a file, in words
    file: ClassVar[str] = ""  # its name in a folder of its own
    derived: ClassVar[tuple[str, ...]] = ()  # files beside it that were made of it

    def to_dict(self) -> dict[str, Any]:
        """Return what the file holds."""
        return dict(plain(self))

    def _repr_html_(self) -> str | None:
        return html_of(self)

    def write(self, path: str | Path) -> None:
        """Write the file `path`, atomically; its folder is made if need be."""
        write_json(Path(path), self.to_dict(), derived=self.derived)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a file, or the folder that holds it under its usual name.

        Raises InputError that names file and field where it is not one, or does not fit together.
        """
        path = Path(path)
        path = path / cls.file if cls.file and path.is_dir() else path
        found = read_record(path, cls, cls.made_by)
        if problem := found.problem():
            raise InputError(f"{path}: {problem}: {remedy(cls.made_by)}")
        return found

    def problem(self) -> str | None:
        """Return what does not fit together, beyond the fields themselves; None where all does."""
        return None


class Answer(Document, frozen=True, kw_only=True):
    """What was found, with the request that it answers; `run` may differ between equal answers."""

    request: Asked | UnsetType = UNSET
    run: RunOf | UnsetType = UNSET


class FolderDocument(Answer, frozen=True):
    """What stands under its usual name in a folder of its own."""

    def write(self, path: str | Path) -> None:
        """Write the file into the folder `path` (made if need be), atomically."""
        super().write(Path(path) / self.file)


def read_record(path: Path, kind: type[Kind], made_by: str) -> Kind:
    """Read the record of a file."""
    schema = str(kind.__struct_config__.tag)
    return convert(read_json(path, schema, made_by), kind, where=str(path), remedy=remedy(made_by))


def remedy(made_by: str) -> str:
    """Return what to do about a file that is not what it must be."""
    return f"run {made_by} again"


def plain(value: object) -> Any:  # noqa: ANN401  (what JSON holds)
    """Return records as dicts, lists, text and numbers."""
    return msgspec.to_builtins(value, enc_hook=_plain)


def _plain(value: object) -> object:
    for kind in (float, str):  # numpy's own kinds of them
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{type(value).__name__} has no place in results")


def unknown(names: Iterable[str], known: Iterable[str], where: str) -> str | None:
    """Return a problem with the first of some names that is not known; None where all are."""
    known = set(known)
    missing = next((name for name in names if name not in known), None)
    return None if missing is None else f"{missing!r} is not among {where}"
