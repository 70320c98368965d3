"""Records and the files of JSON that hold them: written, read and checked in one place."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from xlingual.errors import InputError
from xlingual.notebook import html_of, verdict_of
from xlingual.results.digest import digest_of
from xlingual.results.files import read_json, write_json
from xlingual.results.provenance import ProvenanceOf, note_result
from xlingual.results.values import about
from xlingual.typed import convert
from xlingual.visible import visible_line

_SHOWN = 5  # sentences of the verdict
Kind = TypeVar("Kind", bound=msgspec.Struct)
RequestRecord: TypeAlias = Annotated[
    dict[str, Any], about("How this was made: the command, and every setting that changes a number.")
]
RunOf: TypeAlias = Annotated[
    dict[str, Any], about("The run: date, versions, threads and folders; it may differ between equal runs.")
]


class Document(msgspec.Struct, frozen=True, tag_field="schema"):
    """The content of a file; its first key, `schema`, is the tag: name and version of its kind.

    Keys that a later version added are ignored; those that an earlier one lacked have defaults.
    """

    made_by: ClassVar[str]  # the command that writes such a file
    file: ClassVar[str] = ""  # its usual name in a folder
    derived: ClassVar[tuple[str, ...]] = ()  # files beside it that are made from it

    def to_dict(self) -> dict[str, Any]:
        """Return what the file holds."""
        return dict(plain(self))

    def _repr_html_(self) -> str | None:
        return html_of(self)

    def __repr__(self) -> str:
        try:
            sentences = verdict_of(self)
        except Exception:  # of a record that is not consistent
            sentences = []
        if not sentences:
            return super().__repr__()
        more = [f"… and {len(sentences) - _SHOWN} more"] if len(sentences) > _SHOWN else []
        return "\n  ".join([f"{type(self).__name__}:", *map(visible_line, sentences[:_SHOWN]), *more])

    def write(self, path: str | Path) -> None:
        """Write the file `path`, atomically; its folder is made if need be."""
        write_json(Path(path), self.to_dict(), derived=self.derived)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a file, or the folder that holds it under its usual name.

        Raises InputError that names file and field where it is not such a file, or is inconsistent.
        """
        path = Path(path)
        path = path / cls.file if cls.file and path.is_dir() else path
        content = read_json(path, cls.schema(), cls.made_by)
        found = convert(content, cls, where=str(path), remedy=remedy(cls.made_by))
        if problem := found.problem():
            raise InputError(f"{path}: {problem}: {remedy(cls.made_by)}")
        note_result(cls.schema(), path, found, lambda: digest_of(content))
        return found

    @classmethod
    def schema(cls) -> str:
        """Return the name and version of such files, as their key `schema` has it."""
        return str(cls.__struct_config__.tag)

    def problem(self) -> str | None:
        """Return the first inconsistency between fields; None where there is none."""
        return None


class Answer(Document, frozen=True, kw_only=True):
    """Findings with the request that gave them; `run` may differ between equal findings."""

    request: RequestRecord | UnsetType = UNSET
    provenance: ProvenanceOf | UnsetType = UNSET
    run: RunOf | UnsetType = UNSET


class FolderDocument(Answer, frozen=True):
    """A document that is written into a folder, under its usual name."""

    def write(self, path: str | Path) -> None:
        """Write the file into the folder `path` (made if need be), atomically."""
        super().write(Path(path) / self.file)


def read_record(path: Path, kind: type[Kind], made_by: str) -> Kind:
    """Read the record of a file."""
    schema = str(kind.__struct_config__.tag)
    return convert(read_json(path, schema, made_by), kind, where=str(path), remedy=remedy(made_by))


def remedy(made_by: str) -> str:
    """Return what to do about a wrong file, for an error message."""
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
