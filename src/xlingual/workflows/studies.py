"""What the studies share that train several models: how long steps take, and the names in their progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xlingual.embed.encoding import Progress


@contextmanager
def timed(timings: dict[str, float], step: str) -> Iterator[None]:
    """Note how many seconds a step took."""
    begun = time.perf_counter()
    yield
    timings[step] = time.perf_counter() - begun


def naming(name: str, progress: Progress | None, *, epochs: bool = True) -> Progress | None:
    """Return a callback whose sentences begin with the name of the model that is trained.

    Without `epochs` it leaves out the sentences that stay, one for each epoch: the training's log has them.
    """
    if progress is None:
        return None

    def named(what: str, done: int, total: int) -> None:
        if epochs or total >= 0:
            progress(f"{name}: {what}", done, total)

    return named


def interrupted(folder: Path) -> bool:
    """Whether a folder has a training that can go on."""
    from xlingual.training.checkpoints import Checkpoints

    return Checkpoints(folder).exists()
