"""The contents of an image: groups of equal objects on a background, drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from xlingual.demo_data.scenes.draws import Draws, Item, chance, pick, weighted
from xlingual.demo_data.scenes.vocabulary import Texts, read_toml


class Habit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a kind usually looks and where it usually stands, the most usual first."""

    colours: Texts
    positions: Texts


class Usual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Things that usually go together, so that they recur as among real products: `themes.toml`."""

    themes: dict[str, Texts]  # by their backgrounds, the kinds that belong to them, the most frequent first
    habits: dict[str, Habit]  # of kinds


USUAL = read_toml(Path(__file__).with_name("themes.toml"), Usual)
KINDS, BACKGROUNDS = tuple(USUAL.habits), tuple(USUAL.themes)
COLOURS = ("red", "blue", "green", "yellow", "orange", "purple", "pink", "brown", "black", "white")
SIZES = ("small", "medium", "big")
PATTERNS = ("plain", "striped", "dotted", "checked")
POSITIONS = ("left", "right", "top", "bottom", "middle")
MOST = 5  # objects in a group
SPOTS = 7

# How often things are as their theme or habit has it; otherwise they are anything.
OFTEN = {"kind": 0.92, "background": 0.92, "colour": 0.7, "position": 0.9}
WEIGHTS = {
    "groups": (0.6, 0.34, 0.06),
    "count": (0.4, 0.22, 0.18, 0.12, 0.08),
    "size": (0.2, 0.3, 0.5),
    "pattern": (0.55, 0.17, 0.15, 0.13),
}


@dataclass(frozen=True)
class ObjectGroup:
    """Equal objects in one part of the image.

    `jitter` holds one (right, down, tilt) in [-1, 1] for each object, in units of the room it has to move.
    """

    kind: str
    colour: str
    size: str
    count: int
    pattern: str
    position: str
    jitter: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True)
class Scene:
    """One to three groups at different positions, and the colour of the background.

    `spots` are pale discs on the background that no description mentions, each as (x, y, radius) in parts of
    the image's side: two images differ in more than words can say.
    """

    groups: tuple[ObjectGroup, ...]
    background: str
    spots: tuple[tuple[float, float, float], ...] = ()


def draw_scene(rng: Draws) -> Scene:
    """Draw a scene of a theme; no two groups share a position or a kind.

    Themes and habits make things recur: texts go together with the look of images, as among real products.
    Without them, the similarity of two texts would say nothing about their images.
    """
    theme = weighted(rng, BACKGROUNDS, _skewed(len(BACKGROUNDS)))
    background = theme if chance(rng, OFTEN["background"]) else pick(rng, BACKGROUNDS)
    groups: list[ObjectGroup] = []
    for _ in range(weighted(rng, (1, 2, 3), WEIGHTS["groups"])):
        taken = {group.kind for group in groups}, {group.position for group in groups}
        kind = _usually(rng, OFTEN["kind"], USUAL.themes[theme], KINDS, taken[0])
        position = _usually(rng, OFTEN["position"], USUAL.habits[kind].positions, POSITIONS, taken[1])
        groups.append(_draw_group(rng, kind, position))
    spots = tuple((rng.random(), rng.random(), 0.05 + 0.12 * rng.random()) for _ in range(SPOTS))
    return Scene(tuple(groups), background, spots)


def _usually(
    rng: Draws, how_often: float, usual: Sequence[Item], all_options: Sequence[Item], taken: set[Item]
) -> Item:
    """Return a usual option, the first ones more often, or sometimes any option; never one that is taken."""
    while True:
        often = chance(rng, how_often)
        option = weighted(rng, usual, _skewed(len(usual))) if often else pick(rng, all_options)
        if option not in taken:
            return option


def _draw_group(rng: Draws, kind: str, position: str) -> ObjectGroup:
    count = weighted(rng, range(1, MOST + 1), WEIGHTS["count"])
    size = weighted(rng, SIZES, WEIGHTS["size"])
    if size == "big" and count > 3:  # they would not fit, and then would not be big
        size = "medium" if chance(rng, 0.5) else "small"
    return ObjectGroup(
        kind=kind,
        colour=_usually(rng, OFTEN["colour"], USUAL.habits[kind].colours, COLOURS, set()),
        size=size,
        count=count,
        pattern=weighted(rng, PATTERNS, WEIGHTS["pattern"]),
        position=position,
        jitter=tuple((_offset(rng), _offset(rng), _offset(rng)) for _ in range(count)),
    )


def _offset(rng: Draws) -> float:
    return 2 * rng.random() - 1


def _skewed(number: int) -> list[float]:
    """Return weights that fall by a factor of three from the first option to the last."""
    return [3.0 ** (-i / max(number - 1, 1)) for i in range(number)]
