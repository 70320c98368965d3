"""Which back end of this machine ranks, and why."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.errors import InputError
from xlingual.ranking.cpu import Cpu
from xlingual.ranking.ranker import Ranker
from xlingual.ranking.torch import devices
from xlingual.ranking.torch.arithmetic import PRECISIONS


@dataclass(frozen=True)
class Chosen:
    """A back end, and why it was chosen, in words."""

    ranker: Ranker
    why: str
    notable: bool = False  # printed even where no terminal watches


def choose_local(
    backend: str = "auto",
    *,
    threads: int = 1,
    memory: int | None = None,
    device: str | None = None,
    precision: str | None = None,
) -> Chosen:
    """Return the processor or torch: as `choice.choose`, which knows clusters too, does for "auto"."""
    if precision not in (None, *PRECISIONS):
        raise InputError(f"precision {precision!r} is not known: choose among {', '.join(PRECISIONS)}")
    if backend == "cpu" and (device or "cpu") not in ("auto", "cpu"):
        raise InputError(f"--backend cpu ranks on the processor: leave out --device {device}, or --backend")
    if backend == "cpu" and precision not in (None, "fp32"):
        raise InputError(f"--backend cpu screens in fp32: leave out --precision {precision}, or --backend")
    if backend == "torch" or (backend == "auto" and _on_cuda(device)):
        return _with_torch(device, precision, threads, memory, requested=backend == "torch")
    ranker = Cpu(threads) if memory is None else Cpu.within(memory, threads)
    many = "1 thread" if ranker.threads == 1 else f"{ranker.threads} threads"
    because = f": {devices.why_no_cuda()}" if backend == "auto" and device in (None, "auto") else ""
    ignored = precision not in (None, "fp32")
    remark = f" (not in {precision}, which is for torch: the processor screens in fp32)" if ignored else ""
    return Chosen(ranker, f"on the processor, {many}{because}{remark}", notable=ignored)


def _on_cuda(device: str | None) -> bool:
    """Return whether "auto" means torch: a device is asked for, or nothing was and there is a CUDA device.

    A device that cannot rank is asked for, too: torch says why it cannot.
    """
    return devices.cuda_at_hand() if device in (None, "auto") else device != "cpu"


def _with_torch(
    device: str | None, precision: str | None, threads: int, memory: int | None, *, requested: bool
) -> Chosen:
    from xlingual.ranking.torch import TorchRanker

    ranker = TorchRanker(device, precision=precision, memory=memory, threads=threads)
    about = ranker.about()
    found = "" if requested or device not in (None, "auto") else ", which was found"
    return Chosen(
        ranker, f"on {about['device']}{found}; screened in {about['precision']}, decided in float64"
    )
