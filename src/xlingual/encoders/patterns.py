"""Patterns of files of vectors: the places `{lang}`, `{role}`, `{field}`, and `*` for several encoders."""

from __future__ import annotations

import glob
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from xlingual.encoders.vectorfile import SUFFIXES, placeholder_hint
from xlingual.errors import InputError, listed

ROLES = {"query": "questions", "candidate": "candidates"}  # role of a text → the word in place of {role}
FIELD = "{field}"  # stands for the field of a text that is encoded: "title", "body"
Place: TypeAlias = tuple[str, str | None]  # language, role of a text; "" and None where a path has no place


def places(
    pattern: str, languages: Sequence[str], role_languages: Mapping[str, Sequence[str]] | None = None
) -> list[Place]:
    """Return the places of a pattern that each have a file, by language in the order given.

    `role_languages` says which languages the texts of each role are in: where the pattern has `{role}`,
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
    """Return the fields for which a pattern with `{field}` and no other place has files, sorted."""
    path = Path(pattern)
    at = next((i for i, part in enumerate(path.parts) if FIELD in part), None)
    if at is None:
        return []
    folder = Path(*path.parts[:at])
    before, _, after = path.parts[at].partition(FIELD)
    fits = re.compile(f"{re.escape(before)}(.+){re.escape(after)}", re.DOTALL)
    matches = (fits.fullmatch(other.name) for other in (folder.iterdir() if folder.is_dir() else ()))
    names = (match[1] for match in matches if match)
    return sorted(name for name in names if Path(pattern.replace(FIELD, name)).is_file())


def expand(
    pattern: str,
    languages: Sequence[str],
    role_languages: Mapping[str, Sequence[str]] | None = None,
    *,
    of_texts: bool = True,
) -> dict[str, str]:
    """Return name → pattern without stars, sorted by name; `{lang}` and `{role}` are kept.

    `role_languages` says which languages the texts of a role are in, where not all in each. Several stars
    are joined by `-` in the name. A star stays within one folder. Raises InputError where nothing matches, a
    name lacks a file, two matches have one name, or a file `of_texts` of one language would serve all.
    """
    pattern = re.sub(r"\*+", "*", pattern)
    found: dict[tuple[str, ...], str] = {}
    wanted = places(pattern, languages, role_languages)
    first, *rest = pattern.split("*")
    for stars in (stars for place in wanted for stars in _matches(filled(pattern, place))):
        # their matches stand in the places of the stars
        found[stars] = first + "".join(star + part for star, part in zip(stars, rest, strict=True))
    if not found:
        raise InputError(
            f"vectors:{pattern}: no file matches for the languages {', '.join(languages)}: correct "
            f"the path; a star stands for part of one name, {{lang}} for a language."
            f"{placeholder_hint(pattern)}"
        )
    named: dict[str, str] = {}
    for stars, path in sorted(found.items(), key=lambda pair: "-".join(pair[0])):
        name = "-".join(stars)
        if name in named:
            raise InputError(f"vectors:{pattern}: {named[name]} and {path} would both be named {name!r}")
        named[name] = path
        for variant in (filled(path, place) for place in wanted):
            if not Path(variant).is_file():
                raise InputError(
                    f"vectors:{pattern}: {variant} is missing, which {name!r} needs for the languages "
                    f"{', '.join(languages)}: add it, or write a narrower pattern"
                )
    if of_texts:
        _refuse_languages(pattern, named, languages)
    return named


def _refuse_languages(pattern: str, named: Collection[str], languages: Sequence[str]) -> None:
    """Raise InputError where a star stands in the place of the language: each match would serve them all."""
    if "{lang}" in pattern or len(set(languages)) < 2:
        return
    if len(set(named) & set(languages)) > 1:
        right = pattern.replace("*", "{lang}") if pattern.count("*") == 1 else "{lang} in its place"
        raise InputError(
            f"vectors:{pattern}: the star matches languages ({listed(named)}) and would give one encoder for "
            f"each: write {right}, or name each file to serve all languages"
        )
    for name in named:
        language = language_at_end(name, languages)
        if language is not None and name != language:
            general = name.removesuffix(language) + "{lang}"
            right = pattern.replace("*", general) if pattern.count("*") == 1 else f"{general} in its place"
            raise InputError(
                f"vectors:{pattern}: the star matches {name!r}, by its name the vectors of the language "
                f"{language}, but it would be used for all languages: write {right}, or rename the file if "
                "it has vectors of all languages"
            )


def _matches(variant: str) -> list[tuple[str, ...]]:
    """Return what the stars matched, for each file of vectors that the pattern matches."""
    parts = variant.split("*")
    stars = re.compile("([^/]*)".join(map(re.escape, parts)))
    paths = glob.glob("*".join(map(glob.escape, parts)))
    files = [path for path in paths if path.endswith(SUFFIXES) and Path(path).is_file()]
    found = (stars.fullmatch(path.replace("\\", "/") if "\\" not in variant else path) for path in files)
    return [match.groups() for match in found if match]
