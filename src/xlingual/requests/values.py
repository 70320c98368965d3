"""Values of fields: checks against a field's type, and the types that many fields share."""

from __future__ import annotations

import math
import re
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from msgspec import Meta, inspect

from xlingual.errors import InputError
from xlingual.typed import convert

Natural: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
TwoOrMore: TypeAlias = Annotated[int, Meta(ge=2)]
AboveZero: TypeAlias = Annotated[float, Meta(gt=0)]
AtLeastZero: TypeAlias = Annotated[float, Meta(ge=0)]
Dropout: TypeAlias = Annotated[float, Meta(ge=0, le=0.99)]
Share: TypeAlias = Annotated[float, Meta(gt=0, lt=1)]


def check(name: str, value: Any, wanted: Any, where: str = "", *, hidden: bool = False) -> Any:  # noqa: ANN401
    """Return a value as the type of its field; raise InputError, which names the field, where it has another.

    `hidden`: the error does not show the value.
    """
    value = plain(value)
    if value is not None:  # an error need not say that none would do
        wanted = _something(wanted)
    try:
        found = convert({name: value}, dict[str, wanted], where=where)[name]
    except InputError:
        if hidden:
            raise InputError(f"{name} is not what it must be") from None
        raise
    if isinstance(found, float) and not math.isfinite(found):
        raise InputError(f"{where}{': ' if where else ''}{name} must be a number, found {found}")
    return found


def plain(value: Any) -> Any:  # noqa: ANN401
    """Convert a NumPy number, or those in a list or tuple, to Python's; any other value stays as it is."""
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    is_number = hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "shape", None) == ()
    return value.item() if is_number else value


def _something(wanted: Any) -> Any:  # noqa: ANN401
    """Return the type without None."""
    inner = get_args(wanted)[0] if get_origin(wanted) is Annotated else wanted
    if get_origin(inner) not in (Union, UnionType):
        return wanted
    return reduce(or_, (kind for kind in get_args(inner) if kind is not NoneType))


def parts(wanted: Any) -> list[inspect.Type]:  # noqa: ANN401
    """Return the types that a field may have, without the descriptions around them."""
    info = inspect.type_info(wanted)
    while isinstance(info, inspect.Metadata):
        info = info.type
    return list(info.types) if isinstance(info, inspect.UnionType) else [info]


def may_be_none(wanted: Any) -> bool:  # noqa: ANN401
    """Return whether the text "none" means None: where a field may be None, and takes no other text."""
    kinds = {type(kind) for kind in parts(wanted)}
    return inspect.NoneType in kinds and not kinds & {inspect.StrType, inspect.CustomType}


def choices(wanted: Any) -> list[str]:  # noqa: ANN401
    """Return the words that a field takes, in their order; none where it takes others too.

    >>> choices(Literal["holm", "bh"] | None)
    ['holm', 'bh']
    """
    if get_origin(wanted) is Literal:
        return [str(word) for word in get_args(wanted)]
    return [word for part in get_args(wanted) for word in choices(part)]


def pair_list(text: str) -> list[str]:
    """Return the language pairs of "en-de, de-en", with commas or blanks between."""
    return [name for name in re.split(r"[,\s]+", text) if name]


def comma_list(text: str) -> list[str]:
    """Return the words of "en,de", without blanks around them.

    >>> comma_list("en, de,")
    ['en', 'de']
    """
    return [word.strip() for word in text.split(",") if word.strip()]


def two_languages(text: str) -> list[str]:
    """Return the two languages of "en,zh"."""
    named = comma_list(text)
    if len(named) != 2:
        raise InputError(f"--picture {text}: name two languages, such as en,zh")
    return named


def number_all_or_file(text: str) -> int | str:
    """Return a number of at least 1, "all", or the name of a file."""
    return number_or_all(text) if text.lstrip("+-").isdecimal() else text


def number_or_all(text: str) -> int | str:
    """Return a number of at least 1, or "all"."""
    if text == "all":
        return text
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise InputError(f"{text!r} is neither a number of at least 1 nor 'all'")
