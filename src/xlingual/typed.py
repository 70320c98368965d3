"""From decoded JSON or TOML to typed records: an error names the place, what was expected and what was found.

A record is a `msgspec.Struct`, checked only on its way through `convert`: constructors check nothing. Keys
that a record does not know are passed over, unless it, or a base class, has `forbid_unknown_fields=True`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from xlingual.errors import InputError, did_you_mean, listed

Kind = TypeVar("Kind")
Step: TypeAlias = str | int  # a key of an object, or a place in a list

_UNSHOWN = 2**63 - 1  # errors do not name limits from this size on, which only keep numbers usable


def convert(content: object, kind: type[Kind], *, where: str, remedy: str = "") -> Kind:
    """Return decoded JSON or TOML as a value of a type, as a rule of a record.

    Args:
        content: dicts, lists, text, numbers, truth values and None. Text becomes a Path where one is wanted.
        kind: what it must be: a `msgspec.Struct`, or any other type that msgspec knows.
        where: where the content comes from, a file: the error begins with it.
        remedy: what to do: the error ends with it.

    Raises:
        InputError: `WHERE: pairs[3].ci.low must be a number, found "x": REMEDY`. Missing fields are named
            likewise, and unknown ones with the nearest known name.

    """
    try:
        return msgspec.convert(content, kind, dec_hook=_from_text)
    except UnicodeEncodeError:  # half a pair of surrogates, which is no text, stands as a question mark
        text = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
        return convert(json.loads(text), kind, where=where, remedy=remedy)
    except msgspec.ValidationError as error:
        problem = _problem(content, kind, error)
        raise InputError(": ".join(filter(None, (where, problem, remedy)))) from error


def place_of(steps: Sequence[Step]) -> str:
    """Return a place in words: `pairs[3].ci.low`.

    >>> place_of(["pairs", 3, "ci", "low"])
    'pairs[3].ci.low'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


def _from_text(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str | Path):
        return Path(value)
    raise TypeError(f"{kind} is not made from {type(value)}")


def _problem(content: Any, kind: Any, error: msgspec.ValidationError) -> str:  # noqa: ANN401  (decoded JSON)
    """Return the first problem and its place, in words."""
    message, _, path = str(error).partition(" - at ")
    steps = _steps(content, kind, path)
    found, node = content, inspect.type_info(kind)
    for step in steps:
        node, found = _type_within(node, found, step), found[step]
    if missing := re.search("missing required field `(.*)`", message):
        return f"the field {place_of([*steps, missing[1]])!r} is missing"
    if unknown := re.search("unknown field `(.*)`", message):
        known = [field.encode_name for one in _structs(node) for field in one.fields]
        near = did_you_mean(unknown[1], known) or f" Known are {listed(known, most=20)}"
        return f"the field {place_of([*steps, unknown[1]])!r} is not known.{near}"
    place = place_of(steps)
    if isinstance(error.__cause__, InputError):  # from the `__post_init__` of a record
        return f"{place}: {error.__cause__}" if place else str(error.__cause__)
    if path.startswith("`key`"):
        return f"{place or 'the content'}: {message}"
    literals = [one.values for one in _members(node) if isinstance(one, inspect.LiteralType)]
    near = did_you_mean(found, map(str, chain(*literals))) if isinstance(found, str) else ""
    return f"{place or 'the content'} must be {expected(node)}, found {_shown(found)}{near and f'.{near}'}"


def _steps(content: Any, kind: Any, path: str) -> list[Step]:  # noqa: ANN401
    """Return the steps of a path of msgspec, which leaves out the keys of mappings: `$.a[...].b[3]`."""
    steps: list[Step] = []
    found = content
    for name, place, _ in re.findall(r"\.([^.\[`]+)|\[(\d+)\]|(\[\.\.\.\])", path):
        step = name or (int(place) if place else _bad_key(content, kind, path, steps))
        steps.append(step)
        found = found[step]
    return steps


