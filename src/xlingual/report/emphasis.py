"""What figures show first, as a reader asks for it: some encoders, one seed, some language pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlingual.errors import InputError, did_you_mean, listed

MOST = 6  # encoders or pairs with marks of their own that can be told apart
SHAPES = ("square", "triangle", "diamond", "circle")
COLOURS = ("w0", "w1", "w2", "w3")  # classes of the style sheet: colours that all readers tell apart


@dataclass(frozen=True)
class Emphasis:
    """Encoders that stand out in scatters, the seed of their points, pairs that are named on box plots."""

    highlight: Sequence[str] = ()
    seed: int | None = None  # None: points are means over seeds
    annotate: Sequence[str] = ()

    @property
    def options(self) -> list[str]:
        """The options that were given."""
        given = {"--highlight": self.highlight, "--annotate": self.annotate}
        return [name for name, value in given.items() if value] + ["--seed-shown"] * (self.seed is not None)

    def only(self, *taken: str) -> None:
        """Raise InputError where an option was given that a page has no figure for."""
        for option in self.options:
            if option not in taken:
                what = {"--annotate": "box plot of language pairs"}.get(option, "scatter of a validation")
                raise InputError(f"{option} is for the {what}, which this report does not have: leave it out")


NONE = Emphasis()


def mark_of(place: int, shapes: Sequence[str] = SHAPES) -> tuple[str, str]:
    """Return shape and class (w0 to w3, its colour) of a mark by its place; eight differ in both.

    >>> mark_of(0), mark_of(1), mark_of(4)
    (('square', 'w0'), ('triangle', 'w1'), ('triangle', 'w0'))
    """
    turn, colour = divmod(place, len(COLOURS))
    return shapes[(colour + turn) % len(shapes)], COLOURS[colour]


def encoders(wanted: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return the encoders to highlight, each once; raise InputError for unknown ones, or too many."""
    there = list(dict.fromkeys(known))
    for name in wanted:
        if name not in there:
            raise InputError(
                f"--highlight {name}: no such encoder here.{did_you_mean(name, there)} There are "
                f"{listed(there, 30)}"
            )
    return _few("--highlight", "encoders", wanted)


def language_pairs(wanted: Sequence[str], known: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs to name, each once; raise InputError for unknown ones, or too many."""
    there = {f"{source}{sign}{target}": (source, target) for source, target in known for sign in "-:"}
    for name in wanted:
        if name not in there:
            names = [name for name in there if ":" not in name]
            raise InputError(
                f"--annotate {name}: no such language pair here.{did_you_mean(name, names)} There are "
                f"{listed(names, 30) or 'none'}"
            )
    return [there[name] for name in _few("--annotate", "language pairs", wanted)]


def _few(option: str, what: str, wanted: Sequence[str]) -> list[str]:
    found = list(dict.fromkeys(wanted))
    if len(found) > MOST:
        raise InputError(f"{option}: at most {MOST} {what} can be told apart, found {len(found)}: name fewer")
    return found
