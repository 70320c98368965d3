"""Records whose fields declare everything: type, default, limits, a sentence, names on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_args

import msgspec
from msgspec import NODEFAULT, Meta

from xlingual.errors import InputError, parameter
from xlingual.requests.values import check

_MARKS: Final = "marks"


@dataclass(frozen=True)
class Marks:
    """Properties of a field beside its type, its default and its sentence."""

    names: tuple[str, ...] = ()  # as on the command line, where not --field-name
    metavar: str | None = None
    otherwise: str | None = None  # what the default means, in words, for people
    reads: Callable[[str], Any] | None = None  # parses the value from a text: "8GiB", "en,de"
    bare: Any = None  # the value of an option that is named without one
    key: str | None = None  # the field's name among all fields of the request, where not its own
    in_files: bool = False  # not on the command line, in files only
    argument: bool = False  # stands on the command line without a name
    run: bool = False  # changes no number: threads, folders, output
    secret: bool = False  # is never kept


def none_given(names: Sequence[str]) -> str:
    """Return the error where one of some fields must be given, and none is."""
    return f"{' or '.join(map(parameter, names))} is missing: name one system at least to evaluate"


def option(sentence: str, **marks: Any) -> Meta:  # noqa: ANN401  (the fields of Marks)
    """Describe a field that is an option of the command line, in a sentence; `marks` are those of `Marks`."""
    return Meta(description=sentence, extra={_MARKS: Marks(**marks)})


def argument(metavar: str, sentence: str, **marks: Any) -> Meta:  # noqa: ANN401
    """Describe a field that stands on the command line without a name."""
    return option(sentence, metavar=metavar, argument=True, **marks)


@cache
def fields(kind: type[Record]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a record; msgspec evaluates their types anew at every call."""
    return msgspec.structs.fields(kind)


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fields that belong together; a value that is not of its field's type raises InputError."""

    heading: ClassVar[str] = ""  # of these options in a command's help
    refused: ClassVar[Mapping[str, str]] = {}  # options that others have, and why these do not
    otherwise: ClassVar[Mapping[str, str]] = {}  # what the default of a field means, in words

    def __post_init__(self) -> None:
        """Check every value; a constructor of msgspec checks nothing by itself."""
        for field in fields(type(self)):
            check(field.name, getattr(self, field.name), field.type)

    def changed(self, **changes: Any) -> Self:  # noqa: ANN401
        """Return the record with some fields changed, checked again."""
        return msgspec.structs.replace(self, **changes)

    def settings(self) -> dict[str, Any]:
        """Return all fields for JSON."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in msgspec.structs.asdict(self).items()
        }


class Request(Record, frozen=True, kw_only=True):
    """The options of one command."""

    command: ClassVar[str]  # "evaluate backretrieval"
    first: ClassVar[tuple[str, ...]] = ()  # options that stand first in the help
    in_files: ClassVar[tuple[str, ...]] = ()  # fields that are no options, and can be given in a file
    one_of: ClassVar[tuple[str, ...]] = ()  # fields of which one at least must be given
    own_folder: ClassVar[bool] = False  # what it reads in the folder `out`, it wrote there itself

    def __post_init__(self) -> None:
        """Check every value, and that one of those is there of which one must be."""
        Record.__post_init__(self)
        if self.one_of and not any(getattr(self, name) for name in self.one_of):
            raise InputError(none_given(self.one_of))


@dataclass(frozen=True)
class Leaf:
    """A field of a request or of a record in it, as an option sees it."""

    key: str  # its name among all fields of the request
    type: Any
    default: Any  # a value, a function that finds it, or NODEFAULT
    sentence: str
    marks: Marks
    heading: str = ""

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is NODEFAULT

    @property
    def spec(self) -> bool:
        """Whether it names encoders, whose specs may hold secrets."""
        return (self.marks.metavar or "").endswith(("SPEC", "MODEL", "hf:PATH"))

    @property
    def names(self) -> tuple[str, ...]:
        """How it is written on the command line."""
        if self.marks.argument:
            return (str(self.marks.metavar),)
        return self.marks.names or (f"--{self.key.replace('_', '-')}",)

    @property
    def spellings(self) -> set[str]:
        """How it may be written in a file, with _ for -."""
        written = () if self.marks.argument else self.names
        return {self.key, *(name.partition("/")[0].lstrip("-").replace("-", "_") for name in written)}


@lru_cache
def leaves(kind: type[Record]) -> Mapping[str, Leaf]:
    """Return the fields of a request and of the records in it, by their names.

    Records that have a field of the same name share it: it is given once, and goes to each of them.
    """
    found: dict[str, Leaf] = {}
    for leaf in _walk(kind, None):
        marks = replace(leaf.marks, otherwise=kind.otherwise.get(leaf.key, leaf.marks.otherwise))
        found.setdefault(leaf.key, replace(leaf, marks=marks))
    return found


def values(record: Record) -> dict[str, Any]:
    """Return the values of a request and of the records in it, by their names."""
    found: dict[str, Any] = {}
    for field in fields(type(record)):
        value = getattr(record, field.name)
        found |= values(value) if isinstance(value, Record) else {key_of(field): value}
    return found


def defaults(kind: type[Record]) -> dict[str, Any]:
    """Return the defaults of a request and of the records in it, by name; required fields have none."""
    found = {name: leaf.default for name, leaf in leaves(kind).items() if not leaf.required}
    return {name: value() if callable(value) else value for name, value in found.items()}


def refused(kind: type[Record]) -> dict[str, str]:
    """Return the options that other requests have and this one refuses, and why."""
    inner = (record_of(field.type) for field in fields(kind))
    return {name: why for record in (kind, *filter(None, inner)) for name, why in record.refused.items()}


def record_of(annotation: Any) -> type[Record] | None:  # noqa: ANN401
    """Return the record that a field is, None where it is a value."""
    return annotation if isinstance(annotation, type) and issubclass(annotation, Record) else None


def key_of(field: msgspec.structs.FieldInfo) -> str:
    """Return the name of a field among all those of a request."""
    return _meta(field)[1].key or field.name


def _walk(kind: type[Record], defaults: Record | None) -> Iterator[Leaf]:
    for field in fields(kind):
        inner = record_of(field.type)
        if inner is not None:
            yield from _walk(inner, field.default if isinstance(field.default, Record) else None)
            continue
        sentence, marks = _meta(field)
        default = field.default if field.default_factory is NODEFAULT else field.default_factory
        if defaults is not None:
            default = getattr(defaults, field.name)
        yield Leaf(marks.key or field.name, field.type, default, sentence, marks, kind.heading)


def _meta(field: msgspec.structs.FieldInfo) -> tuple[str, Marks]:
    for meta in _metas(field.type):
        if meta.extra is not None and _MARKS in meta.extra:
            return meta.description or "", meta.extra[_MARKS]
    raise TypeError(f"field {field.name!r} of a request has no description: declare it with option(…)")


def _metas(annotation: Any) -> Iterator[Meta]:  # noqa: ANN401
    """Yield the descriptions of a type, the outer ones first."""
    inner = get_args(annotation)
    yield from (part for part in inner if isinstance(part, Meta))
    for part in inner:
        yield from _metas(part)


_OWN: dict[type, dict[str, Any]] = {Path: {"type": "string"}}
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema(kind: type[Record]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a request, as a TOML or JSON file holds it.

    A value that may be written as a text as well ("8GiB", "en,de") has both types.
    """
    fields: list[Any] = []
    if issubclass(kind, Request):
        name = Annotated[Literal[kind.command], Meta(description="The command.")]  # type: ignore[name-defined]
        fields.append(("command", name))
    for leaf in leaves(kind).values():
        wanted, default = leaf.type, leaf.default
        if leaf.marks.reads is not None:
            wanted |= str
        if callable(default):  # found when the command runs
            wanted, default = wanted | msgspec.UnsetType, msgspec.UNSET
        if isinstance(default, Path):
            default = str(default)
        described = Annotated[wanted, Meta(description=leaf.sentence)]  # type: ignore[valid-type]
        fields.append((leaf.key, described) if leaf.required else (leaf.key, described, default))
    flat = msgspec.defstruct(kind.__name__, fields, kw_only=True, forbid_unknown_fields=True)
    needed = [{"required": [name]} for name in getattr(kind, "one_of", ())]
    definition = msgspec.json.schema(flat, schema_hook=_OWN.__getitem__)["$defs"][kind.__name__]
    definition |= {"anyOf": needed} if needed else {}
    return {"$schema": _DRAFT, **definition, "description": " ".join((kind.__doc__ or "").split())}
