"""Plain records that the packages of the program pass to each other.

They hold data and know no algorithm. numpy is imported for type checking only, so that this module costs
nothing to import.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xlingual.arrays import Ints, Vectors
from xlingual.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

    from xlingual.images import ImageSource


@dataclass(frozen=True)
class Numbering:
    """One way in which a file of vectors may number the rows of a batch.

    Row i of the batch is line `index[i]` of a file that has `sizes[language]` lines; the language None stands
    for one file for all languages. A batch carries several numberings (by item, by text of its language, by
    row of the manifest); the number of lines of a file decides which one it uses.
    """

    unit: str  # what lines stand for, in errors: "items", "texts of the language", "rows"
    index: Ints  # [n]
    sizes: Mapping[str | None, int]

    def take(self, rows: Ints) -> Numbering:
        """Return the numbering of the chosen rows of the batch."""
        return replace(self, index=self.index[rows])


@dataclass(frozen=True)
class HubCorrection:
    """How hubs are corrected where an encoder's vectors are ranked, and the queries that show them."""

    similarity: str  # as it is written without fit=, such as "csls?k=10"
    bank: Vectors = field(repr=False)  # [n, d], vectors of training queries by the same encoder


@dataclass(frozen=True)
class Texts:
    """A batch of n texts and what an encoder may want to know about them."""

    text: Sequence[str]
    language: Sequence[str]
    ids: Sequence[str]
    role: str | None = None  # "query" or "candidate"
    context: Sequence[str] = ()
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    items: Sequence[str] = ()  # equal items are about the same thing; used by encoders that are fitted
    numberings: tuple[Numbering, ...] = ()

    def __len__(self) -> int:
        return len(self.text)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the texts, so that a batch can be read as a list of them."""
        return iter(self.text)

    def take(self, rows: Ints) -> Texts:
        """Return the chosen rows as a batch."""
        return replace(
            self,
            text=_pick(self.text, rows),
            language=_pick(self.language, rows),
            ids=_pick(self.ids, rows),
            context=_pick(self.context, rows),
            fields={name: _pick(values, rows) for name, values in self.fields.items()},
            items=_pick(self.items, rows),
            numberings=tuple(numbering.take(rows) for numbering in self.numberings),
        )

    def plain(self) -> Texts:
        """Return the same batch with plain lists for columns that are kept out of Python's memory."""
        return self.take(_all(self)) if _is_lazy(self.text, self.ids, self.language) else self

    def row_digests(self) -> frozenset[bytes]:
        """Return one short digest for each (id, language, text): equal rows have equal digests."""
        rows = zip(self.ids, self.language, self.text, strict=True)
        return frozenset(digest(*row) for row in rows)


@dataclass(frozen=True)
class Images:
    """A batch of n images: encoded image bytes, a path to them, or None where only vectors exist."""

    source: Sequence[ImageSource | None]
    language: Sequence[str]
    ids: Sequence[str]  # the row that shows the image, for messages
    numberings: tuple[Numbering, ...] = ()
    items: Sequence[str] = ()  # what the images belong to

    def __len__(self) -> int:
        return len(self.source)

    @cached_property
    def images(self) -> list[Image]:
        """The images opened: PIL images in RGB, upright, transparency over white.

        They stay open with the batch. Raises InputError naming the row where one is absent or broken.
        """
        from xlingual.images import open_images

        return open_images(self.source, self.ids)

    def plain(self) -> Images:
        """Return the same batch with plain lists for columns that are kept out of Python's memory."""
        return self.take(_all(self)) if _is_lazy(self.source, self.ids, self.language) else self

    def take(self, rows: Ints) -> Images:
        """Return the chosen rows as a batch."""
        return replace(
            self,
            source=_pick(self.source, rows),
            language=_pick(self.language, rows),
            ids=_pick(self.ids, rows),
            numberings=tuple(numbering.take(rows) for numbering in self.numberings),
            items=_pick(self.items, rows),
        )


@dataclass(frozen=True)
class RankCounts:
    """Where the best relevant candidate of each query stands: all that rank measures need.

    `above[i]` candidates score strictly higher than the best relevant one, `tied[i]` score the same (itself
    included), `relevant[i]` of those tied are relevant, out of `pool[i]` candidates.
    """

    above: Ints  # [n]
    tied: Ints  # [n], at least 1
    relevant: Ints  # [n], 1 ≤ relevant ≤ tied
    pool: Ints  # [n]
    others: bool = False  # whether a query has relevant candidates that stand below its best one
    unlisted: Any = None  # bool [n]: the best one is in no list of a search system, its place not known

    def __len__(self) -> int:
        return len(self.above)

    @property
    def n_tied(self) -> int:
        """Of how many queries the best relevant candidate ties with irrelevant ones."""
        tied = self.tied > self.relevant
        return int((tied if self.unlisted is None else tied & ~self.unlisted).sum())


