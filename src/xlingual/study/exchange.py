"""Ratings that come from elsewhere: a table, or the file that an offline sheet saved.

Reading them twice changes nothing. A rating that differs from the study's is a conflict, and is named.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from xlingual.errors import InputError
from xlingual.files import regular_file
from xlingual.study.database import Ratings
from xlingual.study.links import add_rater
from xlingual.study.records import BEST, WORST, Rating, Study
from xlingual.study.tables import now
from xlingual.study.tabular import FORMATS, read_rows

ANSWERS_SCHEMA = "xlingual/study_answers/1"  # of the file that an offline sheet saves
_GIVE = "give the file that an offline sheet of this study saved"
FILE, STUDY = "file", "study"  # which of two scores counts


@dataclass(frozen=True)
class Imported:
    """What an import changed: how many ratings are new, replaced, the same, or kept though they differ."""

    new: int
    replaced: int
    same: int
    kept: int
    raters: tuple[str, ...]  # those that were not in the study before


def read_ratings(path: str | Path, study: Study) -> list[Rating]:
    """Return the ratings of a table or a sheet's file; raise InputError where one is not about the study."""
    path = Path(path)
    if path.suffix.lower() == ".json":
        rows = _answers(path, study)
    elif path.suffix.lower() in FORMATS:
        rows = read_rows(path)
    else:
        raise InputError(
            f"{path}: the name must end in .csv, .parquet or .json (what an offline sheet saves)"
        )
    suggestions = {query.shown.id: {one.id for one in query.suggestions} for query in study.queries}
    found: dict[tuple[str, str, str, int], Rating] = {}
    for number, row in enumerate(rows, start=1):
        where = f"{path}, rating {number}"
        rating = _rating(row, where, suggestions)
        if found.setdefault(_place(rating), rating).score != rating.score:
            raise InputError(f"{where}: {_words(rating)} has another score further up: keep one of them")
    return list(found.values())


def refuse_conflicts(folder: str | Path, files: Sequence[tuple[Path, Sequence[Rating]]]) -> None:
    """Raise InputError where one of several files differs from the study or from a file before it."""
    with Ratings(Path(folder)) as ratings:
        known = {_place(rating): (rating.score, str(folder)) for rating in ratings.all()}
    for path, given in files:
        differ = [one for one in given if known.get(_place(one), (one.score,))[0] != one.score]
        if differ:
            score, said_by = known[_place(differ[0])]
            raise InputError(
                f"{path}: {len(differ)} of {len(given)} ratings differ from those in {said_by}: nothing is "
                f"imported (first: {_words(differ[0])}, {differ[0].score} here, {score} there); say which "
                f"count with --prefer {FILE} or --prefer {STUDY}"
            )
        known |= {_place(one): (one.score, str(path)) for one in given}


def import_ratings(folder: str | Path, given: Sequence[Rating], prefer: str | None = None) -> Imported:
    """Add ratings to those of a study, all or none.

    A rating that differs from the study's is a conflict: refused (InputError) unless `prefer` says which
    counts, the "file" or the "study". Raters whom the study does not know are added.
    """
    with Ratings(Path(folder)) as ratings:
        known = {_place(rating): rating.score for rating in ratings.all()}
        new = [one for one in given if _place(one) not in known]
        other = [one for one in given if known.get(_place(one), one.score) != one.score]
        if other and prefer is None:
            raise InputError(
                f"{len(other)} of {len(given)} ratings differ from those in {folder}: nothing is imported "
                f"(first: {_words(other[0])}, {other[0].score} in the file, {known[_place(other[0])]} in the "
                f"study); say which count with --prefer {FILE} or --prefer {STUDY}"
            )
        replaced = other if prefer == FILE else []
        names = {rater.name for rater in ratings.raters()}
        strangers = tuple(dict.fromkeys(one.rater for one in given if one.rater not in names))
        for name in strangers:
            add_rater(ratings, name)
        ratings.add_all([*new, *replaced])
    same, kept = len(given) - len(new) - len(other), len(other) - len(replaced)
    return Imported(len(new), len(replaced), same, kept, strangers)


def _answers(path: Path, study: Study) -> list[dict[str, Any]]:
    """Return the ratings in the file of a sheet."""
    if path.exists():
        regular_file(path, "what an offline sheet saved")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read ({reason}): {_GIVE}") from error
    if not isinstance(content, dict) or content.get("schema") != ANSWERS_SCHEMA:
        raise InputError(f"{path} has not the schema {ANSWERS_SCHEMA!r}: {_GIVE}")
    if content.get("study") != study.id:
        raise InputError(
            f"{path} is of another study ({content.get('study')!r:.40}, not {study.id!r}): import it there"
        )
    rows = content.get("ratings")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: no list of ratings in it: {_GIVE}")
    return [{"rater": content.get("rater"), **row} for row in rows]


def _rating(row: Mapping[str, Any], where: str, suggestions: Mapping[str, set[str]]) -> Rating:
    """Return a row as a rating; raise InputError where something in it cannot be right."""
    query, suggestion = str(row.get("query")), str(row.get("suggestion"))
    if query not in suggestions:
        raise InputError(f"{where}: query {query!r:.40} is not of this study: give ratings of this study")
    if suggestion not in suggestions[query]:
        raise InputError(f"{where}: suggestion {suggestion!r:.40} is not one of query {query!r}")
    rater = str(row.get("rater") or "").strip()
    if not rater:
        raise InputError(f"{where}: the rater has no name: fill in the column rater")
    score = _whole(row.get("score"), where, "score", BEST, WORST)
    occasion = _whole(row.get("occasion"), where, "occasion", 0, 1)
    at, seconds = _time(row.get("at"), where), _seconds(row.get("seconds"), where)
    return Rating(rater, query, suggestion, occasion, score, at, seconds)


def _time(value: object, where: str) -> str:
    """Return a time in UTC, by which ratings can be put in order; now where none is given."""
    if value is None or value == "":
        return now()
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        raise InputError(
            f"{where}: at is {str(value)!r:.40}, expected a time such as 2026-01-31T09:30:00Z (a spreadsheet "
            "may have rewritten it), or nothing"
        ) from None
    if time.utcoffset() == timedelta(0):
        return str(value)
    return (time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)).isoformat()


def _whole(value: object, where: str, name: str, low: int, high: int) -> int:
    number = _number(value)
    if number not in range(low, high + 1):
        raise InputError(f"{where}: {name} is {value!r:.40}, expected a whole number from {low} to {high}")
    return int(number)


def _seconds(value: object, where: str) -> float | None:
    if value is None or value == "":
        return None
    seconds = _number(value)
    if not 0 <= seconds < math.inf:
        raise InputError(f"{where}: seconds is {value!r:.40}, expected a number from 0 on, or nothing")
    return seconds


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return math.nan


def _place(rating: Rating) -> tuple[str, str, str, int]:
    return rating.rater, rating.query, rating.suggestion, rating.occasion


def _words(rating: Rating) -> str:
    again = ", asked again" if rating.occasion else ""
    return f"rater {rating.rater!r:.40}, query {rating.query}, suggestion {rating.suggestion}{again}"
