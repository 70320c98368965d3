"""One pass on a cluster: which tasks are begun when, what happens to lost ones, and the answers in order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xlingual.errors import InputError, XlingualError, warn
from xlingual.ranking.cluster.connection import HEADLESS, answers, gone
from xlingual.ranking.cluster.interruption import held_back
from xlingual.ranking.cluster.shards import ShardList
from xlingual.ranking.cluster.tasks import (
    PARTS,
    LostPartError,
    Merge,
    Outcome,
    Piece,
    Side,
    own_version,
    read_part,
    run,
)
from xlingual.ranking.cluster.tree import Node, tree
from xlingual.ranking.folders import open_folder
from xlingual.ranking.parts import without_weights
from xlingual.ranking.scan import Progress, Reduction
from xlingual.ranking.similarity import Cosine

_RETRIES = 3  # by Ray itself, of a task whose machine was lost
_ATTEMPTS = 3  # of a task that Ray has given up, or whose file was damaged
_AHEAD = 2  # tasks begun for each that can run at a time
_LOOK = 5.0  # seconds between looks at how many can run
_WAIT = 0.5  # seconds without an answer, after which it is seen whether somebody wants to stop
_GRACE = 15.0  # seconds for tasks to end that were called off
_STARVED = 120.0  # seconds without any machine that could work, after which it is an error
_STUCK = 60.0  # seconds without an answer while all machines are idle, after which tasks are begun again


@dataclass(frozen=True)
class Cut:
    """A pass cut into pairs of shards; `identity` is the digest of the request and the vectors."""

    shared: str
    identity: str
    queries: ShardList
    candidates: ShardList
    memory: int


@dataclass(frozen=True)
class Resources:
    """The resources that a task needs on its machine."""

    cpus: int
    gpus: float

    @classmethod
    def of(cls, ray: Any, gpus: float | None) -> Resources:  # noqa: ANN401  (the module ray)
        """Return one core, and the share of a GPU that is asked for, by default one where there are any."""
        there = ray.cluster_resources().get("GPU", 0)
        if gpus and not there:
            raise InputError("the Ray cluster has no GPU: leave out gpus, or start machines that have one")
        return cls(1, (1.0 if there else 0.0) if gpus is None else gpus)

    def slots(self, ray: Any) -> int:  # noqa: ANN401
        """Return how many tasks can run at a time, as the cluster is now."""
        there = ray.cluster_resources()
        most = there.get("CPU", 0) / self.cpus
        return int(min(most, there.get("GPU", 0) / self.gpus) if self.gpus else most)


class Schedule:
    """Makes one pass: begins tasks as machines are free, and hands finished queries on in order."""

    def __init__(
        self,
        ray: Any,  # noqa: ANN401  (the module)
        cut: Cut,
        reductions: Sequence[Reduction],
        resources: Resources,
        rewrite: Callable[[], object],  # writes the vectors that are not there
    ) -> None:
        self._rewrite = rewrite
        self.ray, self.cut, self.reductions, self.resources = ray, cut, reductions, resources
        self.made = self.found = self.repeated = 0
        self._there = open_folder(cut.shared, PARTS).names()
        self._task = ray.remote(
            num_cpus=resources.cpus, num_gpus=resources.gpus, max_retries=_RETRIES, max_calls=0
        )(run)
        self._version = own_version()
        self._ready: deque[Node] = deque()
        self._flying: dict[Any, Node] = {}
        self._roots: dict[int, Node] = {}
        self._opened = self._handed = 0  # shards of queries
        self._seen = 0  # pairs
        self._slots, self._checked, self._fed = 1, 0.0, time.monotonic()
        self._answered = self._able = time.monotonic()  # when the head was there, when a machine was
        self._damaged: list[str] = []
        self._missing: list[str] = []  # messages about vectors that were gone
        self._warned: set[str] = set()

    def run(self, similarity: Cosine, progress: Progress | None) -> None:
        """Make the pass; tasks that were begun are called off where it fails or is interrupted."""
        total = similarity.shape[0] * similarity.shape[1]
        try:
            with held_back() as interrupted:
                while self._handed < len(self.cut.queries.shards):
                    self._begin()
                    self._hand_on(similarity)
                    if self._flying:
                        self._collect()
                    interrupted()
                    if progress is not None:
                        progress(min(self._seen, total), total)
        except (self.ray.exceptions.RaySystemError, ConnectionError) as error:
            self._flying = {}  # nobody answers who could call them off
            raise gone(error) from error
        finally:
            with held_back():
                self._call_off()
            self._tell_damaged()

    def _begin(self) -> None:
        """Begin tasks, twice as many as can run; open further shards of queries as these run out."""
        if time.monotonic() - self._checked > _LOOK:
            self._check_cluster()
        while len(self._flying) < max(1, _AHEAD * self._slots):
            if not self._ready:
                if self._opened == len(self.cut.queries.shards):
                    return
                self._open()
                continue
            node = self._ready.popleft()
            self._flying[self._task.remote(self._job(node), self._version)] = node

    def _check_cluster(self) -> None:
        """Update how many tasks can run; raise where the cluster's head is gone, which Ray would wait for."""
        if answers(self.ray):
            self._answered, self._slots = time.monotonic(), self.resources.slots(self.ray)
            self._refuse_starving()
        elif time.monotonic() - self._answered > HEADLESS:
            raise gone(ConnectionError("nothing listens where its head was"))
        self._checked = time.monotonic()

    def _open(self) -> None:
        root = tree(self.cut.identity, self._opened, len(self.cut.candidates.shards))
        self._roots[self._opened] = root
        self._ready.extend(root.to_do(self._there))
        for leaf in root.leaves():
            if leaf.is_seen:
                self.found += 1
                self._seen += self._pairs(leaf)
        self._opened += 1

    def _job(self, node: Node) -> Piece | Merge:
        """Return the job of a node's task."""
        queries, candidates = self.cut.queries.bounds, self.cut.candidates.bounds
        rows = queries[node.row]
        if not node.children:
            columns = candidates[node.first]
            requests = [reduction.alone(rows, columns) for reduction in self.reductions]
            sides = Side.of(self.cut.queries, node.row), Side.of(self.cut.candidates, node.first)
            return Piece(self.cut.shared, node.name, *sides, requests, self.cut.memory)
        everything = slice(0, self.cut.candidates.rows)
        bases = [without_weights(reduction.alone(rows, everything)) for reduction in self.reductions]
        children = [
            (candidates[child.first].start, candidates[child.last].stop, child.name)
            for child in node.children
        ]
        return Merge(self.cut.shared, node.name, bases, rows.stop - rows.start, children)

    def _collect(self) -> None:
        """Wait for a task to end, and see how."""
        ended, _ = self.ray.wait(list(self._flying), num_returns=1, timeout=_WAIT)
        if not ended:
            self._begin_stuck_again()
            return
        more, _ = self.ray.wait(list(self._flying), num_returns=len(self._flying), timeout=0)
        for reference in dict.fromkeys([*ended, *more]):
            node = self._flying.pop(reference)
            self._fed = time.monotonic()
            outcome = self._outcome(node, reference)
            if outcome is None:
                self._begin_again(node)
                continue
            self._warn(outcome.messages)
            if outcome.refused:
                raise InputError(outcome.refused)
            if outcome.missing:
                self._write_again(node, outcome.missing)
            elif outcome.damaged:
                self._make_anew(node, outcome.damaged)
            else:
                self._finished(node)

    def _warn(self, sentences: Sequence[str]) -> None:
        """Warn of what tasks warned of, each sentence once."""
        for sentence in sentences:
            if sentence not in self._warned:
                warn(f"on a machine of the cluster: {sentence}")
        self._warned.update(sentences)

    def _write_again(self, node: Node, reason: str) -> None:
        """Have vectors that are gone written once more, and then the node's task done."""
        if node.attempts >= _ATTEMPTS:
            raise InputError(reason)
        self._rewrite()
        self._missing.append(reason)
        self._begin_again(node)

    def _outcome(self, node: Node, reference: Any) -> Outcome | None:  # noqa: ANN401
        """Return how a task ended; None where its machine was lost more often than Ray tries."""
        errors = self.ray.exceptions
        try:
            found: Outcome = self.ray.get(reference)
            return found
        except errors.RayTaskError as error:
            cause = error.cause if error.cause is not None else error
            if isinstance(cause, MemoryError):
                raise InputError(
                    "a task had not enough memory on a machine of the cluster: give less with --memory"
                ) from error
            words = " ".join(str(cause).split())[:200]
            raise XlingualError(
                f"a task failed on a machine of the cluster ({type(cause).__name__}: {words}): what is "
                "finished is kept in the shared folder"
            ) from error
        except errors.RaySystemError:
            raise
        except errors.RayError as error:
            if node.attempts >= _ATTEMPTS:
                raise XlingualError(
                    f"a task was lost {_ATTEMPTS + 1} times ({type(error).__name__}): machines may be short "
                    "of memory (give less with --memory); what is finished is kept in the shared folder, so "
                    "run the same again"
                ) from error
            return None

    def _finished(self, node: Node) -> None:
        node.done = True
        self.made += 1
        if not node.children:
            self._seen += self._pairs(node)
        if node.parent is not None and node.parent.is_ready:
            self._ready.appendleft(node.parent)

    def _begin_again(self, node: Node) -> None:
        """Begin a task once more."""
        node.attempts += 1
        self.repeated += 1
        self._ready.appendleft(node)

    def _make_anew(self, node: Node, name: str) -> None:
        """Have a damaged part below a node made again, and then the node."""
        lost = next(child for child in node.children if child.name == name)
        self._damaged.append(name)
        self._restore(lost)

    def _restore(self, node: Node) -> None:
        """Have a finished part made again, from the parts that are still there."""
        if node.attempts >= _ATTEMPTS:
            raise XlingualError(
                f"the shared folder {self.cut.shared} does not give back what was written to it: its disk "
                "may be failing; choose another one with --shared"
            )
        node.attempts += 1
        self.repeated += 1
        node.done = False
        self._there = open_folder(self.cut.shared, PARTS).names()
        if not node.children:
            self._seen -= self._pairs(node)
        self._ready.extendleft(node.to_do(self._there - {node.name}))

    def _hand_on(self, similarity: Cosine) -> None:
        """Let the reductions take in finished shards of queries, in order."""
        while self._handed in self._roots and self._roots[self._handed].done:
            root = self._roots[self._handed]
            try:
                seen = read_part(self.cut.shared, root.name)
            except LostPartError:
                self._damaged.append(root.name)
                self._restore(root)
                return
            rows = self.cut.queries.bounds[root.row]
            for reduction, state in zip(self.reductions, seen.states, strict=True):
                part = reduction.within(rows, slice(0, self.cut.candidates.rows))
                part.restore(state)
                reduction.merge([part])
            similarity.screened += seen.screened
            similarity.decided += seen.decided
            del self._roots[self._handed]
            self._handed += 1

    def _pairs(self, leaf: Node) -> int:
        return self.cut.queries.shards[leaf.row].rows * self.cut.candidates.shards[leaf.first].rows

    def _begin_stuck_again(self) -> None:
        """Begin all tasks again where no machine does any: they were lost, or their answers were."""
        if time.monotonic() - self._fed < _STUCK or not self._slots:
            return
        idle = self.ray.available_resources().get("CPU", 0) >= self.ray.cluster_resources().get("CPU", 0)
        if not idle:
            self._fed = time.monotonic()
            return
        nodes, self._flying, self._fed = list(self._flying.values()), {}, time.monotonic()
        there = open_folder(self.cut.shared, PARTS).names()
        for node in nodes:
            if node.name in there:  # the answer was lost on its way
                self._finished(node)
            elif node.attempts >= _ATTEMPTS:
                raise XlingualError(
                    "tasks are begun and never end: the machines of the Ray cluster do not reach this one "
                    "or each other (look at firewalls, and at the addresses that ray status shows); what is "
                    "finished is kept in the shared folder"
                )
            else:
                self._begin_again(node)

    def _refuse_starving(self) -> None:
        """Raise where for some time there has been no machine that could do a task."""
        if self._slots > 0 or not self._flying:
            self._able = time.monotonic()
            return
        if time.monotonic() - self._able > _STARVED:
            raise XlingualError(
                "no machine of the Ray cluster is left that could work: what is finished is kept in the "
                "shared folder; start machines with ray start --address HOST:PORT, and run the same again"
            )

    def _call_off(self) -> None:
        """Call off the tasks that were begun, and see them end: ending before them can crash Ray."""
        begun, self._flying = list(self._flying), {}
        try:
            for reference in begun:
                self.ray.cancel(reference, force=False)
            if begun:
                self.ray.wait(begun, num_returns=len(begun), timeout=_GRACE)
        except self.ray.exceptions.RayError:
            return  # the cluster is gone: so are they

    def _tell_damaged(self) -> None:
        if self._missing:
            warn(
                f"vectors were missing in {self.cut.shared} and written again: something removes them while "
                "they are needed (another command that has ended, perhaps)"
            )
        if self._damaged:
            many = "a finished part was" if len(self._damaged) == 1 else f"{len(self._damaged)} parts were"
            warn(
                f"{many} damaged or missing in {self.cut.shared} and computed again (first: "
                f"{self._damaged[0]})"
            )
