"""What a leaderboard is made from: folders of results, and folders of such folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xlingual.comparison.references import Reference, SeveralGiven, as_references, read_folders
from xlingual.errors import InputError
from xlingual.results import Results

_FILE = "results.json"
_DEEPEST = 3  # folders between the one that is given and a result in it


@dataclass(frozen=True)
class Given:
    """A result, under a name that no other has, and the one encoder of it that was named, if one was."""

    name: str
    folder: Path
    results: Results
    encoder: str | None = None


def read_given(results: SeveralGiven) -> list[Given]:
    """Return the results that references name, in an order that does not depend on theirs.

    Each has a name that no other has: of its folder, with as much of its path as sets it apart. Raises
    InputError where a folder holds no results, or they cannot be read.
    """
    references = [inner for reference in as_references(results) for inner in _within(reference)]
    runs = read_folders(references)
    found: dict[tuple[Path, str | None], Given] = {}
    for reference in references:
        key = reference.folder.resolve(), reference.encoder
        run = runs[reference.folder]
        run.only(*filter(None, [reference.encoder]))  # refuses a name that is not there
        found.setdefault(key, Given("", reference.folder, run, reference.encoder))
    whole = {folder for folder, encoder in found if encoder is None}
    kept = [one for (folder, encoder), one in found.items() if encoder is None or folder not in whole]
    kept.sort(key=lambda one: (str(one.folder.resolve()), one.encoder or ""))
    names = _distinct_names([one.folder for one in kept])
    return [replace(one, name=names[one.folder]) for one in kept]


def _within(reference: Reference) -> list[Reference]:
    """Return the folders of results that a reference means: itself, or those in it."""
    folder = reference.folder
    if reference.results is not None or (folder / _FILE).exists():
        return [reference]
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: give folders of results")
    inside = sorted(
        path.parent for path in folder.rglob(_FILE) if len(path.relative_to(folder).parts) <= _DEEPEST
    )
    if not inside:
        raise InputError(
            f"{folder} holds no results: expected results.json, as xlingual evaluate … --out DIR writes it"
        )
    return [replace(reference, folder=one) for one in inside]


def _distinct_names(folders: Sequence[Path]) -> dict[Path, str]:
    """Return a name for each folder, fit for a file: the shortest endings of paths that differ."""
    parts = {
        folder: folder.resolve().with_suffix("").parts if folder.is_file() else folder.resolve().parts
        for folder in folders
    }
    for length in range(1, max(map(len, parts.values()), default=1) + 1):
        names = {folder: "-".join(_plain(part) for part in own[-length:]) for folder, own in parts.items()}
        if len({name.casefold() for name in names.values()}) == len(names):
            return names
    return {folder: f"{place}-{names[folder]}" for place, folder in enumerate(parts, start=1)}


def _plain(part: str) -> str:
    """Return a part of a path as a name of a file on any system: letters, digits, dots, dashes."""
    kept = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in part)
    return kept.strip(".") or "results"
