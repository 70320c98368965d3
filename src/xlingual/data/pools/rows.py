"""Questions and candidates as files give them, and which of them are not independent (clusters)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import count
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.rows import numbered
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.ragged import components

EqualIds: TypeAlias = Literal["same", "different"]  # what questions of equal ids in several languages are


@dataclass(frozen=True, eq=False, repr=False)
class _Part:
    """Columns that questions and candidates share, n rows."""

    ids: list[str]  # [n], unique within a language
    language: Ints  # [n], index into the pool's languages
    text: list[str]  # [n]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False, repr=False)
class Questions(_Part):
    """n questions. Equal ids in several languages are one question, asked in each of them."""

    key: list[str]  # [n]: the candidates that carry this key are relevant
    cluster: Ints  # [n], from 0: questions that are not independent (of a paragraph, in all its languages)
    article: Ints | None = None  # [n], a coarser cluster, for a sensitivity check
    split: list[str] | None = None  # [n]
    labels: Mapping[str, list[str | None]] = field(default_factory=dict)  # further columns that divide them
    numbers: Mapping[str, Floats] = field(default_factory=dict)  # further columns of numbers, NaN: not known


@dataclass(frozen=True, eq=False, repr=False)
class Candidates(_Part):
    """m candidates, identified by their position, never by their text, which is a sentence."""

    context: list[str]  # [m], what surrounds it; "" where there is nothing
    keys: list[tuple[str, ...]]  # [m], may be empty
    cluster: Ints  # [m], in the numbers of the questions' clusters, and beyond them where no question is
    split: list[str] | None = None  # [m]
    grades: list[tuple[int, ...]] | None = None  # [m], of how relevant it is, one for each of its keys
    irrelevant: list[tuple[str, ...]] | None = None  # [m], further keys: of what it was judged irrelevant to

    def judged_keys(self, *, irrelevant: bool) -> list[tuple[str, ...]]:
        """Return the keys of each candidate [m], with those that it was judged irrelevant to on demand."""
        if not irrelevant or self.irrelevant is None:
            return self.keys
        return [right + wrong for right, wrong in zip(self.keys, self.irrelevant, strict=True)]


P = TypeVar("P", Questions, Candidates)


class Rows(NamedTuple):
    """A whole pool in the order of its files; `notes` are sentences about what deserves a look."""

    languages: tuple[str, ...]
    questions: Questions
    candidates: Candidates
    notes: tuple[str, ...] = ()


def taken(part: P, rows: Ints) -> P:
    """Return the chosen questions, or candidates."""

    def take(values: Any) -> Any:  # noqa: ANN401  (a column, or columns by name)
        if isinstance(values, Mapping):
            return {name: take(column) for name, column in values.items()}
        return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows.tolist()]

    columns = {f.name: getattr(part, f.name) for f in fields(part)}
    return replace(part, **{name: take(values) for name, values in columns.items() if values is not None})


def check_answered(rows: Rows, where: Callable[[int], str], *, unanswered: bool = False) -> None:
    """Raise InputError where no candidate holds a question's key; `where` names the row of a question."""
    questions, held = rows.questions, rows.candidates.judged_keys(irrelevant=unanswered)
    there = {key for keys in held for key in keys}
    without = [row for row, key in enumerate(questions.key) if key not in there]
    if without:
        row = without[0]
        more = f" (and {len(without) - 1} more questions)" if len(without) > 1 else ""
        raise InputError(
            f"{where(row)}: question {questions.ids[row]!r:.80} "
            f"({rows.languages[questions.language[row]]}) has no relevant candidate{more}: no candidate "
            f"holds its key {questions.key[row]!r:.80}"
        )


def no_split(source: str, split: str, splits: Sequence[str]) -> InputError:
    """Return the error for a split that is not there; rows without one have the split ""."""
    names = [name for name in splits if name]
    near, there = did_you_mean(split, names), listed(names, 20) or "none"
    return InputError(f"{source} has no split {split!r}.{near} Its splits: {there}")


def joined(codes: Ints, *names: Sequence[Hashable], size: int | None = None) -> Ints:
    """Return a label for each of the codes 0 … size - 1; codes that share a name have the same label.

    `codes` and each of the columns of names are [n]; `size` is by default the highest code and one. Two codes
    are joined if a column has the same name for both, and so are chains of such codes.
    """
    size = int(codes.max(initial=-1)) + 1 if size is None else size
    ends: list[int] = []
    for column in names:
        first: dict[Hashable, int] = {}
        ends += [first.setdefault(name, code) for code, name in zip(codes.tolist(), column, strict=True)]
    return components(size, np.tile(codes, len(names)), np.array(ends, dtype=np.int64))


def clusters_by_id_or_key(ids: Sequence[str], key: Sequence[str]) -> Ints:
    """Return the cluster of each question where a file has none: the same for equal ids or keys."""
    code, _ = numbered(key)
    return joined(code, ids)[code]


def clusters_of_candidates(
    questions: Questions, keys: Sequence[tuple[str, ...]], context: Sequence[str], language: Ints
) -> Ints:
    """Return the cluster of each candidate where a file has none.

    It is that of the first question whose key it holds; else that of a candidate with the same context in the
    same language; else a new number, beyond the questions'.
    """
    of_key = dict(zip(reversed(questions.key), reversed(questions.cluster.tolist()), strict=True))
    places = list(zip(language.tolist(), context, strict=True))
    clusters = [next((of_key[key] for key in own if key in of_key), -1) for own in keys]
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
