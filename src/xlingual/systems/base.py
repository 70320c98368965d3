"""What every system that returns lists has, and what is asked of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from xlingual.arrays import Ints
from xlingual.data.names import Names
from xlingual.encoders import Encoder
from xlingual.errors import InputError
from xlingual.ranking.listed import Lists
from xlingual.records import Encoded, Texts

Place: TypeAlias = tuple[str, str, int]  # source, target and seed of a search


@dataclass(frozen=True, eq=False)
class Search:
    """The queries [n] and candidates [m] of an evaluation, as rows of all that have names.

    `source`, `target` and `seed` are what files of one search are named by. `alone`: there is no other pair
    of languages, so that ids need no language. `called`: the search in messages, where it is of no pair.
    `ties`: "trec" asks for the order of trec_eval, which has none. Systems that are made of others ask
    `lists_of` for the first results of one, by its name and how many, `texts` for those of rows in a role,
    and `encode` for what a model makes of texts.
    """

    queries: Names
    candidates: Names
    query_rows: Ints  # [n]
    candidate_rows: Ints  # [m]
    source: str
    target: str
    seed: int
    alone: bool = False
    called: str = ""
    ties: str = "expected"
    lists_of: Callable[[str, int], Lists] | None = None
    texts: Callable[[str, Ints], Texts] | None = None
    encode: Callable[[Encoder, Texts], Encoded] | None = None

    def first(self, name: str, depth: int) -> Lists:
        """Return the first results of another system; raise InputError where none can be asked."""
        if self.lists_of is None:
            raise InputError(
                "systems that are made of others (rrf:, sum:, cross-encoder:) are evaluated by "
                "backretrieval, crosslingual-retrieval, multilingual-pool and retrieval: leave them out here"
            )
        return self.lists_of(name, depth)

    @property
    def place(self) -> Place:
        """What the search is of: source, target and seed."""
        return self.source, self.target, self.seed

    @property
    def where(self) -> str:
        """The search, in messages."""
        return self.called or f"{self.source}-{self.target}"

    @property
    def of_pair(self) -> bool:
        """Whether it is of one pair of languages, as a file of a run may be."""
        return not self.called


class ListSystem(ABC):
    """A system that returns lists of candidates: it takes the place of an encoder and its similarity."""

    returns_lists = True
    # what evaluations ask encoders; a system's lists are the same whatever is asked
    by_role = False
    trained_on_images: bool | None = None
    origin: str | None = None
    parts: tuple[str, ...] = ()  # names of the systems that it is made of

    @property
    @abstractmethod
    def identity(self) -> str:
        """Everything that changes its lists, in one line."""

    @property
    def identity_of_scores(self) -> str:
        """The same, where scores matter too."""
        return self.identity

    @property
    def identity_in_trec_order(self) -> str:
        """The same, where results are ordered as trec_eval orders them."""
        return self.identity

    def at(self, place: Place) -> ListSystem:
        """Return what answers one search: of a system that has a file for each, the one of that file."""
        return self

    def identity_over(self, part: Callable[[str, bool], str]) -> str:
        """Return the identity, with those of the parts: `part` has a name, and whether its scores matter."""
        return self.identity

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
