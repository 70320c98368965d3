"""The parts of a suite's file: tables, texts and lists, each checked where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xlingual.errors import InputError, did_you_mean, listed

_NAME = re.compile(r"\w[\w.-]*")


def refuse_unknown(given: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    """Raise InputError for a key that is not known; it names the nearest one."""
    for name in given:
        if name not in known:
            raise InputError(
                f"{where}: unknown key {name!r}.{did_you_mean(name, known)} Known: {listed(known, 40)}"
            )


def text(content: Mapping[str, Any], name: str, where: str) -> str:
    """Return a text, "" where it is not given."""
    value = content.get(name, "")
    if not isinstance(value, str):
        raise InputError(f"{where}: {name} must be a text, found {value!r:.60}")
    return value


def table(content: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    """Return a table, empty where it is not given; a list of specs stands under the name ""."""
    value = content.get(name, {})
    if name in ("encoders", "runs") and isinstance(value, list):
        return {"": value}
    if not isinstance(value, dict):
        raise InputError(f"{where}: {name} must be a table [{name}], found {value!r:.60}")
    return value


def named_tables(
    tables: Mapping[str, Any], name: str, where: str, least: int = 1
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the tables in a table by name; each name is that of a folder."""
    found = tables[name]
    if len(found) < least:
        raise InputError(f"{where} has no [{name}.NAME]: write one table for each")
    for called, part in found.items():
        if not isinstance(part, dict):
            raise InputError(
                f"{where}: [{name}] has {called!r} outside a table: write [{name}.NAME] above it"
            )
        if not _NAME.fullmatch(called):
            raise InputError(
                f"{where}: [{name}.{called!r}] is to be a folder: take letters, digits, '.', '-' and '_'"
            )
        yield called, part


def systems(given: Any, where: str, what: str) -> Iterator[str]:  # noqa: ANN401
    """Yield specs with their names, from a table of these or a list."""
    if isinstance(given, list):
        yield from words(given, what, where)
        return
    if not isinstance(given, dict):
        raise InputError(
            f"{where}: {what} must be a table NAME = SPEC or a list of specs, found {given!r:.60}"
        )
    for name, spec in given.items():
        if not name:
            yield from words(spec, what, where)
        elif not isinstance(spec, str):
            raise InputError(
                f'{where}: {what} has {name} = {spec!r:.60}: write NAME = SPEC, such as lsa = "st:MODEL"'
            )
        else:
            yield f"{name}={spec}"


def words(given: Any, what: str, where: str) -> list[str]:  # noqa: ANN401
    """Return a list of texts; one text stands for a list of it."""
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise InputError(f"{where}: {what} must be a list of texts, found {given!r:.60}")
    return found


def plain(name: str) -> str:
    """Return the name of an option with _ for -."""
    return name.replace("-", "_")
