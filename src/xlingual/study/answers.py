"""Answers of raters: files that sheets saved, gathered in the study's folder, a file for each rater."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from xlingual.errors import InputError
from xlingual.results.document import read_record
from xlingual.results.files import to_json
from xlingual.study.folder import ANSWERS, read_study, write_private
from xlingual.study.records import Answers, Rating, Study

Place = tuple[str, str, str, int]  # rater, query, suggestion, occasion


@dataclass(frozen=True)
class Collected:
    """How far a rater is: ratings in all and asked for; of those just read, new and changed ones."""

    rater: str
    given: int
    asked: int
    new: int = 0
    changed: int = 0


def collect(folder: str | Path, paths: Sequence[str | Path]) -> list[Collected]:
    """Add the answers in files, or in all `.json` files of folders, to the study; return how far raters are.

    Of several scores of a suggestion by a rater the last one given counts, whatever order files come in:
    reading a file twice changes nothing. All files are read before any answer is written. Raises InputError
    where a file holds no answers of this study.
    """
    study = read_study(folder)
    before = _last(read_answers(folder, study))
    ratings = [rating for path in _files(paths) for rating in _read(path, study)]
    after = _last([*before.values(), *ratings])
    by_rater: dict[str, list[Rating]] = {}
    for rating in after.values():
        by_rater.setdefault(rating.rater, []).append(rating)
    rows = []
    for rater in sorted(by_rater, key=by_number):
        differing = [where for where in after if where[0] == rater and after[where] != before.get(where)]
        changed = sum(where in before for where in differing)
        if differing:
            path = Path(folder) / ANSWERS / f"{rater}.json"
            path.parent.mkdir(exist_ok=True)
            write_private(path, to_json(Answers(study.id, tuple(by_rater[rater])).to_dict()))
        asked = sum(len(page.suggestions) for page in study.order_of(int(rater) if rater.isdecimal() else 1))
        rows.append(Collected(rater, len(by_rater[rater]), asked, len(differing) - changed, changed))
    return rows


def read_answers(folder: str | Path, study: Study) -> list[Rating]:
    """Return the ratings that were collected; raise InputError where a file of them is damaged."""
    root = Path(folder) / ANSWERS
    paths = sorted(root.glob("*.json")) if root.is_dir() else []
    return [rating for path in paths for rating in _read(path, study)]


def by_number(rater: str) -> tuple[int, str]:
    """Sort numbers as numbers, before names."""
    return (int(rater), "") if rater.isdecimal() else (1 << 62, rater)


def _files(paths: Sequence[str | Path]) -> Iterable[Path]:
    for path in map(Path, paths):
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"{path} holds no .json file: give the files that raters' sheets saved")
        yield from inside


def _read(path: Path, study: Study) -> Sequence[Rating]:
    """Return the ratings of a file; raise InputError where it holds none of this study."""
    answers = read_record(path, Answers, Answers.made_by)
    if answers.study != study.id:
        raise InputError(f"{path} is of the study {answers.study!r}, not of {study.id!r}: collect it there")
    shown = {query.shown.id: {text.id for text in query.suggestions} for query in study.queries}
    for number, rating in enumerate(answers.ratings, start=1):
        if rating.suggestion not in shown.get(rating.query, ()):
            raise InputError(
                f"{path}, rating {number}: the study has no suggestion {rating.suggestion!r} to query "
                f"{rating.query!r}: give what a sheet of this study saved"
            )
    return answers.ratings


def _last(ratings: Iterable[Rating]) -> dict[Place, Rating]:
    """Return the last rating of each suggestion; of two at the same moment the one read first."""
    last: dict[Place, Rating] = {}
    for rating in ratings:
        where = (rating.rater, rating.query, rating.suggestion, rating.occasion)
        if where not in last or rating.at > last[where].at:
            last[where] = rating
    return last
