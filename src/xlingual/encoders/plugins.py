"""Schemes of other packages, found through the entry-point group `xlingual.encoders`.

A package lists `NAME = "package.module:object"` in that group, where the object is a `Scheme` called NAME.
The list of installed packages is read only where a spec names a scheme that is none of the built-in ones, or
where all schemes are to be listed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from xlingual.encoders.scheme import Scheme
from xlingual.encoders.schemes import SCHEMES
from xlingual.errors import InputError, XlingualError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_NAME = re.compile(r"[A-Za-z][\w+-]+")  # what a spec can name; a path has other signs, or a suffix


class Known(Collection[str]):
    """The names of all schemes; other packages are looked at only for a word that is not built in."""

    def __contains__(self, name: object) -> bool:
        could_be = isinstance(name, str) and _NAME.fullmatch(name) is not None
        return name in SCHEMES or (could_be and name in plugins())

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*SCHEMES, *plugins()]))

    def __len__(self) -> int:
        return len(list(iter(self)))


def plugins() -> dict[str, EntryPoint]:
    """Return what installed packages offer, by name; built-in names stay what they are."""
    from importlib.metadata import entry_points

    found = entry_points(group="xlingual.encoders")
    return {entry.name: entry for entry in found if entry.name not in SCHEMES}


def scheme_of(name: str) -> Scheme:
    """Return a scheme, built in or of an installed package; raise InputError where it cannot be used."""
    if name in SCHEMES:
        return SCHEMES[name]
    if (entry := plugins().get(name)) is None:
        raise InputError(f"unknown scheme {name!r}.{did_you_mean(name, Known())}")
    try:
        scheme = entry.load()
    except (Exception, SystemExit) as error:
        raise InputError(f"{name}: loading the plug-in {entry.value} failed: {in_words(error)}") from error
    if not isinstance(scheme, Scheme) or scheme.name != name:
        raise InputError(f"{name}: the plug-in {entry.value} is no xlingual.encoders.Scheme of that name")
    return scheme


def in_words(error: BaseException) -> str:
    """Return an error on one line: its kind, and what it says."""
    message = " ".join(str(error).split())
    if isinstance(error, XlingualError):
        return message
    return f"{type(error).__name__}: {message}".removesuffix(": ")
