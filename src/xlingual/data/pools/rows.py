"""Questions and candidates as files give them, which of them belong together, and judgements of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import count
from typing import Any, NamedTuple, TypeVar

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.ragged import components


@dataclass(frozen=True, eq=False, repr=False)
class _Side:
    ids: list[str]  # [n], unique within a language
    language: Ints  # [n], index into the pool's languages
    text: list[str]  # [n]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False, repr=False)
class Questions(_Side):
    """n questions. Equal ids in several languages are one question, asked in each of them."""

    key: list[str]  # [n]: the candidates that carry this key are relevant
    cluster: Ints  # [n], from 0: questions that are not independent (of a paragraph, in all its languages)
    article: Ints | None = None  # [n], a coarser cluster, for a sensitivity check
    split: list[str] | None = None  # [n]
    labels: Mapping[str, list[str | None]] = field(default_factory=dict)  # further columns that divide them
    numbers: Mapping[str, Floats] = field(default_factory=dict)  # further columns of numbers, NaN: not known


@dataclass(frozen=True, eq=False, repr=False)
class Candidates(_Side):
    """m candidates, identified by their position, never by their text, which is a sentence."""

    context: list[str]  # [m], what surrounds it; "" where there is nothing
    keys: list[tuple[str, ...]]  # [m], may be empty
    cluster: Ints  # [m], in the numbers of the questions' clusters, and beyond them where no question is
    split: list[str] | None = None  # [m]
    grades: list[tuple[int, ...]] | None = None  # [m], of how relevant it is, one for each of its keys
    irrelevant: list[tuple[str, ...]] | None = None  # [m], further keys: of what it was judged irrelevant to

    def judged_keys(self, *, irrelevant: bool) -> list[tuple[str, ...]]:
        """Give the keys of each candidate [m], on demand with those that it was judged irrelevant to."""
        if not irrelevant or self.irrelevant is None:
            return self.keys
        return [right + wrong for right, wrong in zip(self.keys, self.irrelevant, strict=True)]


S = TypeVar("S", Questions, Candidates)


class Rows(NamedTuple):
    """A whole pool in the order of its files; `notes` are sentences about what deserves a look."""

    languages: tuple[str, ...]
    questions: Questions
    candidates: Candidates
    notes: tuple[str, ...] = ()


def taken(side: S, rows: Ints) -> S:
    """Choose questions, or candidates."""

    def take(values: Any) -> Any:  # noqa: ANN401  (a column, or columns by name)
        if isinstance(values, Mapping):
            return {name: take(column) for name, column in values.items()}
        return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows.tolist()]

    columns = {f.name: getattr(side, f.name) for f in fields(side)}
    return replace(side, **{name: take(values) for name, values in columns.items() if values is not None})


def joined(codes: Ints, *names: Sequence[Hashable], size: int | None = None) -> Ints:
    """Label the codes 0 … size - 1: codes that share a name in a column [n] have one label, also by chains.

    `codes` are [n]; `size` is by default the highest code and one.
    """
    size = int(codes.max(initial=-1)) + 1 if size is None else size
    ends: list[int] = []
    for column in names:
        first: dict[Hashable, int] = {}
        ends += [first.setdefault(name, code) for code, name in zip(codes.tolist(), column, strict=True)]
    return components(size, np.tile(codes, len(names)), np.array(ends, dtype=np.int64))


def clusters_of_candidates(
    questions: Questions, keys: Sequence[tuple[str, ...]], context: Sequence[str], language: Ints
) -> Ints:
    """Find the clusters of candidates where a file has none.

    It is that of the first question whose key it holds; else that of a candidate with the same context in the
    same language; else a new number, beyond the questions'.
    """
    of_key = dict(zip(reversed(questions.key), reversed(questions.cluster.tolist()), strict=True))
    places = list(zip(language.tolist(), context, strict=True))
    clusters = [next((of_key[key] for key in held if key in of_key), -1) for held in keys]
    of_place: dict[tuple[int, str], int] = {}
    for place, cluster in zip(places, clusters, strict=True):
        if place[1] and cluster >= 0:
            of_place.setdefault(place, cluster)
    free = count(int(questions.cluster.max(initial=-1)) + 1)
    for row, place in enumerate(places):
        if clusters[row] < 0:
            clusters[row] = of_place[place] if place in of_place else next(free)
            if place[1]:
                of_place[place] = clusters[row]
    return np.array(clusters, dtype=np.int64)


def judged(candidates: Candidates, judgements: Iterable[tuple[int, str, int]]) -> Candidates:
    """Give candidates the keys and grades of judgements (candidate, key, grade); the best of a pair counts.

    Grades of 0 and below say irrelevant.
    """
    grades: list[dict[str, int]] = [{} for _ in range(len(candidates))]
    for row, key, grade in judgements:
        grades[row][key] = max(grade, grades[row].get(key, grade))
    relevant = [{key: grade for key, grade in held.items() if grade > 0} for held in grades]
    irrelevant = [tuple(key for key, grade in held.items() if grade <= 0) for held in grades]
    return replace(
        candidates,
        keys=[*map(tuple, relevant)],
        grades=[tuple(held.values()) for held in relevant],
        irrelevant=irrelevant if any(irrelevant) else None,
    )


def no_split(source: str, split: str, splits: Iterable[str]) -> InputError:
    """Word the error for a split that is not there; rows without one have the split ""."""
    names = [name for name in splits if name]
    near, there = did_you_mean(split, names), listed(names, 20) or "none"
    return InputError(f"{source} has no split {split!r}.{near} Its splits: {there}")
