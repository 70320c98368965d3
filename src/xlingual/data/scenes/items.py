"""Items of the built-in data: a picture and one independent description of it in each language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xlingual.data.scenes.languages import GRAMMARS
from xlingual.data.scenes.mentions import choose_mentions
from xlingual.data.scenes.picture import paint
from xlingual.data.scenes.scene import Scene, draw_scene
from xlingual.data.scenes.streams import stream
from xlingual.errors import InputError, did_you_mean

LANGUAGES: tuple[str, ...] = tuple(sorted(GRAMMARS))
SMALLEST, LARGEST = 16, 512  # side of a picture, in pixels


@dataclass(frozen=True)
class SceneItem:
    """A scene with its descriptions; the picture is painted when it is asked for."""

    id: str
    split: str  # "train" or "test"
    texts: dict[str, str]
    scene: Scene
    size: int

    @property
    def picture(self) -> bytes:
        """The picture as PNG bytes."""
        return paint(self.scene, self.size)


def scene_rows(
    n: int, languages: Sequence[str], seed: int = 0, *, train: float = 0.5, size: int = 96
) -> Iterator[SceneItem]:
    """Return the items 0 to n − 1 of `seed`, made one at a time.

    The scene of an item depends on `seed` and its number only, and each description also on its language:
    neither on `n` nor on the other languages asked for. The first round(n · train) items are for training;
    as every item is drawn in the same way, that is as good as a random division.

    Raise InputError, at once, where an argument is not what it must be.
    """
    _check(n, languages, seed, train, size)
    return _items(n, tuple(languages), seed, round(n * train), size)


def describe(scene: Scene, language: str, seed: int, index: int) -> str:
    """Return the description of item `index` in one language, from that language's own stream."""
    rng = stream(seed, f"text-{language}", index)
    return GRAMMARS[language].describe(choose_mentions(scene, rng), rng)


def _items(n: int, languages: tuple[str, ...], seed: int, training: int, size: int) -> Iterator[SceneItem]:
    for index in range(n):
        scene = draw_scene(stream(seed, "scene", index))
        yield SceneItem(
            id=f"scene-{index:06d}",
            split="train" if index < training else "test",
            texts={language: describe(scene, language, seed, index) for language in languages},
            scene=scene,
            size=size,
        )


def _check(n: int, languages: Sequence[str], seed: int, train: float, size: int) -> None:
    known = ", ".join(LANGUAGES)
    if isinstance(languages, str):
        raise InputError(f"scenes: languages is the text {languages!r}: give a list, such as ['en', 'de']")
    if not languages:
        raise InputError(f"scenes: no language given: choose from {known}")
    for language in languages:
        if language not in GRAMMARS:
            hint = did_you_mean(language, LANGUAGES)
            raise InputError(f"scenes: unknown language {language!r}.{hint} Known: {known}")
        if list(languages).count(language) > 1:
            raise InputError(f"scenes: language {language!r} is given twice: name each language once")
    if n < 1:
        raise InputError(f"scenes: n is {n}: make at least 1 item")
    if seed < 0:
        raise InputError(f"scenes: seed is {seed}: give 0 or a positive whole number")
    if not 0 <= train <= 1:
        raise InputError(f"scenes: train is {train}: give the share of training items, from 0 to 1")
    if not SMALLEST <= size <= LARGEST:
        raise InputError(f"scenes: size is {size}: give a picture side from {SMALLEST} to {LARGEST} pixels")
