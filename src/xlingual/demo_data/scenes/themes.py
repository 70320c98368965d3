"""What goes with what: themes, and the habits of kinds, so that things recur as among real products."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """A setting: its usual background, and the kinds of object that belong to it, the most usual first."""

    background: str
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Habit:
    """How a kind usually looks and where it usually stands, the most usual first."""

    colours: tuple[str, ...]
    positions: tuple[str, ...]


THEMES: tuple[Theme, ...] = (  # the most frequent first; each has a background of its own
    Theme("lightblue", ("boat", "cloud", "umbrella")),
    Theme("lightgreen", ("tree", "flower", "apple")),
    Theme("darkblue", ("star", "moon", "house")),
    Theme("beige", ("cup", "book", "key")),
    Theme("pink", ("heart", "balloon", "flower")),
    Theme("grey", ("car", "house", "flag")),
    Theme("yellow", ("ball", "triangle", "box")),
    Theme("turquoise", ("fish", "boat", "ball")),
    Theme("darkgreen", ("mushroom", "tree", "hat")),
    Theme("orange", ("bottle", "umbrella", "apple")),
    Theme("darkred", ("bell", "star", "box")),
    Theme("purple", ("hat", "key", "balloon")),
)

HABITS: dict[str, Habit] = {
    "star": Habit(("yellow", "white", "orange"), ("top", "middle")),
    "ball": Habit(("red", "blue", "green"), ("bottom", "middle", "left")),
    "tree": Habit(("green", "brown", "orange"), ("right", "left", "bottom")),
    "house": Habit(("red", "white", "brown"), ("middle", "right", "bottom")),
    "flower": Habit(("red", "purple", "yellow"), ("bottom", "left", "middle")),
    "fish": Habit(("orange", "blue", "purple"), ("bottom", "middle")),
    "heart": Habit(("red", "pink", "purple"), ("middle", "top")),
    "car": Habit(("red", "blue", "black"), ("bottom", "left")),
    "boat": Habit(("brown", "red", "white"), ("middle", "bottom", "right")),
    "cup": Habit(("white", "blue", "red"), ("left", "middle")),
    "cloud": Habit(("white", "pink"), ("top",)),
    "apple": Habit(("red", "green", "yellow"), ("top", "bottom")),
    "book": Habit(("blue", "brown", "red"), ("right", "left")),
    "hat": Habit(("black", "purple", "brown"), ("top", "middle")),
    "key": Habit(("yellow", "black"), ("bottom", "right")),
    "bottle": Habit(("green", "brown", "blue"), ("right", "middle")),
    "moon": Habit(("yellow", "white"), ("top", "left")),
    "umbrella": Habit(("pink", "black", "red"), ("right", "top")),
    "flag": Habit(("green", "red", "orange"), ("left", "top")),
    "balloon": Habit(("pink", "orange", "blue"), ("top", "right")),
    "box": Habit(("brown", "blue", "orange"), ("bottom", "middle")),
    "mushroom": Habit(("red", "brown", "orange"), ("bottom", "left")),
    "triangle": Habit(("green", "purple", "orange"), ("middle", "left", "right")),
    "bell": Habit(("yellow", "orange"), ("top", "middle")),
}
