"""What a user's function or method wants to be given: a batch, or a list of strings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from xlingual.records import Images, Texts


def takes_strings(function: Callable[..., Any]) -> bool | None:
    """Return whether the first parameter is annotated as strings, or (False) as a batch; None: not said.

    >>> def encode(sentences: list[str]): ...
    >>> takes_strings(encode)
    True
    """
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [one for one in parameters_of(function) or () if one.kind in by_place]
    if not named or named[0].annotation is named[0].empty:
        return None
    if is_batch(named[0].annotation):
        return False
    annotation = named[0].annotation
    words = (
        annotation if isinstance(annotation, str) else f"{getattr(annotation, '__name__', '')} {annotation}"
    )
    return True if re.search(r"\bstr\b", words) else None


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return the parameters of a function, annotations as objects where possible; None if unknown."""
    for as_objects in (True, False):
        with suppress(Exception):  # annotations in quotes may hold, and raise, anything
            return list(inspect.signature(function, eval_str=as_objects).parameters.values())
    return None


def is_batch(annotation: object) -> bool:
    """Return whether a parameter is annotated `Texts` or `Images`, as a class or as a word."""
    if isinstance(annotation, str):  # imported for type checkers only
        names = (word.strip(" '\"").rpartition(".")[2] for word in annotation.split("|"))
        return any(name in ("Texts", "Images") for name in names)
    return any(kind in (Texts, Images) for kind in getattr(annotation, "__args__", (annotation,)))
