"""Options of a training read from a TOML file (`--config FILE.toml`): names and values, nothing nested.

    # mlmme.toml
    beta = 0.5
    epochs = 30
    patience = "none"       # TOML has no word for nothing: "none" where an option may be absent
    languages = ["en", "de"]

Names may be written with `-` or `_`, as on the command line, which wins over the file.
"""

from __future__ import annotations

import tomllib
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from xlingual.errors import InputError, did_you_mean, listed

_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
_WRITTEN = {bool: "a truth value", int: "a whole number", float: "a number", str: "a text", list: "a list"}


def option_types(*options: type) -> dict[str, Any]:
    """Return the names and types of the fields of dataclasses of options; a later one wins."""
    known: dict[str, Any] = {}
    for kind in options:
        if not is_dataclass(kind):
            raise TypeError(f"expected a dataclass: found {kind!r}")
        types_ = get_type_hints(kind)
        known |= {field.name: types_[field.name] for field in fields(kind) if field.init}
    return known


def read_settings(path: str | Path, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a TOML file gives; `known` has the type of each: see `option_types`.

    Types are int, float, bool, str, tuples of these, and any of them or None. Raises InputError where the
    file cannot be read, an option is unknown or named twice, or a value has another type.
    """
    path = Path(path)
    given: dict[str, Any] = {}
    for written, value in _content(path).items():
        name = written.replace("-", "_")
        if name not in known:
            near = did_you_mean(name, known)
            raise InputError(f"{path}: unknown option {written!r}.{near} Known: {listed(sorted(known), 40)}")
        if name in given:
            raise InputError(f"{path}: option {name!r} is given twice, with - and with _: keep one")
        given[name] = _typed(value, known[name], f"{path}: {written}")
    return given


def combined(file: Mapping[str, Any], command_line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a file with those of the command line, which win; there None says "not given"."""
    return {**file, **{name: value for name, value in command_line.items() if value is not None}}


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror}): give a TOML file of options") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML ({error}): write lines such as epochs = 30") from error


def _typed(value: object, wanted: Any, where: str) -> Any:  # noqa: ANN401
    choices = get_args(wanted) if get_origin(wanted) in {Union, types.UnionType} else (wanted,)
    if types.NoneType in choices and isinstance(value, str) and value.lower() == "none":
        return None
    for kind in choices:
        fits, read = _read(value, kind)
        if fits:
            return read
    expected = " or ".join(_word(kind) for kind in choices)
    raise InputError(f"{where} must be {expected}: found {value!r:.60} ({_written(value)})")


def _read(value: object, kind: Any) -> tuple[bool, Any]:  # noqa: ANN401
    """Return whether a value of TOML is of a type, and the value as that type."""
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            return False, None
        parts = [_read(part, get_args(kind)[0]) for part in value]
        return all(fits for fits, _ in parts), tuple(part for _, part in parts)
    if kind is float and type(value) is int:
        return True, float(value)
    return type(value) is kind, value  # a truth value is no whole number


def _word(kind: Any) -> str:  # noqa: ANN401
    if get_origin(kind) is tuple:
        return f"a list, each {_word(get_args(kind)[0])}"
    return '"none"' if kind is types.NoneType else _WORDS.get(kind, str(kind))


def _written(value: object) -> str:
    return _WRITTEN.get(type(value), "a table" if isinstance(value, dict) else type(value).__name__)
