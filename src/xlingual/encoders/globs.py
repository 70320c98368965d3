"""A `*` in `vectors:` stands for several encoders, one per match, named by what the star matched."""

from __future__ import annotations

import glob
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from xlingual.encoders.nearby import fitting
from xlingual.encoders.placeholders import filled, language_at_end, places
from xlingual.encoders.vectorfile import SUFFIXES, placeholder_hint
from xlingual.errors import InputError, listed


def expand(
    pattern: str,
    languages: Sequence[str],
    role_languages: Mapping[str, Sequence[str]] | None = None,
    *,
    of_texts: bool = True,
) -> dict[str, str]:
    """Return name → pattern without stars, sorted by name; `{lang}` and `{role}` are kept.

    `role_languages` tells which languages the texts of a role are in, where not all in each. Several stars
    are joined by `-` in the name. A star stays within one folder. Raises InputError where nothing matches, a
    name lacks a file, two matches have one name, or a file `of_texts` of one language would serve all.
    """
    pattern = re.sub(r"\*+", "*", pattern)
    found: dict[tuple[str, ...], str] = {}
    wanted = places(pattern, languages, role_languages)
    for variant in (filled(pattern, place) for place in wanted):
        for stars in _matches(variant):
            found.setdefault(stars, _starless(pattern, stars))
    if not found:
        raise InputError(
            f"vectors:{pattern}: no file matches for the languages {', '.join(languages)}: correct "
            f"the path; a star stands for part of one name, {{lang}} for a language."
            f"{placeholder_hint(pattern) or fitting(pattern, languages, role_languages)}"
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
                f"{language}, which would serve all languages: write {right}, or rename a file that has "
                "vectors of all"
            )


def _matches(variant: str) -> list[tuple[str, ...]]:
    """Return what the stars matched, for each file of vectors that the pattern matches."""
    parts = variant.split("*")
    stars = re.compile("([^/]*)".join(map(re.escape, parts)))
    paths = glob.glob("*".join(map(glob.escape, parts)))
    files = (path for path in paths if path.endswith(SUFFIXES) and Path(path).is_file())
    found = (stars.fullmatch(path.replace("\\", "/") if "\\" not in variant else path) for path in files)
    return [match.groups() for match in found if match]


def _starless(pattern: str, stars: tuple[str, ...]) -> str:
    """Put what the stars matched in their places."""
    first, *rest = pattern.split("*")
    return first + "".join(star + part for star, part in zip(stars, rest, strict=True))
