"""Schemes of other packages, found through the entry-point group `xlingual.encoders`.

A package lists `NAME = "package.module:object"` in that group, where the object is a `Scheme` called NAME or
a function without parameters that returns one. The list of installed packages is read only where a spec names
a scheme that is none of the built-in ones, or where all schemes are to be listed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xlingual.encoders.scheme import IMAGES, OVER, TEXTS, Scheme
from xlingual.encoders.schemes import SCHEMES
from xlingual.errors import InputError, XlingualError, did_you_mean, warn
from xlingual.extras import EXTRAS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "xlingual.encoders"
_NAME = re.compile(r"[A-Za-z][\w+-]+")  # what a spec can name; a path has other signs, or a suffix


@dataclass(frozen=True)
class Plugin:
    """A scheme that an installed package offers; `problem` says why it cannot be used."""

    name: str
    package: str  # name and version
    scheme: Scheme | None
    problem: str | None = None


class Known(Collection[str]):
    """The names of all schemes; other packages are looked at only for a word that is not built in."""

    def __contains__(self, name: object) -> bool:
        could_be = isinstance(name, str) and _NAME.fullmatch(name) is not None
        return name in SCHEMES or (could_be and name in self._others)

    def __iter__(self) -> Iterator[str]:
        return iter([*SCHEMES, *self._others])

    def __len__(self) -> int:
        return len(SCHEMES) + len(self._others)

    @cached_property
    def _others(self) -> Collection[str]:
        return [name for name in _found() if name not in SCHEMES and _NAME.fullmatch(name)]


def plugins() -> list[Plugin]:
    """Return what all installed packages offer, each loaded; broken ones with their problem."""
    return [_plugin(name, entries) for name, entries in sorted(_found().items())]


def scheme_of(name: str) -> Scheme:
    """Return a scheme, built in or of an installed package; raise InputError where it cannot be used."""
    if name in SCHEMES:
        return SCHEMES[name]
    entries = _found().get(name)
    if not entries:
        raise InputError(f"unknown scheme {name!r}.{did_you_mean(name, Known())}")
    plugin = _plugin(name, entries)
    if plugin.scheme is None:
        raise InputError(f"{name}: is a scheme of {plugin.package}, but {plugin.problem}")
    return plugin.scheme


def package_of(name: str) -> str:
    """Return the name and version of the package that offers a scheme."""
    return " and ".join(dict.fromkeys(map(_package, _found()[name])))


def _found() -> Mapping[str, list[EntryPoint]]:
    """Return name → entry points of that name."""
    from importlib.metadata import entry_points

    try:
        entries = list(entry_points(group=GROUP))
    except Exception:  # one package with a damaged list of entry points spoils them all
        entries = _one_by_one()
    found: dict[str, list[EntryPoint]] = {}
    for entry in dict.fromkeys(entries):
        found.setdefault(entry.name, []).append(entry)
    return found


def _one_by_one() -> list[EntryPoint]:
    """Return the entry points of all packages whose list can be read; warn of the others."""
    from importlib.metadata import distributions

    found: dict[str, list[EntryPoint]] = {}
    for package in distributions():
        name = "?"
        try:
            name = package.metadata["Name"]
            entries = [entry for entry in package.entry_points if entry.group == GROUP]
        except Exception as error:
            warn(
                f"the entry points of the installed package {name} cannot be read ({in_words(error)}): "
                "schemes that it may offer are not known"
            )
        else:
            found.setdefault(name, entries)  # the first on the path is the one that is imported
    return [entry for entries in found.values() for entry in entries]


def _plugin(name: str, entries: list[EntryPoint]) -> Plugin:
    scheme: Any = None
    if name in SCHEMES:
        problem: str | None = "a built-in scheme has this name; its author must choose another"
    elif not _NAME.fullmatch(name):
        problem = "no spec can name it: letters, digits, _, + and - only"
    elif len(entries) > 1:
        problem = "several packages offer it; uninstall all but one"
    else:
        try:
            scheme = entries[0].load()
            if callable(scheme) and not isinstance(scheme, Scheme | type):
                scheme = scheme()
            problem = _problem(name, scheme)
        except (Exception, SystemExit) as error:
            problem = f"loading it failed: {in_words(error)}"
    return Plugin(name, package_of(name), None if problem else scheme, problem)


def _problem(name: str, scheme: object) -> str | None:
    """Return why the object that an entry point names is no usable scheme; None where it is one."""
    if not isinstance(scheme, Scheme):
        return f"its entry point names {type(scheme).__name__}, not an xlingual.encoders.Scheme"
    if scheme.name != name:
        return f"its entry point names the scheme {scheme.name!r}: both names must be the same"
    if not scheme.takes or not set(scheme.takes) <= {TEXTS, IMAGES}:
        return f"its `takes` is {scheme.takes!r}; expected 'texts', 'images' or both, in a tuple"
    if scheme.over not in OVER:
        return f"its `over` is {scheme.over!r}; expected {', '.join(map(repr, OVER))}"
    if scheme.extra is not None and scheme.extra not in EXTRAS:
        return f"its `extra` is {scheme.extra!r}, which is no extra of xlingual"
    return None


def _package(entry: EntryPoint) -> str:
    try:
        return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unknown package"
    except Exception:  # a package without a name or version
        return "an unknown package"


def in_words(error: BaseException) -> str:
    """Return an error on one line: its kind, and what it says."""
    message = " ".join(str(error).split())
    if isinstance(error, XlingualError):
        return message
    return f"{type(error).__name__}: {message}".removesuffix(": ")
