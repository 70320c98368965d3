"""What is common to both kinds of data: n queries in language pairs, and their values for given vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.embed.encoding import VectorSource, encode
from xlingual.encoders import Encoder
from xlingual.encoders.compressed import QuantizedTexts
from xlingual.errors import InputError, listed, parameter
from xlingual.evaluation.compression.vector_lists import reordered
from xlingual.evaluation.run import Run
from xlingual.forms import dense
from xlingual.ranking import TextPool, TextRows, similarity_of
from xlingual.ranking.listed import Lists
from xlingual.records import Texts, digest
from xlingual.transforms.affine import unit_rows
from xlingual.transforms.moments import FitData

_RANK = 1e-10  # variances below this part of the largest one are rounding
Smaller: TypeAlias = Callable[[Vectors], Vectors]


@dataclass(frozen=True)
class Sides:
    """Vectors of all texts that are queries, and of all that are candidates; one array where they are one."""

    queries: Vectors
    candidates: Vectors

    def mapped(self, smaller: Smaller) -> Sides:
        """Return the vectors made smaller, those of both sides at once where they are one."""
        queries = smaller(self.queries)
        return Sides(queries, queries if self.queries is self.candidates else smaller(self.candidates))


@dataclass(frozen=True)
class Fitting:
    """The vectors of the texts that something is fitted on, with their languages."""

    vectors: Vectors
    languages: Sequence[str]
    identity: str  # of the texts

    @cached_property
    def data(self) -> FitData:
        """The vectors at unit length, as transforms are fitted on them."""
        return FitData(unit_rows(self.vectors), self.languages)

    @property
    def rank(self) -> int:
        """In how many directions they vary."""
        values = np.linalg.eigvalsh(self.data.all.covariance)
        return int((values > _RANK * values[-1]).sum())


@dataclass(frozen=True)
class QueryLines:
    """The queries [n]: a line for each query and language pair."""

    pairs: tuple[tuple[str, str], ...]  # of languages: query, answer
    pair: Ints  # [n]
    cluster: Ints  # [n] of queries that are not independent


@dataclass(frozen=True)
class FormValues:
    """The values of the queries with one form of the vectors."""

    lines: Floats  # [n]
    whole: float | None = None  # of a pool, the mean average precision of all answers


class Asked(ABC):
    """The queries of an evaluation, and where their answers stand by the vectors that are given."""

    run: Run
    lines: QueryLines
    full: Sides
    measure: str
    languages: Sequence[str]  # that texts are in

    @property
    def name(self) -> str:
        """What the encoder is called."""
        names = list(self.run.text_encoders)
        if len(names) != 1:
            raise InputError(
                f"{parameter('text_encoder')}: expected one encoder, whose vectors are made smaller, found "
                f"{listed(names) if names else 'a system that returns lists'}: name one"
            )
        return names[0]

    @property
    def encoder(self) -> Encoder:
        """The encoder, whose vectors are made smaller."""
        return self.run.text_encoders[self.name]

    @abstractmethod
    def values(self, vectors: Sides) -> FormValues:
        """Return the measure's values with these vectors."""

    @abstractmethod
    def rescored(self, vectors: Sides, smallest: Sides, first: int) -> FormValues:
        """Return the values where the `first` candidates by `smallest` are ordered again.

        Their second score is the cosine of the query's vector in `vectors` with theirs in `smallest`, which
        takes nothing that is not stored. Of candidates that tie over the last place none is ordered again;
        the others follow as they were.
        """

    @abstractmethod
    def texts(self) -> tuple[Texts, ...]:
        """Return the texts that are evaluated."""

    @abstractmethod
    def conditions(self) -> dict[str, str]:
        """Return what the numbers depend on, beside the encoder."""

    @cached_property
    def dim(self) -> int:
        """The dimensions of the encoder's vectors."""
        return int(self.full.candidates.shape[1])

    def fitting(self, load: Callable[[], Texts]) -> Fitting:
        """Return the vectors of the texts to fit on; raise InputError where one of them is evaluated."""
        chosen = QuantizedTexts(self.encoder, load, self.languages).chosen
        digests = frozenset[bytes]().union(*(texts.row_digests() for texts in self.texts()))
        if seen := digests & chosen.row_digests():
            raise InputError(
                f"{len(seen):,} of the texts that are evaluated are among those to fit on: choose other rows "
                f"(for instance {parameter('fit', 'FILE#train')} and {parameter('split', 'test')})"
            )
        options = self.run.options
        source = VectorSource(
            f"text encoder {self.name!r}",
            f"encoding texts to fit on: {self.name}",
            options.store,
            options.progress,
        )
        found = dense(encode(self.encoder, chosen, source).vectors, source.who, "a smaller form")
        return Fitting(found, chosen.language, digest(*sorted(chosen.row_digests())).hex())


def ordered_again(lists: Lists, queries: TextRows, candidates: TextRows) -> Lists:
    """Return lists in the order of the exact similarity of the rows that their lines name."""
    keys = similarity_of(queries, candidates).exact(lists.query, lists.candidate)
    return reordered(lists, np.arange(len(lists.query)), keys)


def both_pools(vectors: Sides, queries: Ints, candidates: Ints) -> tuple[TextPool, TextPool]:
    """Return the chosen rows of both sides, equal ones collapsed."""
    return TextPool.of(vectors.queries, queries), TextPool.of(vectors.candidates, candidates)
