"""Who computes the tiles of a pass: the processor, torch, or the machines of a cluster (`ray`).

A ranker maps one function over blocks of queries. The function makes the same answers wherever it runs, since
keys decide what scores leave open: no ranker changes a number.
"""

from __future__ import annotations

import copy
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from threadpoolctl import ThreadpoolController

from xlingual.errors import InputError, MissingExtraError, warn
from xlingual.extras import pip_line
from xlingual.ranking.passes import Blocks, Watcher, scan_block
from xlingual.ranking.similarity import UNIT, Similarity, as_scores
from xlingual.ranking.tiles import TILE_BYTES, Device

Arrays: TypeAlias = list[dict[str, np.ndarray]]  # of each watcher, for one block
Answers: TypeAlias = Iterator[tuple[slice, Arrays]]

_TORCH_TILE_BYTES = 1 << 28
_PROBE = 48  # speed: queries and candidates whose scores on a device are checked
_DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/kfd")  # Nvidia, the same under WSL, AMD
_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "CUBLAS_STATUS_ALLOC_FAILED")


def one_library_thread() -> AbstractContextManager[object]:
    """Hold the linear algebra library to one thread: tiles run side by side instead."""
    limits: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(limits=1)
    return limits


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Find the linear algebra libraries that are loaded: an import of another module may bring one."""
    return ThreadpoolController()


@dataclass(frozen=True)
class Cpu:
    """Ranks with numpy; threads take blocks of queries side by side."""

    threads: int = 1
    blocks: Blocks | None = None

    def map(self, similarity: Similarity, watchers: Sequence[Watcher], blocks: Sequence[slice]) -> Answers:
        """Yield blocks in order; at most threads + 1 of them are begun and not yet taken."""
        begun = deque[tuple[slice, Future[Arrays]]]()
        pool = ThreadPoolExecutor(self.threads, initializer=one_library_thread)  # OpenMP counts by thread
        with one_library_thread():
            if self.threads == 1:  # in this thread, where Ctrl-C is heard at once
                yield from ((rows, scan_block(similarity, watchers, rows, Device())) for rows in blocks)
                return
            try:
                for rows in blocks:
                    begun.append((rows, pool.submit(scan_block, similarity, watchers, rows, Device())))
                    if len(begun) > self.threads:  # speed
                        first, arrays = begun.popleft()
                        yield first, arrays.result()
                for rows, arrays in begun:
                    yield rows, arrays.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def about(self) -> dict[str, str | int | float]:
        """Give the facts that results record."""
        return {"backend": "cpu"}


CPU = Cpu()


@dataclass(frozen=True)
class Torch:
    """Ranks with torch on a device such as cuda, cuda:1 or cpu; None: CUDA where there is any, else cpu."""

    device: str | None = None
    blocks: Blocks | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "device", _torch_device(self.device or "auto"))

    def map(self, similarity: Similarity, watchers: Sequence[Watcher], blocks: Sequence[slice]) -> Answers:
        """Yield blocks in order; a block that does not fit in memory begins again with smaller tiles."""
        device, arrays = Device(str(self.device), _TORCH_TILE_BYTES), None
        for rows in blocks:
            checked, arrays = arrays is not None, None
            while arrays is None:
                try:
                    with _true_float32(device):
                        if not checked:
                            _check(similarity, rows, device)
                        arrays = scan_block(similarity, watchers, rows, device)
                except (MemoryError, RuntimeError) as error:
                    if not (isinstance(error, MemoryError) or any(word in str(error) for word in _NO_MEMORY)):
                        raise
                    device = self._with_smaller_tiles(device)
            yield rows, arrays

    def _with_smaller_tiles(self, device: Device) -> Device:
        name = self.about()["device"]
        if device.tile_bytes <= TILE_BYTES:
            raise InputError(f"{name} has too little memory: end what else uses it, or take --backend cpu")
        if device.tile_bytes == _TORCH_TILE_BYTES:
            warn(f"{name} ran out of memory: ranking goes on with smaller tiles")
        device.xp.cuda.empty_cache()
        return Device(device.name, device.tile_bytes // 2)

    def about(self) -> dict[str, str | int | float]:
        """Give the facts that results record."""
        import torch

        name = str(self.device)
        model = f" ({torch.cuda.get_device_name(name)})" if name.startswith("cuda") else ""
        return {"backend": "torch", "device": name + model}


def _torch_device(name: str) -> str:
    """Check that torch can rank on a device; a CUDA device is named with its number."""
    if find_spec("torch") is None:
        raise MissingExtraError("ranking with torch", "torch")
    import torch

    lacking = "" if torch.cuda.is_available() else why_no_cuda()
    try:
        device = torch.device(name if name != "auto" else "cpu" if lacking else "cuda")
    except RuntimeError:
        raise InputError(f"device {name!r} is not known: write cpu, cuda or cuda:1") from None
    if device.type == "cpu":
        return "cpu"
    if device.type != "cuda":
        raise InputError(f"device {name!r} cannot rank: the error of its products is not known; take cpu")
    if lacking:
        raise InputError(f"device {name!r} is not there: {lacking}; take --backend cpu")
    index = torch.cuda.current_device() if device.index is None else device.index
    if index >= torch.cuda.device_count():
        raise InputError(f"device {name!r} is not there: the last is cuda:{torch.cuda.device_count() - 1}")
    return f"cuda:{index}"


def why_no_cuda() -> str:
    """Say why there is no CUDA device, "" where there is; torch is imported only where a driver is."""
    if sys.platform != "win32" and not any(Path(driver).exists() for driver in _DRIVERS):
        return "no CUDA device was found"
    if find_spec("torch") is None:
        return f"a GPU may be here, but no torch ({pip_line('torch')})"
    import torch

    seen = torch.cuda.is_available()
    return "" if seen else f"torch {torch.__version__} finds no CUDA device (look at CUDA_VISIBLE_DEVICES)"


@contextmanager
def _true_float32(device: Device) -> Iterator[None]:
    """Let torch multiply in float32, without TF32 or autocast; the user's settings return afterwards."""
    torch = device.xp
    matmuls: tuple[Any, ...] = torch.backends.cuda.matmul, getattr(torch.backends.mkldnn, "matmul", None)
    switches = [matmul for matmul in matmuls if hasattr(matmul, "fp32_precision")]  # torch 2.9 and later
    before = [switch.fp32_precision for switch in switches]
    precision = None if switches else torch.get_float32_matmul_precision()
    try:
        for switch in switches:
            switch.fp32_precision = "ieee"
        if precision is not None:
            torch.set_float32_matmul_precision("highest")
        with torch.no_grad(), torch.autocast(device.name.partition(":")[0], enabled=False):
            yield
    finally:
        for switch, value in zip(switches, before, strict=True):
            switch.fp32_precision = value
        if precision is not None:
            torch.set_float32_matmul_precision(precision)


def _check(similarity: Similarity, rows: slice, device: Device) -> None:
    """Compare scores of a device with exact ones: each may be off by half the band."""
    columns = slice(0, min(similarity.shape[1], 4096))
    trial = copy.copy(similarity)  # whose pairs do not count
    scores = device.host(trial.panel(columns, device)(rows, None))
    i, j = (np.unique(np.linspace(0, n - 1, _PROBE).astype(np.int64)) for n in scores.shape)
    errors = np.abs(scores[np.ix_(i, j)] - as_scores(trial.key_block(i + rows.start, j)))
    if not errors.max() <= similarity.band / 2 + UNIT:
        raise InputError(
            f"{device.name} multiplies less exactly than float32 promises (off by {errors.max():.1g}): take "
            "--backend cpu"
        )
