"""Where a model runs and with what numbers: device, threads, mixed precision, random numbers, batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.runtime import choose_device
from xlingual.errors import InputError
from xlingual.streams import stream


def training_device(wanted: str) -> torch.device:
    """Return the device that an option names; `auto` is cuda, else mps, else cpu."""
    return choose_device(None if wanted == "auto" else wanted, "training")


class MixedPrecision:
    """Products in 16 bits where the options ask for them; weights and their sums in 32.

    float16 has a small range: the loss is scaled up, and a step whose gradient overflows is left out and the
    scale halved (Micikevicius and others 2018).
    """

    def __init__(self, name: str, device: torch.device) -> None:
        if name == "float16" and device.type != "cuda":
            raise InputError(
                f"precision float16 needs cuda, and this training runs on {device.type}: choose bfloat16"
                " or float32"
            )
        if name == "bfloat16" and device.type == "mps":
            raise InputError("precision bfloat16 is not offered on mps: choose float32, or device=cpu")
        self._device, self._dtype = device.type, getattr(torch, name)
        self.scaler = torch.amp.GradScaler(device.type, enabled=name == "float16")

    def context(self) -> Any:  # noqa: ANN401  (a context manager)
        """Return the context in which the loss is computed."""
        if self._dtype == torch.float32:
            return nullcontext()
        return torch.autocast(self._device, dtype=self._dtype)


def in_batches(
    model: nn.Module, rows: Ints, dim: int, batch: int, encode: Callable[[Ints], Tensor]
) -> Vectors:
    """Return the vectors float32 [n, dim] that `encode` makes of n rows, some at a time.

    The rows are 0 … n − 1 in the order in which they are encoded. There is neither dropout nor a gradient.
    """
    vectors = np.empty((len(rows), dim), dtype=np.float32)
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            for start in range(0, len(rows), batch):
                part = rows[start : start + batch]
                vectors[part] = encode(part).float().cpu().numpy()
    finally:
        model.train(was_training)
    return vectors


@contextmanager
def torch_threads(count: int | None) -> Iterator[None]:
    """Let torch use so many threads inside; None leaves it as it is."""
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int, name: str, device: torch.device) -> Iterator[None]:
    """Give torch the named random stream of a seed inside; the caller's own goes on untouched afterwards."""
    number = int(stream(seed, name).integers(2**63))
    cuda = []
    if device.type == "cuda":
        cuda = [torch.cuda.current_device() if device.index is None else device.index]
    with torch.random.fork_rng(devices=cuda):
        torch.default_generator.manual_seed(number)
        for index in cuda:
            with torch.cuda.device(index):
                torch.cuda.manual_seed(number)
        before = torch.mps.get_rng_state() if device.type == "mps" else None
        if before is not None:
            torch.mps.manual_seed(number)
        try:
            yield
        finally:
            if before is not None:
                torch.mps.set_rng_state(before)