def _bad_key(content: Any, kind: Any, path: str, steps: list[Step]) -> str:  # noqa: ANN401
    """Return the first key of the mapping at some steps whose value alone gives an error of the same path."""
    found = content
    for step in steps:
        found = found[step]
    for key, value in found.items():
        try:
            msgspec.convert(_put(content, steps, {key: value}), kind, dec_hook=_from_text)
        except ValueError as error:  # msgspec's, or of half a pair of surrogates elsewhere
            if str(error).partition(" - at ")[2] == path:
                return str(key)
    raise AssertionError(f"no value within {path} is wrong")  # msgspec said that one is


def _put(content: Any, steps: Sequence[Step], value: object) -> Any:  # noqa: ANN401
    """Return a copy of the content with another value at a place."""
    if not steps:
        return value
    copy = content.copy()
    copy[steps[0]] = _put(content[steps[0]], steps[1:], value)
    return copy


def _members(node: inspect.Type) -> Iterator[inspect.Type]:
    """Return the types that a value may have."""
    if isinstance(node, inspect.Metadata):
        values = (node.extra_json_schema or {}).get("enum")
        yield from _members(node.type) if values is None else [inspect.LiteralType(tuple(values))]
    elif isinstance(node, inspect.UnionType):
        for one in node.types:
            yield from _members(one)
    else:
        yield node


def _structs(node: inspect.Type) -> list[inspect.StructType]:
    return [one for one in _members(node) if isinstance(one, inspect.StructType)]


def _type_within(node: inspect.Type, value: Any, step: Step) -> inspect.Type:  # noqa: ANN401
    """Return the type of the value at a step within a value."""
    structs = _structs(node)
    if any(one.tag_field == step for one in structs):
        return inspect.LiteralType(tuple(one.tag for one in structs))
    for one in _members(node):
        if isinstance(one, inspect.StructType):
            tagged = one.tag_field is None or value.get(one.tag_field) == one.tag
            types = [field.type for field in one.fields if tagged and field.encode_name == step]
            if types:
                return types[0]
        elif isinstance(one, inspect.DictType):
            return one.value_type
        elif isinstance(one, inspect.TupleType) and isinstance(step, int):
            return one.item_types[step]
        elif isinstance(one, inspect.CollectionType):
            return one.item_type
    return inspect.AnyType()


def expected(node: inspect.Type) -> str:
    """Return in words what a value of a type is, with its limits: "a whole number of at least 1"."""
    words = dict.fromkeys(map(_words, _members(node)))
    if "a number" in words:
        words.pop("a whole number", None)  # which is one
    return " or ".join(words)


def _words(node: inspect.Type) -> str:
    """Return in words what a value of a type is."""
    if isinstance(node, inspect.LiteralType):
        return " or ".join(json.dumps(value) for value in node.values)
    if isinstance(node, inspect.IntType | inspect.FloatType):
        name = "a whole number" if isinstance(node, inspect.IntType) else "a number"
        words = (("of at least", node.ge), ("above", node.gt), ("at most", node.le), ("below", node.lt))
        limits = [f"{word} {limit:g}" for word, limit in words if limit is not None and abs(limit) < _UNSHOWN]
        return " ".join(filter(None, (name, " and ".join(limits)))).replace("number at", "number of at")
    if isinstance(node, inspect.StrType):
        pattern = "" if node.pattern is None else f" like {node.pattern}"
        return f"text{_span(node.min_length, node.max_length, 'characters')}{pattern}"
    if isinstance(node, inspect.CollectionType):
        return f"a list{_span(node.min_length, node.max_length, 'values')}"
    if isinstance(node, inspect.TupleType):
        return f"a list{_span(len(node.item_types), len(node.item_types), 'values')}"
    if isinstance(node, inspect.DictType | inspect.StructType):
        return "an object"
    others = {inspect.BoolType: "true or false", inspect.NoneType: "null"}
    return others.get(type(node), "text")


def _span(least: int | None, most: int | None, what: str) -> str:
    if least is None and most is None:
        return ""
    if least == most:
        return f" of {least} {what}"
    return f" of at least {least}" if most is None else f" of {least or 0} to {most} {what}"


def _shown(found: object) -> str:
    """Return a value as an error shows it: short."""
    if isinstance(found, dict | list | tuple):
        return f"{'an object' if isinstance(found, dict) else 'a list'} of {len(found)}"
    if isinstance(found, int | float) and _UNSHOWN <= abs(found) < math.inf:
        return "a number that is too large"
    text = json.dumps(found, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:39]}…"
