"""What every system that returns lists has, and what is asked of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from xlingual.arrays import Ints
from xlingual.ranking.listed import Lists
from xlingual.systems.names import Names


@dataclass(frozen=True, eq=False)
class Search:
    """The queries [n] and candidates [m] of an evaluation, as rows of all that have names.

    `source`, `target` and `seed` are what files of one search are named by. `alone`: there is no other pair
    of languages, so that ids need no language. `ties`: "trec" asks for the order of trec_eval, which has
    none.
    """

    queries: Names
    candidates: Names
    query_rows: Ints  # [n]
    candidate_rows: Ints  # [m]
    source: str
    target: str
    seed: int
    alone: bool = False
    ties: str = "expected"

    @property
    def where(self) -> str:
        """The search, in messages."""
        return "the pool" if self.target == "pool" else f"{self.source}-{self.target}"


class ListSystem(ABC):
    """A system that returns lists of candidates: it takes the place of an encoder and its similarity."""

    returns_lists = True
    # what evaluations ask encoders; a system's lists are the same whatever is asked
    by_role = False
    trained_on_images: bool | None = None
    fitted_transform = False

    @property
    @abstractmethod
    def identity(self) -> str:
        """Everything that changes its lists, in one line."""

    @property
    @abstractmethod
    def depth(self) -> int:
        """How long its lists are at the most."""

    @property
    def cost(self) -> Mapping[str, float]:
        """What a query costs, as results keep it (`xlingual.results.evaluation.Cost`)."""
        return {}

    @abstractmethod
    def lists(self, search: Search) -> Lists:
        """Return its lists of a search; raise InputError where they do not belong to it."""
