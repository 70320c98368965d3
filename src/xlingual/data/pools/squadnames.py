"""Which language a SQuAD-style file is in, told by its name or by `LANG=FILE`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from xlingual.errors import InputError, listed

# Stricter than elsewhere: file names are full of short words.
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
_WORDS = {"dev", "val", "all", "new", "old", "raw", "out", "qa", "of", "to", "the", "set"}  # and no language


def squad_files(given: Sequence[str | Path]) -> list[tuple[str, Path]]:
    """Return (language, file) for files, `LANG=FILE`, and folders, which count as all their `*.json`.

    Raise InputError where a file is missing, its language cannot be told, or two are in one language.
    """
    found: list[tuple[str, Path]] = []
    for word in given:
        language, path = _named(str(word))
        if path.is_dir() and language is None:
            found += [(language_of(file), file) for file in json_files(path)]
        elif not path.is_file():
            raise InputError(f"{path}: no such file: give SQuAD-style JSON files, or a folder of them")
        else:
            found.append((language or language_of(path), path))
    if not found:
        raise InputError("no file is given: give SQuAD-style JSON files, or a folder of them")
    first: dict[str, Path] = {}
    for language, path in found:
        if language in first:
            raise InputError(
                f"{first[language]} and {path} are both in {language!r}: give one file for each language, "
                "or say LANG=FILE"
            )
        first[language] = path
    return found


def json_files(folder: Path) -> list[Path]:
    """Return the `*.json` of a folder by name; raise InputError where it has none."""
    files = sorted(path for path in folder.glob("*.json") if path.is_file())
    if not files:
        raise InputError(f"{folder} holds no *.json: give SQuAD-style files, one for each language")
    return files


def language_of(path: Path) -> str:
    """Return the language that a file's name tells; raise InputError where it tells none or several.

    It is the stem if that is a language tag (`zh-Hant.json`), else the one tag among its pieces between dots
    and hyphens (`xquad.ar.json`, `dev-context-ar-question-ar.json`).
    """
    if is_tag(path.stem):
        return path.stem
    pieces = [piece for part in path.stem.split(".") for piece in _pieces(part)]
    short = {piece for piece in pieces if is_tag(piece) and (len(piece) != 3 or piece == pieces[-1])}
    if len(short) == 1:
        return short.pop()
    what = f"several ({listed(sorted(short))})" if short else "none"
    raise InputError(f"{path}: its name should tell one language but tells {what}: write LANG={path}")


def is_tag(word: str) -> bool:
    """Return whether a word of a file name is a language tag."""
    return _TAG.fullmatch(word) is not None and word.split("-")[0].lower() not in _WORDS


def _pieces(part: str) -> list[str]:
    return [part] if is_tag(part) else part.split("-")


def _named(word: str) -> tuple[str | None, Path]:
    """Return the language and the path of `LANG=FILE`; a file whose own name holds "=" is found as it is."""
    language, sign, path = word.partition("=")
    if sign and is_tag(language) and not Path(word).exists():
        return language, Path(path)
    return None, Path(word)
