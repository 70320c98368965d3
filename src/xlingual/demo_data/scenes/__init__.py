"""Scenes: built-in data, made from a seed.

Images of a few objects, and descriptions of them in several languages that were made independently of each
other: for demonstrations, tests and benchmarks of any size, without a download.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xlingual.demo_data.scenes.draws import stream
from xlingual.demo_data.scenes.folder import check_request, write_items
from xlingual.demo_data.scenes.image import paint
from xlingual.demo_data.scenes.languages import GRAMMARS
from xlingual.demo_data.scenes.mentions import all_mentions, choose_mentions
from xlingual.demo_data.scenes.scene import Scene, draw_scene
from xlingual.errors import InputError

LANGUAGES: tuple[str, ...] = tuple(sorted(GRAMMARS))


@dataclass(frozen=True)
class SceneItem:
    """A scene with its descriptions; the image is painted when it is asked for."""

    id: str
    split: str  # "train" or "test"
    texts: dict[str, str]  # by language; where it has several, by "en_1", "en_2" …
    titles: dict[str, str]  # by language
    bodies: dict[str, str]  # by language; the title in other words and with all details
    scene: Scene
    size: int

    @property
    def image(self) -> bytes:
        """The image as PNG bytes."""
        return paint(self.scene, self.size)

    @property
    def cells(self) -> dict[str, str | None]:
        """The row of the manifest."""
        columns = {"text": self.texts, "title": self.titles, "body": self.bodies}
        texts = {f"{column}_{key}": text for column, row in columns.items() for key, text in row.items()}
        return {"id": self.id, "split": self.split, "image": f"images/{self.id}.png", **texts}


def scene_rows(
    n: int, languages: Sequence[str], seed: int = 0, *, train: float = 0.5, size: int = 96, texts: int = 1
) -> Iterator[SceneItem]:
    """Return the items 0 to n − 1 of `seed`, made one at a time.

    The scene of an item depends on `seed` and its number only, and each description also on its language:
    neither on `n` nor on the other languages asked for. The first round(n · train) items are for training;
    as every item is drawn in the same way, that is as good as a random division. With `texts` several
    describers of each language describe every scene, independently; the first one says the same as alone.
    Title and body of a language are of two further describers: the title leaves the background and, like a
    text, other things out, and the body leaves out nothing.

    Raise InputError, at once, where an argument is not what it must be.
    """
    check_request("scenes", languages, LANGUAGES, size)
    if n < 1:
        raise InputError(f"scenes: n is {n}: make at least 1 item")
    if seed < 0:
        raise InputError(f"scenes: seed is {seed}: give 0 or a positive whole number")
    if not 0 <= train <= 1:
        raise InputError(f"scenes: train is {train}: give the share of training items, from 0 to 1")
    if texts < 1:
        raise InputError(f"scenes: texts is {texts}: make at least 1 description in each language")
    return _items(n, languages, _columns(languages, texts), seed, round(n * train), size)


def write_scenes(
    out: str | Path,
    *,
    n: int,
    languages: Sequence[str],
    seed: int = 0,
    train: float = 0.5,
    size: int = 96,
    texts: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Path:
    """Write n items into the folder `out` and return the path of its manifest.

    The manifest has the columns id, split, image (path relative to the folder), text_<language>, or
    text_<language>_<number> where a language has several `texts`, title_<language> and body_<language>. It
    is written last, and an older one is removed first. `progress` is called after each item with the number
    of items written so far.

    Raise InputError where an argument is not what it must be or the folder cannot be made.
    """
    items = scene_rows(n, languages, seed, train=train, size=size, texts=texts)
    described = [f"{field}_{language}" for field in ("title", "body") for language in languages]
    columns = ("id", "split", "image", *(f"text_{key}" for key in _columns(languages, texts)), *described)
    return write_items(out, items, columns, progress)


def _columns(languages: Sequence[str], texts: int) -> dict[str, tuple[str, str]]:
    """Return the language of each text of a scene and the stream of its describer, by the column's name."""
    if texts == 1:
        return {language: (language, f"text-{language}") for language in languages}
    return {
        f"{language}_{number}": (language, f"text-{language}" + (f"-{number}" if number > 1 else ""))
        for language in languages
        for number in range(1, texts + 1)
    }


def _items(
    n: int,
    languages: Sequence[str],
    columns: Mapping[str, tuple[str, str]],
    seed: int,
    training: int,
    size: int,
) -> Iterator[SceneItem]:
    for index in range(n):
        scene = draw_scene(stream(seed, "scene", index))
        texts = {}
        for column, (language, name) in columns.items():
            rng = stream(seed, name, index)
            texts[column] = GRAMMARS[language].describe(choose_mentions(scene, rng), rng)
        titles, bodies = {}, {}
        for language in languages:
            rng = stream(seed, f"title-{language}", index)
            mentions = replace(choose_mentions(scene, rng), background=None)
            titles[language] = GRAMMARS[language].describe(mentions, rng)
            rng = stream(seed, f"body-{language}", index)
            bodies[language] = GRAMMARS[language].describe(all_mentions(scene, rng), rng)
        yield SceneItem(
            id=f"scene-{index:06d}",
            split="train" if index < training else "test",
            texts=texts,
            titles=titles,
            bodies=bodies,
            scene=scene,
            size=size,
        )
