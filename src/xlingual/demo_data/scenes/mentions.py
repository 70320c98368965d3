"""The mentions of a scene, as one describer chooses them, before any language."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xlingual.demo_data.scenes.draws import Draws, chance, pick, shuffled
from xlingual.demo_data.scenes.scene import ObjectGroup, Scene

# How likely a describer is to say each thing.
SAY = {"group": 0.92, "colour": 0.94, "position": 0.85, "background": 0.85, "exact count": 0.75}
SAY_SIZE = {"small": 0.65, "medium": 0.12, "big": 0.65}
SAY_PATTERN = {"plain": 0.04, "striped": 0.75, "dotted": 0.75, "checked": 0.75}


@dataclass(frozen=True)
class Mention:
    """The description of one group; None for attributes that are not mentioned.

    `number` says how the count is put: "exact" (three stars), "several" (of 3 or more), or "bare" (stars).
    """

    kind: str
    count: int
    number: str = "exact"
    colour: str | None = None
    size: str | None = None
    pattern: str | None = None
    position: str | None = None

    @property
    def amount(self) -> str:
        """How many, as tables of numbers name it: "1" to "5", "several" or "bare"."""
        return str(self.count) if self.number == "exact" else self.number

    @property
    def grammatical(self) -> str:
        """The grammatical number, "one" or "many"."""
        return "one" if self.count == 1 else "many"


@dataclass(frozen=True)
class Mentions:
    """The description of a scene, in the order of its mentions."""

    groups: tuple[Mention, ...]
    background: str | None = None


def choose_mentions(scene: Scene, rng: Draws) -> Mentions:
    """Choose what to say: a random subset of the groups (at least one) and of what could be said of them."""
    mentioned = [group for group in scene.groups if chance(rng, SAY["group"])] or [pick(rng, scene.groups)]
    groups = tuple(_mention(group, rng) for group in shuffled(rng, mentioned))
    return Mentions(groups, scene.background if chance(rng, SAY["background"]) else None)


def all_mentions(scene: Scene, rng: Draws) -> Mentions:
    """Say everything of every group, in random order, and the background."""
    groups = (
        Mention(
            kind=group.kind,
            count=group.count,
            colour=group.colour,
            size=group.size,
            pattern=group.pattern,
            position=group.position,
        )
        for group in shuffled(rng, scene.groups)
    )
    return Mentions(tuple(groups), scene.background)


def _mention(group: ObjectGroup, rng: Draws) -> Mention:
    mention = Mention(
        kind=group.kind,
        count=group.count,
        colour=group.colour if chance(rng, SAY["colour"]) else None,
        size=group.size if chance(rng, SAY_SIZE[group.size]) else None,
        pattern=group.pattern if chance(rng, SAY_PATTERN[group.pattern]) else None,
        position=group.position if chance(rng, SAY["position"]) else None,
    )
    if group.count == 1 or chance(rng, SAY["exact count"]):
        return mention
    return replace(mention, number="several" if group.count >= 3 and chance(rng, 0.6) else "bare")