@dataclass(frozen=True)
class TargetCounts:
    """Where every relevant candidate of each query stands: all that average precision needs.

    One line for each pair of a query and a relevant candidate, ordered by query. `above[i]` candidates of the
    pool score strictly higher than it, `tied[i]` score the same (itself included). Two relevant candidates of
    a query tie exactly where as many are above them.
    """

    query: Ints  # [p], ascending; every query has a line
    above: Ints  # [p]
    tied: Ints  # [p], at least 1
    pool: Ints  # [n queries]: how many candidates are ranked
    unlisted: Any = None  # bool [p]: in no list of a search system

    def __len__(self) -> int:
        return len(self.pool)

    def best(self) -> RankCounts:
        """Return where the best relevant candidate of each query stands."""
        import numpy as np

        n = len(self.pool)
        best = np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(best, self.query, self.above)
        first = self.above == best[self.query]
        tied = np.zeros(n, dtype=np.int64)
        tied[self.query[first]] = self.tied[first]
        # below all that a search found, candidates have equal numbers above them and yet do not tie
        relevant = np.minimum(np.bincount(self.query[first], minlength=n), tied)
        others = int(relevant.sum()) < len(self.query)
        unlisted = None
        if self.unlisted is not None:
            unlisted = np.zeros(n, dtype=bool)
            unlisted[self.query[first]] = self.unlisted[first]
        return RankCounts(best, tied, relevant, self.pool, others, unlisted)


@dataclass(frozen=True)
class JudgedCounts:
    """Where every judged candidate of each query stands, and its grade: all that graded measures need.

    One line for each pair of a query and a judged candidate, ordered by query; `above` and `tied` as in
    `TargetCounts`. A candidate that a system did not return has as many above it as the pool has candidates.
    """

    query: Ints  # [p], ascending
    above: Ints  # [p]
    tied: Ints  # [p], at least 1
    grade: Ints  # [p]; from 1 on relevant, 0 and below judged irrelevant
    pool: Ints  # [n queries]: how many candidates are ranked
    listed: Ints  # [n queries]: how many of them the system returned

    def __len__(self) -> int:
        return len(self.pool)

    def relevant(self, least: int = 1) -> TargetCounts:
        """Return where the candidates with a grade of at least `least` stand; every query must have one."""
        kept = self.grade >= least
        return TargetCounts(self.query[kept], self.above[kept], self.tied[kept], self.pool)


@dataclass(frozen=True)
class AlignmentCounts:
    """Where every relevant candidate stands in its own language, and among the irrelevant ones.

    One line for each pair of a query and a relevant candidate, ordered by query. `above` candidates score
    strictly higher than it and `tied` the same: of its own language (itself included), of all that are
    irrelevant, and of those that are irrelevant and in the query's language.
    """

    query: Ints  # [p], ascending
    foreign: Any  # bool [p]: it is in another language than the query
    language: Ints  # [p]
    above: Ints  # [p]
    tied: Ints  # [p], at least 1
    wrong_above: Ints  # [p]
    wrong_tied: Ints  # [p]
    own_wrong_above: Ints  # [p]
    own_wrong_tied: Ints  # [p]
    own_wrong: Ints  # [n queries]: how many irrelevant candidates there are in the query's language

    def __len__(self) -> int:
        return len(self.own_wrong)


@dataclass(frozen=True)
class Encoded:
    """Vectors of n rows, and which of the texts were too long for the model and cut, bool [n].

    Vectors are float32 [n, d]; or sparse rows, or a vector for each token (`forms`).
    """

    vectors: Any
    truncated: Any = None  # None: nothing is ever cut


def digest(*parts: str | bytes) -> bytes:
    """Return 16 bytes that identify the parts; ("ab", "c") and ("a", "bc") differ."""
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hasher.update(len(raw).to_bytes(8, "little"))
        hasher.update(raw)
    return hasher.digest()


def content_keys(batch: Texts, columns: Sequence[str]) -> list[bytes]:
    """Return one digest for each text, of the columns that its vector depends on.

    "fields" stands for all names and values of a row's fields. Raises InputError for unknown columns.

    >>> one, other = Texts(["a"], ["en"], ["1"]), Texts(["a"], ["de"], ["2"])
    >>> content_keys(one, ("text",)) == content_keys(other, ("text",))
    True
    """
    read: dict[str, Sequence[str | bytes]] = {
        "text": batch.text,
        "language": batch.language,
        "context": batch.context or [""] * len(batch),
        "role": [batch.role or ""] * len(batch),
    }
    check_content(columns, (*read, "fields"))
    if "fields" in columns:
        fields = sorted(batch.fields.items())
        read["fields"] = [
            digest(*(part for name, values in fields for part in (name, str(values[row]))))
            for row in range(len(batch))
        ]
    return [digest(*row) for row in zip(*(read[name] for name in columns), strict=True)]


def check_content(columns: object, known: Sequence[str]) -> None:
    """Raise InputError where what an encoder gives as its `content` is no tuple of known names."""
    fits = isinstance(columns, list | tuple) and all(
        isinstance(name, str) and name in known for name in columns
    )
    if not fits:
        raise InputError(
            f"an encoder's content must be a tuple of names among {', '.join(map(repr, known))}, such as "
            f"({known[0]!r},): found {columns!r:.100}"
        )


def _is_lazy(*columns: object) -> bool:
    return not all(isinstance(column, (list, tuple)) for column in columns)


def _all(batch: Texts | Images) -> Ints:
    import numpy as np

    return np.arange(len(batch))


def _pick(values: Sequence[Any], rows: Ints) -> Sequence[Any]:
    """Return the values at the rows; an absent (empty) column stays empty."""
    if isinstance(values, (list, tuple)):
        return [values[row] for row in rows] if len(values) else values
    take = getattr(values, "pick", None)  # of a `columns.Column`
    return [values[row] for row in rows] if take is None else take(rows) if len(values) else values
