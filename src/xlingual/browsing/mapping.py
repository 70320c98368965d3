"""The map of a space: vectors of texts in two dimensions, by PCA or UMAP, in colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.browsing.looking import Looking
from xlingual.browsing.vectors import Space
from xlingual.errors import InputError
from xlingual.extras import missing
from xlingual.languages import name_of

POINTS = 3000  # on a map
METHODS = ("pca", "umap")
COLOURS = ("language", "slice", "hub")
_LONGEST = 80  # characters of a text
_MOST_COLOURS = 8  # that can be told apart; further languages share the last
_DIGITS = 3


@dataclass(frozen=True)
class Flat:
    """Points of a sample of rows, and what places further vectors among them."""

    rows: Ints
    points: Floats  # [n, 2], within −1 to 1
    share: float | None  # of the variance that both axes show, where that is known
    _place: Any  # vectors [m, d] → points [m, 2]

    def place(self, vectors: Vectors) -> Floats:
        """Return where vectors [m, d] lie."""
        found: Floats = self._place(vectors)
        return found


class Maps:
    """Makes the maps of encoders, each once."""

    def __init__(self, looking: Looking) -> None:
        self.looking, self._made, self._lock = looking, dict[tuple[str, str], Flat](), Lock()

    def methods(self) -> tuple[str, ...]:
        """Return the ways to make a map that are installed."""
        return METHODS if not missing("map") else METHODS[:1]

    def flat(self, encoder: str, method: str) -> Flat:
        """Return the map of an encoder; raise InputError where it has no vectors at hand."""
        space = self.looking.spaces.texts.get(encoder)
        if space is None:
            why = self.looking.spaces.without.get(encoder, "there is no such encoder")
            raise InputError(f"There is no map: {why}")
        if len(space) < 3:
            raise InputError("There is no map: it takes vectors of three texts at least")
        method = method if method in self.methods() else "pca"
        with self._lock:
            if (encoder, method) not in self._made:
                self._made[encoder, method] = (_umap if method == "umap" else _pca)(space)
            return self._made[encoder, method]

    def drawn(self, encoder: str, method: str, colour: str, slice: str, way: Sequence[int]) -> dict[str, Any]:
        """Return what the page draws: points with colours and texts, the legend, and the way of a query."""
        flat, data = self.flat(encoder, method), self.looking.data
        space = self.looking.spaces.texts[encoder]
        code, labels = self._coloured(flat.rows, encoder, colour, slice)
        shown = [row for row in way if space.has(row)]
        places = flat.place(np.stack([space.vector(row) for row in shown])) if shown else np.empty((0, 2))
        return {
            "points": [
                [round(x, _DIGITS), round(y, _DIGITS), int(which), row]
                for (x, y), which, row in zip(flat.points.tolist(), code, flat.rows.tolist(), strict=True)
            ],
            "texts": [text[:_LONGEST] for text in data.text.pick(flat.rows)],
            "languages": [data.languages[one] for one in data.language[flat.rows].tolist()],
            "labels": labels,
            "way": [
                {
                    "x": round(x, _DIGITS),
                    "y": round(y, _DIGITS),
                    "row": row,
                    "text": data.text[row][:_LONGEST],
                }
                for (x, y), row in zip(places.tolist(), shown, strict=True)
            ],
            "share": flat.share,
            "of": len(space),
        }

    def _coloured(self, rows: Ints, encoder: str, colour: str, slice: str) -> tuple[list[int], list[str]]:
        """Return a number for each row, and what the numbers stand for."""
        data = self.looking.data
        if colour == "slice":
            one = self.looking.slices.get(slice)
            inside = self.looking.slices.mask(slice)[rows]
            return inside.astype(int).tolist(), [
                "other texts",
                "no slice is chosen" if one is None else one.label,
            ]
        if colour == "hub":
            queries = self.looking.queries.get(encoder)
            hubs = set() if queries is None else set(queries.hubs)
            return [int(row in hubs) for row in rows.tolist()], [
                "other texts",
                "hub: the nearest of very many queries",
            ]
        count = np.bincount(data.language[rows], minlength=len(data.languages))
        order = np.argsort(-count, kind="stable").tolist()
        names = [name_of(data.languages[one]) or data.languages[one] for one in order if count[one]]
        place = {one: min(number, _MOST_COLOURS - 1) for number, one in enumerate(order)}
        if len(names) > _MOST_COLOURS:
            names = [*names[: _MOST_COLOURS - 1], "other languages"]
        return [place[one] for one in data.language[rows].tolist()], names


def _pca(space: Space) -> Flat:
    """Return the two directions of a sample that vary most, signs fixed."""
    rows, vectors = space.sample(POINTS, [])
    wide = vectors.astype(np.float64)
    mean = wide.mean(axis=0)
    _, spread, axes = np.linalg.svd(wide - mean, full_matrices=False)
    axes = axes[:2] if len(axes) > 1 else np.vstack([axes, np.zeros_like(axes)])
    axes = axes * np.where(axes[np.arange(2), np.abs(axes).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
    flat = (wide - mean) @ axes.T
    middle, reach = _frame(flat)
    total = float((spread**2).sum())

    def place(others: Vectors) -> Floats:
        found: Floats = ((_unit(others) - mean) @ axes.T - middle) / reach
        return found

    return Flat(
        rows, (flat - middle) / reach, float((spread[:2] ** 2).sum() / total) if total > 0 else None, place
    )


def _umap(space: Space) -> Flat:
    from umap import UMAP

    rows, vectors = space.sample(POINTS, [])
    made = UMAP(metric="cosine", n_neighbors=min(15, len(rows) - 1), random_state=0)
    flat = np.asarray(made.fit_transform(vectors), dtype=np.float64)
    middle, reach = _frame(flat)

    def place(others: Vectors) -> Floats:
        found: Floats = (np.asarray(made.transform(_unit(others).astype(np.float32))) - middle) / reach
        return found

    return Flat(rows, (flat - middle) / reach, None, place)


def _frame(flat: Floats) -> tuple[Floats, float]:
    """Return the middle of points, and how far the farthest is from it along an axis."""
    middle: Floats = (flat.max(axis=0) + flat.min(axis=0)) / 2
    return middle, max(float(np.abs(flat - middle).max()), 1e-12)


def _unit(vectors: Vectors) -> Floats:
    wide = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    found: Floats = wide / np.where(length > 0, length, 1.0)
    return found
