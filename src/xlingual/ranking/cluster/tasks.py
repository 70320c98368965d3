"""The tasks of a machine of the cluster: rank one pair of shards, or merge finished parts.

The functions are plain ones, which need no Ray. They take their vectors from the shared folder and leave what
they find there, so that a machine that is lost loses nothing but what it was at.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from xlingual.errors import DataWarning, XlingualError
from xlingual.ranking.cluster.shards import MissingShardError, Shard, ShardList, read_shard
from xlingual.ranking.folders import open_folder
from xlingual.ranking.local import choose_local
from xlingual.ranking.parts import DamagedPartError, PassState, packed, unpacked
from xlingual.ranking.similarity import Cosine
from xlingual.ranking.vectors import UnitVectors

PARTS = "parts"  # within the shared folder


@dataclass(frozen=True)
class Side:
    """One shard, and its list."""

    shard: Shard
    dim: int
    dtype: str

    @classmethod
    def of(cls, found: ShardList, number: int) -> Side:
        """Return a shard of a list."""
        return cls(found.shards[number], found.dim, found.dtype)


@dataclass(frozen=True)
class Piece:
    """A pair of shards to rank."""

    shared: str
    name: str  # of the file of the finished part
    queries: Side
    candidates: Side
    requests: Sequence[Any]  # parts for separate passes, numbered from zero
    memory: int | None = None  # bytes that tiles may take

    def run(self) -> None:
        """Rank, and write the part."""
        similarity = Cosine(_vectors(self.shared, self.queries), _vectors(self.shared, self.candidates))
        everything = slice(0, similarity.shape[0]), slice(0, similarity.shape[1])
        parts = [request.within(*everything) for request in self.requests]  # what Ray sends is read-only
        choose_local(memory=self.memory).ranker.scan(similarity, parts)
        states = [part.state() for part in parts]
        _write(self.shared, self.name, PassState(states, similarity.screened, similarity.decided))


@dataclass(frozen=True)
class Merge:
    """Parts of the same queries and of candidates that follow each other, to be made one."""

    shared: str
    name: str
    requests: Sequence[Any]  # for all candidates of these queries, without weights
    height: int  # queries
    children: Sequence[tuple[int, int, str]]  # first candidate, the one after the last, file

    def run(self) -> None:
        """Merge the parts, and write the result."""
        seen = [read_part(self.shared, name) for _, _, name in self.children]
        rows, span = slice(0, self.height), slice(self.children[0][0], self.children[-1][1])
        states = []
        for number, request in enumerate(self.requests):
            whole, parts = request.within(rows, span), []
            for (low, high, _), one in zip(self.children, seen, strict=True):
                part = request.within(rows, slice(low, high))
                part.restore(one.states[number])
                parts.append(part)
            whole.merge(parts)
            states.append(whole.state())
        screened, decided = (sum(getattr(one, name) for one in seen) for name in ("screened", "decided"))
        _write(self.shared, self.name, PassState(states, screened, decided))


@dataclass(frozen=True)
class Outcome:
    """How a task ended: done, or why not."""

    refused: str = ""  # in words for the user
    damaged: str = ""  # the file that must be made again
    missing: str = ""  # vectors that must be written again, in words
    messages: tuple[str, ...] = ()  # of warnings


class LostPartError(Exception):
    """A part that was finished is missing or damaged; the argument is its file."""


def run(job: Piece | Merge, version: str) -> Outcome:
    """Do a job; problems are returned, since not every error can be sent between machines."""
    own = own_version()
    if version != own:
        return Outcome(
            f"xlingual is {own} on a machine of the cluster and {version} where the command runs: install "
            "the same on all"
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        outcome = _outcome(job)
    messages = [str(one.message) for one in caught if issubclass(one.category, DataWarning)]
    return replace(outcome, messages=tuple(dict.fromkeys(messages)))


def _outcome(job: Piece | Merge) -> Outcome:
    try:
        job.run()
    except LostPartError as error:
        return Outcome(damaged=str(error))
    except MissingShardError as error:
        return Outcome(missing=str(error))
    except XlingualError as error:
        return Outcome(str(error))
    except OSError as error:
        return Outcome(
            f"a machine of the cluster cannot use the shared folder {job.shared} "
            f"({error.strerror or error}): all must be able to read and write there"
        )
    return Outcome()


def read_part(shared: str, name: str) -> PassState:
    """Return the state of a part; raise LostPartError, and remove it, where it is damaged."""
    folder = open_folder(shared, PARTS)
    try:
        return unpacked(folder.read(name))
    except FileNotFoundError as error:
        raise LostPartError(name) from error
    except DamagedPartError as error:
        folder.remove(name)
        raise LostPartError(name) from error


def own_version() -> str:
    """Return the version of xlingual that runs here."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("xlingual")
    except PackageNotFoundError:  # run from a folder, not installed
        return "unknown"


def _write(shared: str, name: str, seen: PassState) -> None:
    open_folder(shared, PARTS).write(name, packed(seen))


@lru_cache(maxsize=3)  # of a worker's process: a task often shares a shard with the one before
def _vectors(shared: str, side: Side) -> UnitVectors:
    return read_shard(shared, side.shard, side.dim, side.dtype)
