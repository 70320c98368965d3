"""Which back end ranks, and why."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.errors import InputError
from xlingual.ranking.cpu import Cpu
from xlingual.ranking.folders import FolderLike
from xlingual.ranking.ranker import Ranker

BACKENDS = ("auto", "cpu", "ray")


@dataclass(frozen=True)
class Chosen:
    """A back end, and why it was chosen, in words."""

    ranker: Ranker
    why: str
    notable: bool = False  # worth telling where nobody watches, too


def choose(
    backend: str = "auto",
    *,
    threads: int = 1,
    memory: int | None = None,
    address: str | None = None,
    shared: FolderLike | None = None,
) -> Chosen:
    """Return the back end for what was asked; numbers do not depend on it.

    Args:
        backend: one of `BACKENDS`; "auto" takes what this machine has.
        threads: tiles side by side, on a processor.
        memory: bytes that tiles may take at a time; None leaves it to the back end.
        address: "ray": the cluster's head, HOST:PORT, or "auto"; None starts Ray on this machine.
        shared: "ray": the folder that all machines of the cluster see, as a path or URL.

    Raises:
        InputError: what was asked for is not known, not installed or not there.

    """
    if backend not in BACKENDS:
        raise InputError(f"backend {backend!r} is not known: choose among {', '.join(BACKENDS)}")
    if backend == "ray":
        from xlingual.ranking.cluster import RayRanker
        from xlingual.ranking.cluster.connection import cluster_address, imported

        imported()  # says what to install, before any work is done
        cluster = cluster_address(address)
        if cluster is not None and shared is None:
            raise InputError(
                "--shared is missing: name a folder, or a URL, that all machines of the cluster see"
            )
        ranked = RayRanker(cluster, shared, cores=threads, memory=memory)
        if cluster is not None:
            ranked.connect()
        return Chosen(ranked, f"on the Ray cluster at {cluster}" if cluster else "by Ray on this machine")
    if address is not None or shared is not None:
        raise InputError("--address and --shared are of clusters: add --backend ray, or leave them out")
    ranker = Cpu(threads) if memory is None else Cpu.within(memory, threads)
    many = "1 thread" if ranker.threads == 1 else f"{ranker.threads} threads"
    return Chosen(ranker, f"on the processor, {many}")
