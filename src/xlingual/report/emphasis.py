"""What box plots name, as a reader asks for it: some language pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlingual.errors import InputError, did_you_mean, listed

MOST = 6  # pairs with marks of their own that can be told apart
SHAPES = ("circle", "square", "triangle", "diamond")
COLOURS = ("w0", "w1", "w2", "w3")  # classes of the style sheet: colours that all readers tell apart


@dataclass(frozen=True)
class Emphasis:
    """Language pairs that are named on box plots."""

    annotate: Sequence[str] = ()

    def refuse(self) -> None:
        """Raise InputError where language pairs are named for a page without a box plot."""
        if self.annotate:
            raise InputError(
                "--annotate is for the box plot of language pairs, which this report has not: leave it out"
            )


NONE = Emphasis()


def mark_of(place: int) -> tuple[str, str]:
    """Return shape and class (w0 to w3, its colour) of a mark by its place; eight differ in both.

    >>> mark_of(0), mark_of(1), mark_of(4)
    (('circle', 'w0'), ('square', 'w1'), ('square', 'w0'))
    """
    turn, colour = divmod(place, len(COLOURS))
    return SHAPES[(colour + turn) % len(SHAPES)], COLOURS[colour]


def language_pairs(names: Sequence[str], present: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs to name, each once; raise InputError for unknown ones, or too many."""
    pairs = {f"{source}{sign}{target}": (source, target) for source, target in present for sign in "-:"}
    for name in names:
        if name not in pairs:
            hyphened = [name for name in pairs if ":" not in name]
            raise InputError(
                f"--annotate {name}: no such language pair here.{did_you_mean(name, hyphened)} There are "
                f"{listed(hyphened, 30) or 'none'}"
            )
    chosen = list(dict.fromkeys(names))
    if len(chosen) > MOST:
        raise InputError(
            f"--annotate: at most {MOST} language pairs can be told apart, got {len(chosen)}: name fewer"
        )
    return [pairs[name] for name in chosen]
