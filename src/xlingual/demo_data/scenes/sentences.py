"""Sentence pairs with scores, and n-best lists of translations with errors, made from scenes.

The score of a pair is how much of what two descriptions say is the same.

A source sentence and its reference say the same of one scene. A hypothesis says it with some attributes
changed; its score falls with the number of errors, and is as much noise as signal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xlingual.demo_data.scenes.draws import Draws, pick, stream
from xlingual.demo_data.scenes.folder import write_items
from xlingual.demo_data.scenes.image import paint
from xlingual.demo_data.scenes.languages import GRAMMARS
from xlingual.demo_data.scenes.mentions import Mentions, choose_mentions
from xlingual.demo_data.scenes.scene import COLOURS, KINDS, POSITIONS, Scene, draw_scene
from xlingual.files import atomic_file, make_folder

MOST_SCORE = 5.0  # of a pair
HYPOTHESES = 10
_ERROR_COST = 0.5  # of the score, whose noise has a standard deviation of 1
_NOISE_DRAWS = 12  # uniform numbers whose sum is nearly normal


def facts(mentions: Mentions) -> frozenset[tuple[str, ...]]:
    """Return what a description says: each kind, its attributes, and the background."""
    found: set[tuple[str, ...]] = set()
    if mentions.background is not None:
        found.add(("background", mentions.background))
    for group in mentions.groups:
        found |= {("kind", group.kind), ("count", group.kind, group.grammatical)}
        for name in ("colour", "size", "pattern", "position"):
            if (value := getattr(group, name)) is not None:
                found.add((name, group.kind, value))
    return frozenset(found)


def score_of(one: Mentions, other: Mentions) -> float:
    """Return 5·|A ∩ B| / |A ∪ B| of what two descriptions say, to one decimal."""
    a, b = facts(one), facts(other)
    return round(MOST_SCORE * len(a & b) / len(a | b), 1)


def sentence_pairs(n: int, language: str, seed: int = 0) -> Iterator[dict[str, str | float]]:
    """Yield n pairs: of one scene, of two that share an object or the background, and of any two."""
    grammar = GRAMMARS[language]
    for index in range(n):
        first = draw_scene(stream(seed, "pair scene", index))
        second = _related(first, draw_scene(stream(seed, "other scene", index)), index % 4)
        said, texts = [], []
        for side, scene in enumerate((first, second)):
            rng = stream(seed, f"pair text-{language}-{side}", index)
            said.append(choose_mentions(scene, rng))
            texts.append(grammar.describe(said[-1], rng))
        yield {
            "id": str(index),
            "score": score_of(*said),
            "sentence1": texts[0],
            "sentence2": texts[1],
        }


def _related(first: Scene, other: Scene, how: int) -> Scene:
    """Return a scene that is the first one, shares an object with it, its background, or nothing."""
    if how == 0:
        return first
    if how == 1:
        kinds = {group.kind for group in first.groups[:1]}
        rest = tuple(group for group in other.groups[1:] if group.kind not in kinds)
        return replace(other, groups=(*first.groups[:1], *rest))
    return replace(other, background=first.background) if how == 2 else other


def write_sentence_pairs(path: Path, *, n: int, language: str, seed: int = 0) -> Path:
    """Write n pairs as JSON Lines."""
    make_folder(path.parent)
    _write(path, (json.dumps(row, ensure_ascii=False) for row in sentence_pairs(n, language, seed)))
    return path


@dataclass(frozen=True)
class ListFiles:
    """The files of some sentences."""

    nbest: Path
    references: Path
    source: Path
    images: Path


@dataclass(frozen=True)
class _Shown:
    """One scene of the manifest of images."""

    cells: dict[str, str | None]
    scene: Scene
    size: int

    @property
    def image(self) -> bytes:
        return paint(self.scene, self.size)


def write_lists(
    folder: Path, name: str, *, n: int, languages: Sequence[str], seed: int = 0, size: int = 48
) -> ListFiles:
    """Write the n-best lists of n sentences, their references, sources and images into a folder.

    `languages` are that of the sources and that of the translations.
    """
    source_language, target = languages
    source, references, lists, shown = [], [], [], []
    for index in range(n):
        scene = draw_scene(stream(seed, f"{name} scene", index))
        mentions = choose_mentions(scene, stream(seed, f"{name} mentions", index))
        rng = stream(seed, f"{name} source", index)
        source.append(GRAMMARS[source_language].describe(mentions, rng))
        references.append(_translation(mentions, target, seed, name, index))
        lists += _hypotheses(mentions, target, seed, name, index)
        cells: dict[str, str | None] = {
            "id": f"{name}-{index}",
            "image": f"images/{name}-{index}.png",
            f"text_{source_language}": source[-1],
        }
        shown.append(_Shown(cells, scene, size))
    images = write_items(folder / f"{name}-images", iter(shown), list(shown[0].cells), None)
    files = ListFiles(
        folder / f"{name}.nbest", folder / f"{name}.{target}", folder / f"{name}.{source_language}", images
    )
    for path, lines in ((files.source, source), (files.references, references), (files.nbest, lists)):
        _write(path, lines)
    return files


def _write(path: Path, lines: Iterable[str]) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _translation(mentions: Mentions, language: str, seed: int, name: str, index: int) -> str:
    """Return what the translator writes: its choice of words depends on the sentence alone."""
    return GRAMMARS[language].describe(mentions, stream(seed, f"{name} translator", index))


def _hypotheses(mentions: Mentions, language: str, seed: int, name: str, index: int) -> list[str]:
    """Return the lines of one list, the highest score first."""
    rng = stream(seed, f"{name} hypotheses", index)
    found: dict[str, float] = {}
    for number in range(HYPOTHESES):
        said, errors = mentions, number // 2
        for _ in range(errors):
            said = _with_error(said, rng)
        noise = sum(rng.random() for _ in range(_NOISE_DRAWS)) - _NOISE_DRAWS / 2
        found.setdefault(_translation(said, language, seed, name, index), noise - _ERROR_COST * errors)
    ranked = sorted(found.items(), key=lambda pair: -pair[1])
    return [f"{index} ||| {text} ||| mt= {score:.4f} ||| {score:.4f}" for text, score in ranked]


def _with_error(mentions: Mentions, rng: Draws) -> Mentions:
    """Return the mentions with one attribute of one group changed."""
    place = int(rng.random() * len(mentions.groups))
    group = mentions.groups[place]
    options = {"kind": KINDS, "colour": COLOURS, "position": POSITIONS}
    name = pick(rng, [name for name in options if getattr(group, name) is not None])
    values: dict[str, Any] = {name: pick(rng, options[name])}
    changed = replace(group, **values)
    groups = (*mentions.groups[:place], changed, *mentions.groups[place + 1 :])
    return replace(mentions, groups=groups)
