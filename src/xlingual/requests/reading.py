"""Reading requests: values by name become a record that is checked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from xlingual.errors import InputError, did_you_mean, listed, why
from xlingual.requests.record import Leaf, Record, fields, key_of, leaves, record_of, refused
from xlingual.requests.values import check, may_be_none

R = TypeVar("R", bound=Record)


def read(kind: type[R], given: Mapping[str, Any], where: str = "") -> R:
    """Return the request with some values; the other fields have their defaults.

    Names are those of fields, at whatever depth, or of options, with - or _. `where` is the place of
    the values for errors, such as a file; without it they are of the command line, and errors name options.
    Raises InputError where a name is unknown, a value is not of its field's type, or one is missing.
    """
    return made(kind, checked(kind, given, where), where)


def checked(kind: type[Record], given: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Return values as the types of their fields, by the fields' names; see `read`."""
    known = leaves(kind)
    spelled = {name: leaf for leaf in known.values() for name in leaf.spellings}
    found: dict[str, Any] = {}
    for written, value in given.items():
        leaf = spelled.get(written.replace("-", "_"))
        if leaf is None:
            raise InputError(_unknown(kind, written, known, where))
        if leaf.key in found:
            raise InputError(f"{_at(where)}option {leaf.key!r} is given twice, in two spellings: keep one")
        found[leaf.key] = _value(leaf, value, written if where else leaf.names[0], where)
    return found


def made(kind: type[R], values: Mapping[str, Any], where: str = "") -> R:
    """Return the request with some checked values; raise InputError where one is missing."""
    for leaf in leaves(kind).values():
        if leaf.required and leaf.key not in values:
            raise InputError(
                f"{_at(where)}{leaf.key if where else leaf.names[0]} is missing: {leaf.sentence}"
            )
    try:
        return _made(kind, values, None)
    except InputError as error:  # of two values that do not go together
        raise InputError(f"{_at(where)}{error}") from error


def _value(leaf: Leaf, value: Any, name: str, where: str) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        if value.lower() == "none" and may_be_none(leaf.type):
            return None
        if leaf.marks.reads is not None:
            try:
                value = leaf.marks.reads(value)
            except ValueError as error:
                raise InputError(f"{_at(where)}{name}: {error}") from error
    return check(name, value, leaf.type, where, hidden=leaf.marks.secret)


def _made(kind: type[R], values: Mapping[str, Any], default: R | None) -> R:
    """Build a record and those in it; fields without a value are taken from `default`, if any."""
    own: dict[str, Any] = {}
    for field in fields(kind):
        inner = record_of(field.type)
        if inner is not None:
            preset = field.default if isinstance(field.default, Record) else None
            own[field.name] = _made(inner, values, preset)
        elif (key := key_of(field)) in values:
            own[field.name] = values[key]
    return kind(**own) if default is None else msgspec.structs.replace(default, **own)


def _unknown(kind: type[Record], written: str, known: Mapping[str, Leaf], where: str) -> str:
    for option, reason in refused(kind).items():
        if option.lstrip("-").replace("-", "_") == written.replace("-", "_"):
            return f"{_at(where)}{getattr(kind, 'command', written)} {reason}"
    options = [
        leaf.key if leaf.marks.argument else leaf.names[0].partition("/")[0].removeprefix("--")
        for leaf in known.values()
    ]
    near = did_you_mean(written, options)
    return f"{_at(where)}unknown option {written!r}.{near} Known: {listed(sorted(options), 40)}"


def _at(where: str) -> str:
    return f"{where}: " if where else ""


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the names and values of a TOML file, as on the command line; InputError where it is not TOML.

        # triplet.toml
        epochs = 30
        patience = "none"       # TOML has no word for nothing: "none" where a field may have none
        text-encoder = ["chargram"]

    A list stands for an option that is repeated; names may be written with `-` or `_`.
    """
    path = Path(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path} ({why(error)}): give a TOML file of options") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML ({error}): write lines such as epochs = 30") from error
