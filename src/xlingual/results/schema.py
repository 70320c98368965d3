"""Whether a file holds what its JSON Schema says, told in one line: which field, what was expected and found.

Only the words that the schemas here use are known. Keys that a schema does not know are passed over, whatever
it says of them: a later version may have added them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

Check = Callable[[Any], None]

_SCHEMAS = Path(__file__).parent / "schemas"
_MOST_WHOLE = 2**63
_MOST = 1e100  # of a number: what is larger is no result
_KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "object": ("an object", lambda value: isinstance(value, dict)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "string": ("text", lambda value: isinstance(value, str)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "null": ("null", lambda value: value is None),
    "number": ("a number", lambda value: _is_number(value)),
    "integer": ("a whole number", lambda value: type(value) is int and abs(value) < _MOST_WHOLE),
}
_LIMITS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "minimum": ("at least", lambda value, limit: value >= limit),
    "maximum": ("at most", lambda value, limit: value <= limit),
    "exclusiveMinimum": ("above", lambda value, limit: value > limit),
    "exclusiveMaximum": ("below", lambda value, limit: value < limit),
}


class _MismatchError(Exception):
    """A value is not what it must be; `place` grows from the value to the whole file."""

    def __init__(self, expected: str, found: object) -> None:
        super().__init__(expected)
        self.expected, self.found, self.place = expected, found, ""

    def within(self, step: str) -> _MismatchError:
        self.place = step + self.place
        return self


def problem_of(content: Mapping[str, Any], schema: str) -> str | None:
    """Return what is wrong with the content of a file of the schema `xlingual/NAME/1`, None where nothing is.

    Nothing is checked where the package has no such schema.
    """
    check = _check_of(schema)
    try:
        if check is not None:
            check(content)
    except _MismatchError as wrong:
        place = wrong.place.removeprefix(".")
        if wrong.found is _MISSING:
            return f"the field {place!r} is missing"
        return f"{place or 'the file'} must be {wrong.expected}, found {_shown(wrong.found)}"
    return None


@cache
def _check_of(schema: str) -> Check | None:
    path = _SCHEMAS / f"{'-'.join(schema.split('/')[1:])}.schema.json"
    if not path.is_file():
        return None
    root = json.loads(path.read_text(encoding="utf-8"))
    return _compiled(root, root.get("$defs", {}), {})


def _compiled(schema: Mapping[str, Any], definitions: Mapping[str, Any], known: dict[str, Check]) -> Check:
    """Return one function that checks a value; `known` has those of the definitions met so far."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in known:
            known[name] = lambda value: known[name](value)  # a definition may hold itself
            known[name] = _compiled(definitions[name], definitions, known)
        return lambda value: known[name](value)
    if "anyOf" in schema:
        return _any_of([_compiled(one, definitions, known) for one in schema["anyOf"]])
    checks: list[Check] = []
    if "type" in schema:
        checks.append(_type(schema["type"]))
    if "const" in schema or "enum" in schema:
        checks.append(_one_of(schema.get("enum", [schema.get("const")])))
    checks += [_limit(word, schema[word]) for word in _LIMITS if word in schema]
    if "pattern" in schema:
        checks.append(_pattern(schema["pattern"]))
    if {"minItems", "maxItems"} & set(schema):
        checks.append(_length(schema.get("minItems", 0), schema.get("maxItems", math.inf)))
    if isinstance(items := schema.get("items"), Mapping):
        checks.append(_items(_compiled(items, definitions, known)))
    if {"properties", "required", "additionalProperties"} & set(schema):
        own = {name: _compiled(one, definitions, known) for name, one in schema.get("properties", {}).items()}
        others = schema.get("additionalProperties")
        further = _compiled(others, definitions, known) if isinstance(others, Mapping) else None
        checks.append(_fields(own, schema.get("required", ()), further))
    return checks[0] if len(checks) == 1 else _all(checks)


def _all(checks: list[Check]) -> Check:
    def check(value: Any) -> None:  # noqa: ANN401  (JSON)
        for one in checks:
            one(value)

    return check


def _any_of(checks: list[Check]) -> Check:
    """Return a check that one of several must pass; where none does, the one that came deepest tells why."""

    def check(value: Any) -> None:  # noqa: ANN401  (JSON)
        failed = []
        for one in checks:
            try:
                return one(value)
            except _MismatchError as wrong:
                failed.append(wrong)
        deepest = max(failed, key=lambda wrong: len(wrong.place))
        if not deepest.place:
            raise _MismatchError(" or ".join(wrong.expected for wrong in failed), value)
        raise deepest

    return check


def _type(named: str | list[str]) -> Check:
    kinds = [_KINDS[name] for name in ([named] if isinstance(named, str) else named)]
    tests, expected = [test for _, test in kinds], " or ".join(words for words, _ in kinds)

    def check(value: Any) -> None:  # noqa: ANN401  (JSON)
        if not any(test(value) for test in tests):
            raise _MismatchError(expected, value)

    return check


def _one_of(allowed: list[Any]) -> Check:
    def check(value: Any) -> None:  # noqa: ANN401  (JSON)
        if not any(type(value) is type(one) and value == one for one in allowed):
            raise _MismatchError(" or ".join(json.dumps(one) for one in allowed), value)

    return check


def _limit(word: str, limit: float) -> Check:
    words, holds = _LIMITS[word]

    def check(value: Any) -> None:  # noqa: ANN401  (JSON)
        if _is_number(value) and not holds(value, limit):
            raise _MismatchError(f"{words} {limit:g}", value)

    return check


def _pattern(pattern: str) -> Check:
    compiled = re.compile(pattern)

    def check(value: Any) -> None:  # noqa: ANN401  (JSON)
        if isinstance(value, str) and not compiled.search(value):
            raise _MismatchError(f"text like {pattern}", value)

    return check


def _length(least: float, most: float) -> Check:
    def check(value: Any) -> None:  # noqa: ANN401  (JSON)
        if isinstance(value, list) and not least <= len(value) <= most:
            raise _MismatchError(_of_length(least, most), value)

    return check


def _of_length(least: float, most: float) -> str:
    if least == most:
        return f"a list of {least:g} values"
    return f"a list of at least {least:g}" if most == math.inf else f"a list of {least:g} to {most:g} values"


def _items(one: Check) -> Check:
    def check(value: Any) -> None:  # noqa: ANN401  (JSON)
        if isinstance(value, list):
            for number, item in enumerate(value):
                try:
                    one(item)
                except _MismatchError as wrong:
                    raise wrong.within(f"[{number}]") from None

    return check


def _fields(own: Mapping[str, Check], required: list[str], further: Check | None) -> Check:
    def check(value: Any) -> None:  # noqa: ANN401  (JSON)
        if not isinstance(value, dict):
            return
        for name in required:
            if name not in value:
                raise _MismatchError("", _MISSING).within(f".{name}")
        for name, item in value.items():
            one = own.get(name, further)
            if one is not None:
                try:
                    one(item)
                except _MismatchError as wrong:
                    raise wrong.within(f".{name}") from None

    return check


_MISSING = object()


def _is_number(value: object) -> bool:
    """Tell whether a value is a number, and one that can be added and squared without overflow."""
    return not isinstance(value, bool) and isinstance(value, int | float) and abs(value) < _MOST


def _shown(found: object) -> str:
    if isinstance(found, dict | list):
        return f"{_KINDS['object' if isinstance(found, dict) else 'array'][0]} of {len(found)}"
    if isinstance(found, int | float) and _MOST_WHOLE <= abs(found) < math.inf:
        return "a number that is too large"
    text = json.dumps(found, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"
