"""Which texts of a manifest are questions, and which may be candidates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xlingual.arrays import Floats
from xlingual.data.manifest import Manifest

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class ItemRoles:
    """Roles of the texts of one item; rows of the manifest by language code."""

    asks: dict[int, int]  # language → the text that is the question
    answers: dict[int, list[int]]  # language → possible candidates


def roles(
    manifest: Manifest,
    asking: Collection[int],
    shares: Floats | None,
    one: bool,
    rng: np.random.Generator,
) -> tuple[list[ItemRoles], list[str]]:
    """Divide the texts of every item into questions and possible candidates, with notes on texts left out.

    `asking` are the question languages; `shares` [languages] are the wanted ones of the candidates, None for
    any; with `one` every item has one candidate at most.
    """
    texts, notes = _texts_by_item(manifest)
    wanted = [True] * len(manifest.languages) if shares is None else (shares > 0).tolist()
    found = [_shared_out(own, asking, wanted, one, rng) for own in texts]
    lone = sum(any(code in asking for code in own) for own in texts if _is_lone(own))
    if lone:
        notes.append(f"{lone} items have one text only, which is no question, but may be a candidate")
    return found, notes


def _shared_out(
    texts: dict[int, list[int]],
    asking: Collection[int],
    wanted: Sequence[bool],
    one: bool,
    rng: np.random.Generator,
) -> ItemRoles:
    """Return the roles of an item's texts; a lone one is no question."""
    if _is_lone(texts):
        return ItemRoles({}, {code: rows for code, rows in texts.items() if wanted[code]})
    asks = {code: rows[0] for code, rows in texts.items() if code in asking}
    rest = {code: rows[1:] if code in asks else rows for code, rows in texts.items() if wanted[code]}
    if one and len(asks) > 1:  # where the only text of a language answers, the other languages still ask
        return ItemRoles(asks, {code: rows or [asks[code]] for code, rows in rest.items()})
    answers = {code: rows for code, rows in rest.items() if rows}
    if not answers and len(asks) > 1 and rest:  # every text would ask: one of them does, the others answer
        able = [code for code in asks if any(other != code for other in rest)]
        asker = able[int(rng.integers(len(able)))]
        answers = {code: [row] for code, row in asks.items() if code != asker and code in rest}
        asks = {asker: asks[asker]}
    return ItemRoles(asks, answers)


def _is_lone(texts: dict[int, list[int]]) -> bool:
    return sum(map(len, texts.values())) == 1


def _texts_by_item(manifest: Manifest) -> tuple[list[dict[int, list[int]]], list[str]]:
    """Return the rows of each item by language, without blank and repeated texts, and notes on those."""
    items: list[dict[int, list[int]]] = [{} for _ in range(manifest.n_items)]
    seen: set[tuple[int, int, str]] = set()
    blank = repeated = 0
    rows = zip(manifest.item.tolist(), manifest.language.tolist(), manifest.text, strict=True)
    for row, (item, code, text) in enumerate(rows):
        if not text.strip():
            blank += 1
        elif (item, code, text) in seen:
            repeated += 1
        else:
            seen.add((item, code, text))
            items[item].setdefault(code, []).append(row)
    notes = [f"{blank} texts without visible characters are left out"] if blank else []
    if repeated:
        notes.append(f"{repeated} texts that an item has twice in one language are taken once")
    return [texts for texts in items if texts], notes
