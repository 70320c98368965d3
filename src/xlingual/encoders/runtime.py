"""Shared by encoders that run a network: batches of like length, memory that runs out, devices, loading."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from logging import Handler
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.errors import InputError, MissingExtraError, XlingualError, listed, warn

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
LIKE = 0.75  # rows shorter than this part of their batch's longest one would be padding for the most part
# messages of the libraries that memory ran out, besides their own exceptions
_SIGNS = ("out of memory", "not enough memory", "can't allocate memory", "failed to allocate", "alloc_failed")
# weights that a checkpoint lacks or has in another shape, as transformers lists them
_RANDOM = re.compile(r"^([\w.]+)\s*\|\s*(?:MISSING|MISMATCH)", flags=re.MULTILINE)


class Batches:
    """Rows in batches of at most `size`, which is halved for good where a batch does not fit into memory."""

    def __init__(self, size: int, who: str) -> None:
        self.size, self.who = size, who

    def run(self, lengths: Sequence[int] | Ints, run: Callable[[Ints], Any], dim: int = 0) -> Vectors:
        """Compute float32 [n, d]: what `run(rows)` gives for batches of rows, in order.

        Rows go from the longest to the shortest (`lengths` are of tokens, pixels, …; equal ones keep their
        order), and a batch ends early before a row of less than `LIKE` times the length of its first one: a
        batch holds little padding, and what needs the most memory comes first. `dim` is the d of no rows.
        """
        length = np.asarray(lengths, dtype=np.int64)
        order = np.argsort(-length, kind="stable")
        answer, start = np.zeros((0, dim), dtype=np.float32), 0
        while start < len(order):
            rows = order[start : start + self.size]
            rows = rows[length[rows] >= LIKE * length[rows[0]]]
            vectors = self.attempt(partial(run, rows), len(rows))
            if vectors is None:
                continue
            if start == 0:
                answer = np.empty((len(order), vectors.shape[1]), dtype=np.float32)
            answer[rows] = np.asarray(vectors)
            start += len(rows)
        return answer

    def attempt(self, run: Callable[[], T], rows: int) -> T | None:
        """Compute what `run` gives; where a batch of `rows` does not fit, halve the size and give None."""
        try:
            return run()
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
        # only here, where the exception no longer holds the frames with the tensors, is memory given back
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available():
            torch.cuda.empty_cache()
        if rows == 1:
            raise InputError(f"{self.who}: out of memory with a single row: {_SMALLER}")
        self.size = rows // 2
        warn(f"{self.who}: a batch of {rows} did not fit into memory: write batch={self.size}")
        return None


_SMALLER = "lower max_length, choose dtype=float16, a smaller model or device=cpu"


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an exception of numpy, torch or onnxruntime says that memory ran out."""
    out_of_memory = isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)
    return out_of_memory or isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def distinct_rows(rows: Iterable[T]) -> tuple[list[T], Ints]:
    """List the distinct rows in the order of their first places, and which of them each row is, [n].

    >>> distinct_rows(["b", "a", "b"])[0]
    ['b', 'a']
    """
    number: dict[T, int] = {}
    index = np.array([number.setdefault(row, len(number)) for row in rows], dtype=np.int64)
    return list(number), index


def require(who: str, extra: str, *packages: str) -> None:
    """Raise MissingExtraError where a package is not installed; none is imported."""
    for package in packages:
        if not (sys.modules[package] if package in sys.modules else find_spec(package)):
            raise MissingExtraError(who, extra)


def choose_device(name: str | None, who: str) -> torch.device:
    """Choose the device of a name; without one cuda, else mps, else cpu."""
    import torch

    has = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    usable = [kind for kind, there in has.items() if there]
    try:
        device = torch.device(name or usable[0])
    except RuntimeError:
        raise InputError(f"{who}: device={name} is none: write cpu, cuda, cuda:1 or mps") from None
    count = torch.cuda.device_count() if device.type == "cuda" else 1
    if not has.get(device.type, True) or (device.index or 0) >= count:
        raise InputError(f"{who}: device={name} is not on this machine, which has {listed(usable)}")
    return device


def device_part(name: str | None, dtype: str, who: str) -> str:
    """Write what an identity says of the device: nothing in float32, else its type, such as `&device=cuda`.

    Below float32 devices round so differently that their vectors must not be mixed.
    """
    return "" if dtype == "float32" else f"&device={choose_device(name, who).type}"


@contextmanager
def loading(who: str) -> Iterator[list[str]]:
    """Keep progress bars and warnings of transformers off the screen; give the warnings as a list.

    What fails inside is reported in one line.
    """
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    messages: list[str] = []
    handler = Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logging.set_verbosity_warning()
    logging.disable_default_handler()
    logging.add_handler(handler)
    logging.disable_progress_bar()
    try:
        yield messages
    except XlingualError:
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        problem = f"cannot be loaded ({type(error).__name__}: {text[:300]})"
        if is_out_of_memory(error):
            problem = f"out of memory with the model: {_SMALLER}"
        elif "trust_remote_code" in text:
            problem = (
                "has Python code, which is never run: load it in a function of yours, python:MODULE:NAME"
            )
        raise InputError(f"{who}: {problem}") from error
    finally:
        logging.set_verbosity(level)
        logging.remove_handler(handler)
        logging.enable_default_handler()
        if bars:
            logging.enable_progress_bar()


def refuse_random(who: str, messages: Sequence[str], kind: str, *unread: str) -> None:
    """Raise InputError where weights are not in the checkpoint, as transformers warned.

    Weights whose names have one of the parts `unread`, those of a pooler, say, do not count.
    """
    names = [
        name for name in _RANDOM.findall("\n".join(messages)) if not any(part in name for part in unread)
    ]
    if names:
        raise InputError(
            f"{who}: {len(names)} weights are not in the checkpoint or have another shape: they would be "
            f"random ({listed(names, 2)}): is it a model of the type {kind}?"
        )


@contextmanager
def running(who: str) -> Iterator[None]:
    """Report in one line what fails while a network runs; memory that runs out passes as it is."""
    try:
        yield
    except (XlingualError, Warning):
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise
        text = " ".join(str(error).split())[:300]
        raise InputError(
            f"{who}: the model fails while it encodes ({type(error).__name__}: {text}): do its files belong "
            "together? Fetch it again, or try device=cpu"
        ) from error
