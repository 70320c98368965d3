"""Values of fields: whether they are what a field wants, and what it wants in words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

import msgspec
from msgspec import Meta, inspect

from xlingual.errors import InputError, did_you_mean, listed

Natural: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]

_LIMITS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def check(name: str, value: Any, wanted: Any, *, hidden: bool = False) -> Any:  # noqa: ANN401
    """Return a value as the type that a field wants; raise InputError, which names it, where it is none.

    `hidden`: the error does not show the value.
    """
    try:
        found = msgspec.convert(value, wanted, dec_hook=_made)
    except msgspec.ValidationError:
        found = msgspec.UNSET
    if found is msgspec.UNSET or not _finite(found):
        shown = "" if hidden else f": found {value!r:.60}"
        near = did_you_mean(value, choices(wanted)) if isinstance(value, str) and not hidden else ""
        raise InputError(f"{name} must be {expected(wanted)}{shown}{'.' if near else ''}{near}")
    return found


def expected(wanted: Any) -> str:  # noqa: ANN401
    """Return what a type takes, in words: "a whole number of at least 1".

    >>> expected(int | None)
    'a whole number or "none"'
    """
    return _words(inspect.type_info(wanted))


def parts(wanted: Any) -> list[inspect.Type]:  # noqa: ANN401
    """Return the types that a field may have, without the descriptions around them."""
    info = inspect.type_info(wanted)
    while isinstance(info, inspect.Metadata):
        info = info.type
    return list(info.types) if isinstance(info, inspect.UnionType) else [info]


def may_be_none(wanted: Any) -> bool:  # noqa: ANN401
    """Return whether the text "none" means nothing: where a field may have none, and takes no other text."""
    kinds = parts(wanted)
    texts = (inspect.StrType, inspect.CustomType)
    return any(isinstance(kind, inspect.NoneType) for kind in kinds) and not any(
        isinstance(kind, texts) for kind in kinds
    )


def choices(wanted: Any) -> list[str]:  # noqa: ANN401
    """Return the words that a field takes, in their order; none where it takes others too.

    >>> choices(Literal["holm", "bh"] | None)
    ['holm', 'bh']
    """
    if get_origin(wanted) is Literal:
        return [str(word) for word in get_args(wanted)]
    return [word for part in get_args(wanted) for word in choices(part)]


def _words(info: inspect.Type) -> str:
    match info:
        case inspect.Metadata(type=inner):
            return _words(inner)
        case inspect.UnionType(types=types):
            return " or ".join(_words(kind) for kind in types)
        case inspect.LiteralType(values=words):
            return f"one of {listed(words, 20)}"
        case inspect.IntType():
            return f"a whole number{_limits(info)}"
        case inspect.FloatType():
            return f"a number{_limits(info)}"
        case inspect.BoolType():
            return "true or false"
        case inspect.NoneType():
            return '"none"'
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            return f"a list, each {_words(item)}"
        case inspect.TupleType(item_types=items):
            return f"a list of {len(items)}"
        case inspect.DictType(value_type=value):
            return f"a table, each {_words(value)}"
    return "a path" if isinstance(info, inspect.CustomType) and info.cls is Path else "a text"


def _limits(info: inspect.IntType | inspect.FloatType) -> str:
    told = [
        f"{word} {limit:g}" for name, word in _LIMITS.items() if (limit := getattr(info, name)) is not None
    ]
    return f", {' and '.join(told)}" if told else ""


def _finite(value: Any) -> bool:  # noqa: ANN401
    return not isinstance(value, float) or math.isfinite(value)


def _made(kind: type, value: Any) -> Any:  # noqa: ANN401
    """Make what msgspec does not know: a path of its text."""
    if kind is Path and isinstance(value, (str, Path)):
        return Path(value)
    raise TypeError(f"{value!r} is no {kind.__name__}")


def comma_list(text: str) -> list[str]:
    """Return the words of "en,de", without blanks around them.

    >>> comma_list("en, de,")
    ['en', 'de']
    """
    return [word.strip() for word in text.split(",") if word.strip()]
