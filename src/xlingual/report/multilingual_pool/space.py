"""The picture of the space (Figure 5): questions and candidates of two languages, one drawing per encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xlingual.report.multilingual_pool.reading import Seen
from xlingual.results import Results

MOST_POINTS = 800  # in one drawing: more make the file large and the drawing no clearer
MOST_DRAWINGS = 12
WIDTH, HEIGHT = 1000, 800  # of a drawing, in its own units: whole numbers keep the paths short
AIR = 30
MARK = 11  # half the side of a question's cross
ROLES = ("candidate", "question")  # in the order they are drawn: questions lie on top


@dataclass(frozen=True)
class Series:
    """The points of one language and role as one path."""

    language: str
    place: int  # of the language: its colour
    role: str
    path: str


@dataclass(frozen=True)
class Drawing:
    """The points of one encoder."""

    label: str
    series: list[Series]
    spoken: str


@dataclass(frozen=True)
class Space:
    """All drawings, and how many encoders are without one for lack of room."""

    languages: list[str]
    drawings: list[Drawing]
    left_out: int
    thinned: bool


def space(runs: Sequence[Results], found: Sequence[Seen]) -> Space | None:
    """Return the drawings of the encoders whose points are in the results, None where there are none."""
    tables = {place: _rows(run) for place, run in enumerate(runs, 1)}
    own = [(one, tables[one.row.run].get(one.row.encoder, [])) for one in found]
    own = [(one, rows) for one, rows in own if rows]
    if not own:
        return None
    languages = list(dict.fromkeys(row["language"] for _, rows in own for row in rows))
    drawings = [_drawing(one.row.label, rows, languages) for one, rows in own[:MOST_DRAWINGS]]
    thinned = any(len(rows) > MOST_POINTS for _, rows in own[:MOST_DRAWINGS])
    return Space(languages, drawings, max(0, len(own) - MOST_DRAWINGS), thinned)


def _rows(run: Results) -> dict[str, list[dict[str, Any]]]:
    table = run.tables.get("points")
    found: dict[str, list[dict[str, Any]]] = {}
    if table is not None:
        for row in table.to_pylist():
            found.setdefault(row["encoder"], []).append(row)
    return found


def _drawing(label: str, rows: list[dict[str, Any]], languages: list[str]) -> Drawing:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["language"], row["role"]), []).append(row)
    each = max(1, MOST_POINTS // len(groups))
    kept = {key: _thinned(own, each) for key, own in groups.items()}
    place = _placer([row for own in kept.values() for row in own])
    series = [
        Series(language, languages.index(language) % 4, role, _path(role, map(place, kept[language, role])))
        for role in ROLES
        for language in languages
        if (language, role) in kept
    ]
    own_languages = [language for language in languages if any(key[0] == language for key in groups)]
    return Drawing(label, series, f"{label}: vectors of {' and '.join(own_languages)} in two dimensions")


def _thinned(rows: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return at most that many rows, evenly picked in their order."""
    if len(rows) <= most:
        return rows
    return [rows[i * len(rows) // most] for i in range(most)]


def _placer(rows: list[dict[str, Any]]) -> Callable[[Mapping[str, Any]], tuple[int, int]]:
    """Return what places a row in the drawing: centred, with one scale for both directions."""
    xs, ys = [row["x"] for row in rows], [row["y"] for row in rows]
    left, top = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    spans = ((WIDTH, max(xs) - min(xs)), (HEIGHT, max(ys) - min(ys)))
    scale = min(((side - 2 * AIR) / span for side, span in spans if span > 0), default=1.0)

    def place(row: Mapping[str, Any]) -> tuple[int, int]:
        return round(WIDTH / 2 + (row["x"] - left) * scale), round(HEIGHT / 2 - (row["y"] - top) * scale)

    return place


def _path(role: str, spots: Iterable[tuple[int, int]]) -> str:
    """Return dots (lines of no length with round ends), for questions crosses."""
    if role == "question":
        return "".join(f"M{x - MARK} {y}h{2 * MARK}M{x} {y - MARK}v{2 * MARK}" for x, y in spots)
    return "".join(f"M{x} {y}h0" for x, y in spots)
