"""From specs to systems by name: encoders, and systems that return lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeAlias

from xlingual import encoders
from xlingual.data.runs import SearchRun
from xlingual.encoders import Encoder, EncoderLike, Spec
from xlingual.encoders.registry import check, entries, read_options, returns_lists
from xlingual.encoders.scheme import LISTS
from xlingual.errors import InputError
from xlingual.hidden import shown
from xlingual.records import Texts
from xlingual.systems.base import ListSystem
from xlingual.systems.made_of import check_parts
from xlingual.systems.run import RunSystem

SystemLike: TypeAlias = "EncoderLike | SearchRun | ListSystem"


def systems(
    specs: Sequence[SystemLike] | Mapping[str, SystemLike] | SystemLike,
    *,
    languages: Sequence[str],
    role_languages: Mapping[str, Sequence[str]] | None = None,
    fit_texts: Callable[[str], Texts] | None = None,
) -> dict[str, Encoder | ListSystem]:
    """Return name → encoder or system that returns lists, in the order of `specs`.

    Arguments are those of `encoders.text_encoders`; a `SearchRun` is a system too, and so are specs such as
    run:FILE.
    """
    found = _with_parts(entries(specs, languages), languages)
    lists = {name: _system(one) for name, one in found.items() if returns_lists(one)}
    given = {name: str(one) if isinstance(one, Spec) else one for name, one in found.items()}
    made: dict[str, Encoder] = {}
    if len(lists) < len(found):
        made = encoders.text_encoders(
            {name: one for name, one in given.items() if name not in lists},
            languages=languages,
            role_languages=role_languages,
            fit_texts=fit_texts,
        )
    both = {name: lists[name] if name in lists else made[name] for name in found}
    check_parts(both)
    return both


def _with_parts(found: Mapping[str, Any], languages: Sequence[str]) -> dict[str, Any]:
    """Return the entries with those that stand after :: of others, as systems with names of their own.

    A bare name there is that of an entry, if there is one.
    """
    every: dict[str, Any] = {}
    for name, one in found.items():
        if not isinstance(one, Spec) or not returns_lists(one) or one.base is None:
            every[name] = one
            continue
        below, part = one.base, one.base.scheme
        if below != Spec(None, part) or part not in found:
            ((part, spec),) = entries([str(below)], languages).items()
            if {**found, **every}.get(part, spec) != spec:
                raise InputError(
                    f"two systems are named {part!r}: give the one that {name!r} stands on another name, "
                    f"::{part}-2={shown(str(below))}"
                )
            if part not in found:
                every[part] = spec
        every[name] = replace(one, options=(*one.options, ("over", part)), base=None)
    return every


def _system(one: object) -> ListSystem:
    if isinstance(one, ListSystem):
        return one
    if isinstance(one, SearchRun):
        return RunSystem(one)
    assert isinstance(one, Spec)
    scheme = check(one, LISTS)
    made: ListSystem = import_module(scheme.module).build(one.argument, read_options(one, scheme))
    return made
