"""Where a model runs and with what numbers: device, threads, 16 bits, random numbers, batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.runtime import choose_device
from xlingual.errors import InputError
from xlingual.streams import stream
from xlingual.training.options import FitOptions


def training_device(options: FitOptions) -> torch.device:
    """Return the device that the options name; `auto` is cuda, else mps, else cpu."""
    device = choose_device(None if options.device == "auto" else options.device, "training")
    if options.precision == "bfloat16" and device.type == "mps":
        raise InputError("precision bfloat16 is not offered on mps: choose float32, or device=cpu")
    return device


@contextmanager
def running(options: FitOptions, epoch: int, device: torch.device) -> Iterator[None]:
    """Give torch its threads and the random stream of an epoch; the caller's go on untouched afterwards."""
    threads = torch.get_num_threads()
    number = int(stream(options.seed, f"epoch {epoch}").integers(2**63))
    others = [device] if device.type in ("cuda", "mps") else []
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    try:
        with torch.random.fork_rng(devices=others, device_type=device.type if others else "cuda"):
            torch.manual_seed(number)
            yield
    finally:
        torch.set_num_threads(threads)


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
