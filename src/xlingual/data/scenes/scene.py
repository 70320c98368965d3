"""What is in a picture: groups of equal objects on a background, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.data.scenes.streams import Draws, chance, pick, shuffled, weighted

KINDS = (
    *("star", "ball", "tree", "house", "flower", "fish", "heart", "car", "boat", "cup", "cloud", "apple"),
    *("book", "hat", "key", "bottle", "moon", "umbrella", "flag", "balloon", "box", "mushroom", "triangle"),
    "bell",
)
COLOURS = ("red", "blue", "green", "yellow", "orange", "purple", "pink", "brown", "black", "white")
SIZES = ("small", "medium", "big")
PATTERNS = ("plain", "striped", "dotted", "checked")
POSITIONS = ("left", "right", "top", "bottom", "middle")
BACKGROUNDS = ("lightblue", "lightgreen", "beige", "pink", "grey", "darkblue")
MOST = 5  # objects in a group
SPOTS = 7

_COUNT_WEIGHTS = (0.36, 0.22, 0.18, 0.13, 0.11)
_PATTERN_WEIGHTS = (0.46, 0.2, 0.18, 0.16)
_GROUP_WEIGHTS = (0.2, 0.45, 0.35)


@dataclass(frozen=True)
class Group:
    """Equal objects in one part of the picture.

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
    the picture's side: two pictures differ in more than words can say.
    """

    groups: tuple[Group, ...]
    background: str
    spots: tuple[tuple[float, float, float], ...] = ()


def draw_scene(rng: Draws) -> Scene:
    """Draw a scene; no two groups share a position or a kind."""
    number = weighted(rng, (1, 2, 3), _GROUP_WEIGHTS)
    positions = shuffled(rng, POSITIONS)[:number]
    kinds: list[str] = []
    while len(kinds) < number:
        kind = weighted(rng, KINDS, _skewed(len(KINDS)))
        if kind not in kinds:
            kinds.append(kind)
    groups = tuple(_draw_group(rng, kind, position) for kind, position in zip(kinds, positions, strict=True))
    background = pick(rng, BACKGROUNDS)
    spots = tuple((rng.random(), rng.random(), 0.05 + 0.12 * rng.random()) for _ in range(SPOTS))
    return Scene(groups, background, spots)


def _draw_group(rng: Draws, kind: str, position: str) -> Group:
    count = weighted(rng, range(1, MOST + 1), _COUNT_WEIGHTS)
    size = pick(rng, SIZES)
    if size == "big" and count > 3:  # they would not fit, and then would not be big
        size = "medium" if chance(rng, 0.5) else "small"
    return Group(
        kind=kind,
        colour=weighted(rng, COLOURS, _skewed(len(COLOURS))),
        size=size,
        count=count,
        pattern=weighted(rng, PATTERNS, _PATTERN_WEIGHTS),
        position=position,
        jitter=tuple((_offset(rng), _offset(rng), _offset(rng)) for _ in range(count)),
    )


def _offset(rng: Draws) -> float:
    return 2 * rng.random() - 1


def _skewed(number: int) -> list[float]:
    """Return weights that fall by a factor of three from the first option to the last."""
    return [3.0 ** (-i / (number - 1)) for i in range(number)]
