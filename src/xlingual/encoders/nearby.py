"""Which patterns fit the files of vectors that are there, for messages about one that does not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from xlingual.encoders.placeholders import ROLES, filled, places
from xlingual.encoders.vectorfile import SUFFIXES

_MEANING = {"{role}": "questions or candidates", "{lang}": "the language of a text"}
_MOST = 2  # patterns that are named


def fitting(
    pattern: str, languages: Sequence[str], role_languages: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return " The files there fit …" for patterns in the same folder of which every file exists, or "".

    `role_languages` as in `places`; without it, and without `{role}` in the pattern, there are no roles.
    Patterns are those that the names of the files give when a language and a role in them stand for all; with
    a star in `pattern`, what stands before them is a star too.
    """
    folder = Path(pattern).parent
    try:
        names = sorted(path.name for path in folder.iterdir() if path.suffix in SUFFIXES)
    except OSError:
        return ""
    roles = tuple(ROLES.values()) if role_languages is not None or "{role}" in pattern else ()
    found: dict[str, None] = {}
    for name in names:
        general = _general(_general(name, roles, "{role}"), languages, "{lang}")
        if "{" not in general or (roles and "{role}" not in general):
            continue
        wanted = [filled(general, place) for place in places(general, languages, role_languages)]
        if all((folder / variant).is_file() for variant in wanted):
            found[re.sub(r"^[^{]+(?=[._-]\{)", "*", general) if "*" in pattern else general] = None
    given = Path(pattern).name
    near = sorted(found, key=lambda name: -SequenceMatcher(None, given, name).ratio())
    if not near or given in near:
        return ""
    named = " or ".join(f"vectors:{folder / name}" for name in near[:_MOST])
    new = [mark for mark in _MEANING if mark in near[0] and mark not in given]
    meaning = " and ".join(f"{mark} for {_MEANING[mark]}" for mark in new)
    return f" The files there fit {named}" + (f" ({meaning})" if meaning else "")


def _general(name: str, words: Sequence[str], mark: str) -> str:
    """Return a file's name with the last of the words in it, as a part of its own, replaced by the mark."""
    either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    found = list(re.finditer(rf"(?<![^._-])(?:{either})(?=[._-])", name)) if either else []
    return name if not found else name[: found[-1].start()] + mark + name[found[-1].end() :]
