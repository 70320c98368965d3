"""The work of a pass as a tree for each shard of queries: pairs of shards are the leaves, merges the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xlingual.ranking.parts import SUFFIX

_FAN = 16  # parts that are merged at a time


@dataclass
class Node:
    """A part to be made: of one pair of shards, or of the parts below it."""

    row: int  # number of the shard of queries
    first: int  # number of the first shard of candidates
    last: int  # and of the last one
    name: str  # of its file
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None
    done: bool = False
    attempts: int = 0

    @property
    def is_ready(self) -> bool:
        """Whether all that it needs is there."""
        return not self.done and all(child.done for child in self.children)

    @property
    def is_seen(self) -> bool:
        """Whether its result is there: its own file, or one that it was merged into."""
        return self.done or (self.parent is not None and self.parent.is_seen)

    def leaves(self) -> Iterator[Node]:
        """Yield the pairs of shards below, itself if it is one."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def to_do(self, there: set[str]) -> Iterator[Node]:
        """Yield what can be begun, for files that are there already."""
        if self.name in there:
            self.done = True
            return
        for child in self.children:
            yield from child.to_do(there)
        if self.is_ready:
            yield self


def tree(identity: str, row: int, shards: int) -> Node:
    """Return the tree of a shard of queries against so many shards of candidates."""
    level = [Node(row, number, number, f"{identity}-{row}-{number}{SUFFIX}") for number in range(shards)]
    while len(level) > 1:
        level = [_above(identity, level[i : i + _FAN]) for i in range(0, len(level), _FAN)]
    return level[0]


def _above(identity: str, children: Sequence[Node]) -> Node:
    if len(children) == 1:
        return children[0]
    first, last = children[0].first, children[-1].last
    name = f"{identity}-{children[0].row}-{first}to{last}{SUFFIX}"
    node = Node(children[0].row, first, last, name, list(children))
    for child in children:
        child.parent = node
    return node
