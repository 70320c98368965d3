"""n-best lists made from scenes: translations of descriptions with errors, and a score that knows few.

A source sentence and its reference say the same of one scene. A hypothesis says it with some attributes
changed; its score falls with the number of errors, and is as much noise as signal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xlingual.demo_data.draws import Draws, pick, stream
from xlingual.demo_data.folder import write_items
from xlingual.demo_data.scenes.image import paint
from xlingual.demo_data.scenes.languages import GRAMMARS
from xlingual.demo_data.scenes.mentions import Mentions, choose_mentions
from xlingual.demo_data.scenes.scene import COLOURS, KINDS, POSITIONS, Scene, draw_scene
from xlingual.files import atomic_file

HYPOTHESES = 10
_ERROR_COST = 0.5  # of the score, whose noise has a standard deviation of 1
_NOISE_DRAWS = 12  # uniform numbers whose sum is nearly normal


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
        with atomic_file(path) as temporary:
            temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return files


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
