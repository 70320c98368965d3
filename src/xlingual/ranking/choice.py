"""Which back end ranks, and why."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.errors import InputError
from xlingual.ranking.cpu import Cpu
from xlingual.ranking.folders import FolderLike
from xlingual.ranking.ranker import Ranker

BACKENDS = ("auto", "cpu", "torch", "ray")


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
    device: str | None = None,
    precision: str | None = None,
    address: str | None = None,
    shared: FolderLike | None = None,
) -> Chosen:
    """Return the back end for what was asked; numbers do not depend on it.

    Args:
        backend: one of `BACKENDS`; "auto" takes what this machine has.
        threads: tiles side by side, on a processor.
        memory: bytes that tiles may take at a time; None leaves it to the back end.
        device: where torch ranks: auto, cpu, cuda, cuda:1. With "auto", a CUDA device asks for torch.
        precision: what torch screens in; the processor does it in float32, and says so.
        address: "ray": the cluster's head, HOST:PORT, or "auto"; None starts Ray on this machine.
        shared: "ray": the folder that all machines of the cluster see, as a path or URL.

    Raises:
        InputError: what was asked for is not known, or not there.
        MissingExtraError: what was asked for is not installed.

    """
    if backend not in BACKENDS:
        raise InputError(f"backend {backend!r} is not known: choose among {', '.join(BACKENDS)}")
    from xlingual.ranking.torch.arithmetic import PRECISIONS

    if precision not in (None, *PRECISIONS):
        raise InputError(f"precision {precision!r} is not known: choose among {', '.join(PRECISIONS)}")
    if backend == "ray":
        if device is not None or precision is not None:
            raise InputError(
                "--backend ray: each worker takes the device it has; leave out --device and --precision"
            )
        return _with_ray(address, shared, threads, memory)
    if address is not None or shared is not None:
        raise InputError("--address and --shared are of clusters: add --backend ray, or leave them out")
    if backend == "cpu" and (device or "cpu") not in ("auto", "cpu"):
        raise InputError(f"--backend cpu ranks on the processor: leave out --device {device}, or --backend")
    if backend == "cpu" and precision not in (None, "fp32"):
        raise InputError(f"--backend cpu screens in fp32: leave out --precision {precision}, or --backend")
    if backend == "torch" or (backend == "auto" and _on_cuda(device)):
        return _with_torch(device, precision, threads, memory, asked=backend == "torch")
    ranker = Cpu(threads) if memory is None else Cpu.within(memory, threads)
    many = "1 thread" if ranker.threads == 1 else f"{ranker.threads} threads"
    because = f": {_no_cuda()}" if backend == "auto" and device in (None, "auto") else ""
    ignored = precision not in (None, "fp32")
    remark = f" (not in {precision}, which is for torch: the processor screens in fp32)" if ignored else ""
    return Chosen(ranker, f"on the processor, {many}{because}{remark}", notable=ignored)


def _on_cuda(device: str | None) -> bool:
    """Return whether "auto" means torch: a device is asked for, or nothing was and there is a CUDA device.

    A device that cannot rank is asked for, too: torch says why it cannot.
    """
    from xlingual.ranking.torch.devices import cuda_at_hand

    return cuda_at_hand() if device in (None, "auto") else device != "cpu"


def _no_cuda() -> str:
    from xlingual.ranking.torch.devices import why_no_cuda

    return why_no_cuda()


def _with_torch(
    device: str | None, precision: str | None, threads: int, memory: int | None, *, asked: bool
) -> Chosen:
    from xlingual.ranking.torch import TorchRanker

    ranker = TorchRanker(device, precision=precision, memory=memory, threads=threads)
    about = ranker.about()
    found = "" if asked or device not in (None, "auto") else ", which was found"
    return Chosen(
        ranker, f"on {about['device']}{found}; screened in {about['precision']}, decided in float64"
    )


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
