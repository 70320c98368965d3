"""Ranks on a cluster: Ray does one task for each block of queries, on whichever machine is free.

The similarity and the watchers are put into Ray's object store once for each pass. So there is no shared
folder to set up, and a machine holds the vectors once, however many of its cores rank. A pass whose vectors
do not fit into the store of a machine is refused. Ray does the block of a lost worker again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from xlingual.cluster import (
    HEADLESS,
    connect,
    gone,
    held_back,
    imported,
    is_alive,
    machines,
    one_line,
    why_not_here,
)
from xlingual.errors import InputError, XlingualError
from xlingual.ranking.passes import Blocks, Watcher
from xlingual.ranking.rankers import Answers, Arrays, Cpu, Torch
from xlingual.ranking.similarity import Similarity

_WAIT = 0.5  # seconds without an answer, after which Ctrl-C is heard
_GRACE = 15.0  # seconds for cancelled tasks to end


@dataclass(frozen=True)
class Ray:
    """Ranks on the cluster whose head is at `address`: HOST:PORT, or "auto" for that of this machine.

    Without an address the variable RAY_ADDRESS names it, else Ray starts on this machine with `threads`
    cores (None: all). Where machines have GPUs, each task takes one. Pairs are not tallied.
    """

    address: str | None = None
    blocks: Blocks | None = None
    threads: int | None = None

    def map(self, similarity: Similarity, watchers: Sequence[Watcher], blocks: Sequence[slice]) -> Answers:
        """Yield blocks as they are done, in any order."""
        ray, errors = connect(self.address, self.threads), imported().exceptions
        waiting, running = deque(blocks), dict[Any, slice]()
        heard = time.monotonic()
        try:
            with held_back():
                kind = "GPU" if ray.cluster_resources().get("GPU", 0) else "CPU"
                task = ray.remote(num_cpus=1, num_gpus=int(kind == "GPU"), max_retries=3)(_scan)
                shared = [_put(ray, (similarity, tuple(watchers)))]  # in a list: tasks take it from the store
            while waiting or running:
                with held_back():
                    slots = max(1, int(ray.cluster_resources().get(kind, 0)))  # machines may come and go
                    while waiting and len(running) < 2 * slots:
                        rows = waiting.popleft()
                        running[task.remote(shared, rows, version("xlingual"))] = rows
                    done, _ = ray.wait(list(running), timeout=_WAIT)
                    if done or is_alive(ray):
                        heard = time.monotonic()
                    elif time.monotonic() - heard > HEADLESS:
                        raise ConnectionError("its head, or every machine, is gone")
                    answers = [(running.pop(reference), _answer(ray, reference)) for reference in done]
                yield from answers
        except (ConnectionError, errors.RaySystemError) as error:
            running.clear()  # nobody answers who could cancel them
            raise gone(error) from error
        finally:
            with held_back():
                for reference in running:
                    ray.cancel(reference)
                if running:  # a program that ends before its tasks can crash Ray
                    ray.wait(list(running), num_returns=len(running), timeout=_GRACE)

    def about(self) -> dict[str, str | int | float]:
        """Give the facts that results record."""
        ray = imported()
        return {"backend": "ray", "machines": len(machines(ray)) if ray.is_initialized() else 0}


def _put(ray: Any, content: object) -> Any:  # noqa: ANN401  (the module; a reference)
    """Put the content of a pass into the object store; raise InputError where a machine cannot hold it."""
    reference = ray.put(content)
    size = ray.experimental.get_object_locations([reference])[reference]["object_size"]
    room = min((node["Resources"].get("object_store_memory", 0) for node in machines(ray)), default=size)
    if size > room:
        raise InputError(
            f"a pass needs {size / 1e9:.3g} GB for vectors on each machine, and the object store of one has "
            f"{room / 1e9:.3g} GB: start Ray there with more (--object-store-memory), or take --backend cpu"
        )
    return reference


def _scan(shared: Sequence[Any], rows: slice, sender: str) -> Arrays | str:
    """Rank a block on a machine of the cluster; errors are returned in words."""
    if other := why_not_here(sender):
        return other
    similarity, watchers = _received(shared[0])
    try:
        ranker = Torch("cuda") if imported().get_gpu_ids() else Cpu()
        [(_, arrays)] = ranker.map(similarity, watchers, [rows])
    except XlingualError as error:
        return str(error)
    return arrays


@lru_cache(maxsize=1)  # a worker does many blocks of one pass
def _received(reference: Any) -> tuple[Similarity, Sequence[Watcher]]:  # noqa: ANN401
    content: tuple[Similarity, Sequence[Watcher]] = imported().get(reference)
    return content


def _answer(ray: Any, reference: Any) -> Arrays:  # noqa: ANN401
    """Take the answer of a task; raise XlingualError where it has none."""
    try:
        answer: Arrays | str = ray.get(reference)
    except ray.exceptions.RaySystemError:
        raise
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None) or error
        raise XlingualError(
            f"a machine of the Ray cluster could not rank ({type(cause).__name__}: {one_line(cause)}): look "
            "at its memory, and whether it has the same xlingual as this machine"
        ) from error
    if isinstance(answer, str):
        raise InputError(answer)
    return answer
