"""The places `{lang}`, `{role}` and `{field}` in the path of files of vectors, and what stands in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

ROLES = {"query": "questions", "candidate": "candidates"}  # role of a text → what stands for {role}

FIELD = "{field}"  # stands for the field of a text that is encoded: "title", "body"

Place: TypeAlias = tuple[str, str | None]  # language, role of a text; "" and None where a path has no place


def places(
    pattern: str, languages: Sequence[str], role_languages: Mapping[str, Sequence[str]] | None = None
) -> list[Place]:
    """Return the places of a pattern of which each has a file, by language in the order given.

    `role_languages` tells which languages the texts of each role are in: where the pattern tells roles apart,
    there is no file for a language without texts in a role. Without it every role has all languages.
    """
    roles = tuple(ROLES) if "{role}" in pattern else (None,)
    if "{lang}" not in pattern:
        return [("", role) for role in roles]
    return [
        (language, role)
        for language in dict.fromkeys(languages)
        for role in roles
        if role is None or role_languages is None or language in role_languages.get(role, languages)
    ]


def language_at_end(name: str, languages: Sequence[str]) -> str | None:
    """Return which of the languages a name is, or ends in after one of `. _ -`; None where none."""
    ends = (tag for tag in languages if name == tag or name.endswith(tuple(mark + tag for mark in "._-")))
    return max(ends, key=len, default=None)


def filled(pattern: str, place: Place) -> str:
    """Return the path of a place."""
    language, role = place
    return pattern.replace("{lang}", language).replace("{role}", ROLES.get(role or "", ""))


def fields_there(pattern: str) -> list[str]:
    """Return the fields of which a pattern with `{field}` and no other place has files, sorted."""
    path = Path(pattern)
    at = next((i for i, part in enumerate(path.parts) if FIELD in part), None)
    if at is None:
        return []
    folder = Path(*path.parts[:at])
    before, _, after = path.parts[at].partition(FIELD)
    found = []
    for other in folder.iterdir() if folder.is_dir() else ():
        name = other.name[len(before) : len(other.name) - len(after)]
        fits = other.name == f"{before}{name}{after}" and name
        if fits and Path(pattern.replace(FIELD, name)).is_file():
            found.append(name)
    return sorted(found)
