"""Which back end ranks, and why."""

from __future__ import annotations

from xlingual.errors import InputError
from xlingual.ranking.folders import FolderLike
from xlingual.ranking.local import Chosen, choose_local

BACKENDS = ("auto", "cpu", "torch", "ray")


def choose(
    backend: str = "auto",
    *,
    threads: int = 1,
    memory: int | None = None,
    device: str | None = None,
    precision: str | None = None,
    address: str | None = None,
    shared: FolderLike | None = None,
) -> Chosen:
    """Return the back end for the options; numbers do not depend on it.

    Args:
        backend: one of `BACKENDS`; "auto" takes what this machine has.
        threads: tiles side by side, on a processor.
        memory: bytes that tiles may take at a time; None leaves it to the back end.
        device: where torch ranks: auto, cpu, cuda, cuda:1. With "auto", a CUDA device asks for torch.
        precision: what torch screens in; the processor does it in float32, and says so.
        address: "ray": the cluster's head, HOST:PORT, or "auto"; None starts Ray on this machine.
        shared: "ray": the folder that all machines of the cluster see, as a path or URL.

    Raises:
        InputError: an option is not known, or its device is not there.
        MissingExtraError: a package of the chosen back end is not installed.

    """
    if backend not in BACKENDS:
        raise InputError(f"backend {backend!r} is not known: choose among {', '.join(BACKENDS)}")
    if backend == "ray":
        if device is not None or precision is not None:
            raise InputError(
                "--backend ray: each worker takes the device it has; leave out --device and --precision"
            )
        return _with_ray(address, shared, threads, memory)
    if address is not None or shared is not None:
        raise InputError("--address and --shared are of clusters: add --backend ray, or leave them out")
    return choose_local(backend, threads=threads, memory=memory, device=device, precision=precision)


def _with_ray(address: str | None, shared: FolderLike | None, cores: int, memory: int | None) -> Chosen:
    from xlingual.ranking.cluster import RayRanker
    from xlingual.ranking.cluster.connection import cluster_address, imported

    imported()  # says what to install, before any work is done
    cluster = cluster_address(address)
    if cluster is not None and shared is None:
        raise InputError("--shared is missing: name a folder, or a URL, that all machines of the cluster see")
    ranker = RayRanker(cluster, shared, cores=cores, memory=memory)
    if cluster is not None:
        ranker.connect()
    return Chosen(ranker, f"on the Ray cluster at {cluster}" if cluster else "by Ray on this machine")
