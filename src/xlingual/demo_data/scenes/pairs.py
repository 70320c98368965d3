"""Sentence pairs with scores, made from scenes: how much of what two descriptions say is the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from xlingual.demo_data.draws import stream
from xlingual.demo_data.scenes.languages import GRAMMARS
from xlingual.demo_data.scenes.mentions import Mentions, choose_mentions
from xlingual.demo_data.scenes.scene import Scene, draw_scene
from xlingual.files import atomic_file, make_folder

MOST_SCORE = 5.0


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
    lines = (json.dumps(row, ensure_ascii=False) for row in sentence_pairs(n, language, seed))
    with atomic_file(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
