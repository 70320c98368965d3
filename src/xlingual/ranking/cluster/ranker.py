"""The ranker of several machines: Ray gives out pairs of shards, and what they saw is merged in a tree."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from typing import Any

from xlingual.ranking.cluster.connection import cluster_address, connect
from xlingual.ranking.cluster.interruption import held_back
from xlingual.ranking.cluster.machines import check_machines
from xlingual.ranking.cluster.schedule import Cut, Resources, Schedule
from xlingual.ranking.cluster.shards import FOLDER, check_alike, write_shards
from xlingual.ranking.cluster.tasks import PARTS
from xlingual.ranking.cpu import Cpu
from xlingual.ranking.folders import FolderLike, open_folder, remove_old
from xlingual.ranking.parts import FORMAT, divisible, request_bytes
from xlingual.ranking.scan import Progress, Reduction
from xlingual.ranking.similarity import Cosine, Similarity
from xlingual.records import digest
from xlingual.signature import CONVENTIONS

_TASKS = 64  # of a pass, about: enough to keep some machines busy
_LEAST, _MOST = 2 * 10**9, 2 * 10**12  # pairs × dimensions of a task: from a blink to half a minute of a core
_SHARDS = 256  # of a side, at most, however many rows it has
_SHARE = 4  # of a task's memory: a shard's vectors, as they are stored and as float32
_ROWS = 256

MEMORY = 4 << 30  # bytes of a task, unless said


class RayRanker:
    """Ranks on all machines of a Ray cluster; the answer is the same to the last count.

    Args:
        address: the cluster's head ("10.0.0.1:6379"), or "auto" for the cluster of this machine. None: that
            of the variable RAY_ADDRESS, else Ray is started on this machine alone.
        shared: a folder that all machines see, as a path or as a URL that fsspec reaches. Vectors stay in
            it; parts do until `forget`. None (this machine alone): a temporary folder.
        cores: tasks side by side, where Ray is started here.
        memory: bytes that a task may take.
        gpus: what a task asks of a GPU (0.5: two share one); None: one where the cluster has any.
        sides: rows of a shard of queries and of candidates; None: what fits into `memory`.

    """

    def __init__(
        self,
        address: str | None = None,
        shared: FolderLike | None = None,
        *,
        cores: int = 1,
        memory: int | None = None,
        gpus: float | None = None,
        sides: tuple[int, int] | None = None,
    ) -> None:
        self.address = cluster_address(address)
        self.cores, self.memory, self.gpus, self.sides = cores, memory or MEMORY, gpus, sides
        self._temporary = None if shared is not None else tempfile.TemporaryDirectory(prefix="xlingual-")
        self.shared = os.fspath(self._temporary.name if self._temporary is not None else shared)  # type: ignore[arg-type]
        if "://" not in self.shared:
            self.shared = os.path.abspath(self.shared)
        self.machines = 0
        self.made = self.found = self.repeated = 0  # parts: computed, there already, computed once more
        self._passes: set[str] = set()
        self._written: set[str] = set()  # files of vectors
        self._given = False
        self._ray: Any = None

    def connect(self) -> None:
        """Reach the cluster and look at its machines; `scan` does so by itself.

        Raises InputError where the cluster, a machine of it or the shared folder cannot be used.
        """
        if self._ray is None:
            ray = connect(self.address, self.cores)
            with held_back():
                self.machines = check_machines(ray, self.shared)
            if self.address is None:
                for name in (PARTS, FOLDER):
                    remove_old(open_folder(self.shared, name))
            self._ray = ray

    def scan(
        self, similarity: Similarity, reductions: Sequence[Reduction], *, progress: Progress | None = None
    ) -> None:
        """Let every reduction see every pair once."""
        if not isinstance(similarity, Cosine) or not divisible(similarity, reductions):
            self._given = True
            Cpu(self.cores).scan(similarity, reductions, progress=progress)
            return
        if 0 in similarity.shape:
            return
        self.connect()
        cut = self._cut(similarity, reductions)
        self._passes.add(cut.identity)
        resources = Resources.of(self._ray, self.gpus)
        schedule = Schedule(
            self._ray, cut, reductions, resources, rewrite=lambda: self._cut(similarity, reductions)
        )
        try:
            schedule.run(similarity, progress)
        finally:
            self.made += schedule.made
            self.found += schedule.found
            self.repeated += schedule.repeated

    def about(self) -> dict[str, str | int | float]:
        """Return what ranked."""
        found: dict[str, str | int | float] = {"backend": "ray", "machines": self.machines}
        return {**found, "given_scores": "cpu"} if self._given else found

    def forget(self) -> None:
        """Remove the parts of all passes that were made with this object.

        The vectors stay for other passes on them, but where Ray was started for this program alone.
        """
        folder = open_folder(self.shared, PARTS)
        for name in folder.names():
            if name.partition("-")[0] in self._passes:
                folder.remove(name)
        vectors = open_folder(self.shared, FOLDER)
        for name in self._written if self.address is None else ():
            vectors.remove(name)
        for one in (folder, vectors, open_folder(self.shared)):
            one.tidy()
        self._passes, self._written = set(), set()

    def _cut(self, similarity: Cosine, reductions: Sequence[Reduction]) -> Cut:
        """Write the vectors where all machines see them, and return how the pass is cut."""
        shape, raw = similarity.shape, similarity.queries.raw
        itemsize = max(raw.dtype.itemsize, similarity.candidates.raw.dtype.itemsize)
        high, wide = self.sides or shard_rows(shape, similarity.queries.dim, itemsize, self.memory)
        queries = write_shards(self.shared, similarity.queries, high)
        candidates = write_shards(self.shared, similarity.candidates, wide)
        check_alike(queries, candidates)
        for side in (queries, candidates):
            self._written.update([f"{side.digest}.json", *(shard.file for shard in side.shards)])
        everything = [reduction.alone(slice(0, shape[0]), slice(0, shape[1])) for reduction in reductions]
        identity = digest(
            FORMAT, CONVENTIONS, queries.digest, candidates.digest, *request_bytes(everything)
        ).hex()
        return Cut(self.shared, identity, queries, candidates, self.memory)


def shard_rows(shape: tuple[int, int], dim: int, itemsize: int, memory: int) -> tuple[int, int]:
    """Return how many queries and how many candidates a shard has.

    This follows from the size of the pass and a task's memory, never from who computes it. So a pass that was
    interrupted finds its parts again, however many machines there are the next time.

    Args:
        shape: queries and candidates.
        dim: dimensions of the vectors.
        itemsize: bytes of a stored number.
        memory: bytes that a task may take.

    """
    n, m = shape
    work = min(max(n * m * dim / _TASKS, _LEAST), _MOST)
    side = math.sqrt(work / dim)
    fitting = max(_ROWS, memory // _SHARE // (dim * (itemsize + 4)))
    rows = _rows(n, side, fitting)
    return rows, _rows(m, max(side, work / dim / rows), fitting)


def _rows(length: int, wanted: float, fitting: int) -> int:
    """Return the rows of shards that are about equal."""
    most = min(fitting, max(_ROWS, math.ceil(wanted), math.ceil(length / _SHARDS)))
    return math.ceil(length / math.ceil(length / most)) if length else 1
