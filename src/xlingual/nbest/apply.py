"""Applying weights: the hypothesis that they choose from each list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder
from xlingual.nbest.format import text_lines
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.weights import Weights


def apply_weights(lists: NBestLists, weights: Weights, tuning: int = 0) -> list[str]:
    """Return the best hypothesis of each list by the weights of a tuning (0: the first).

    Raises InputError where the weights are for other features than the lists have.
    """
    return [lists.hypotheses[row] for row in weights.choose(lists, tuning)]


def write_texts(texts: Sequence[str], path: str | Path) -> None:
    """Write one text a line, atomically."""
    path = Path(path)
    broken = next((number for number, text in enumerate(texts) if "\n" in text), None)
    if broken is not None:
        raise InputError(f"the text of sentence {broken} holds the end of a line: take it out")
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        temporary.write_bytes("".join(f"{text}\n" for text in texts).encode())


def read_texts(path: str | Path) -> list[str]:
    """Return the lines of a file of texts, plain or gzip."""
    found = [text for _, text in text_lines(path)]
    if not found:
        raise InputError(f"{path} is empty: give one sentence a line")
    return found


def read_aligned(
    path: str | Path, option: str, lists: int, nbest: str | Path, what: str = "reference"
) -> list[str]:
    """Return the lines of a file that has one for each list of `nbest`, in order.

    Raises InputError, with the option that names the file, where it has another number of lines.
    """
    found = read_texts(path)
    if len(found) != lists:
        lines = f"{len(found):,} {'line' if len(found) == 1 else 'lines'}"
        raise InputError(
            f"{option} {path} has {lines}, {nbest} {lists:,} {'list' if lists == 1 else 'lists'}: give the "
            f"{what} of each list, one a line, in order"
        )
    return found
