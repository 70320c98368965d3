"""What the studies share that train several models: how long steps take, and the names in their progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def timed(timings: dict[str, float], step: str) -> Iterator[None]:
    """Note how many seconds a step took."""
    begun = time.perf_counter()
    yield
    timings[step] = time.perf_counter() - begun


def interrupted(folder: Path) -> bool:
    """Whether a folder has a training that can go on."""
    from xlingual.training.checkpoints import Checkpoints

    return Checkpoints(folder).exists()
