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
from xlingual.forms import joined_vectors
from xlingual.records import Encoded, Texts

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
LIKE = 0.75  # rows shorter than this part of their batch's longest one would be padding for the most part
PART = 16_384  # texts whose tokens are held at once
# messages of the libraries that memory ran out, besides their own exceptions
_SIGNS = ("out of memory", "not enough memory", "can't allocate memory", "failed to allocate", "alloc_failed")
# weights that a checkpoint lacks or has in another shape, as transformers lists them
_RANDOM = re.compile(r"^([\w.]+)\s*\|\s*(?:MISSING|MISMATCH)", flags=re.MULTILINE)


class Memory:
    """The batch size that fits into memory, as an encoder has learnt it from batches that did not fit.

    `cells`, the rows of a batch times the length of its longest one, is None until a batch did not fit.
    """

    def __init__(self) -> None:
        self.cells: int | None = None

    def rows(self, most: int, length: int) -> int:
        """Return how many rows, 1 to `most`, a batch may have whose longest one has this length."""
        return most if self.cells is None else max(1, min(most, self.cells // max(1, length)))


def in_batches(
    lengths: Sequence[int] | Ints,
    batch_size: int,
    run: Callable[[Ints], Any],
    *,
    who: str,
    dim: int = 0,
    memory: Memory | None = None,
) -> Vectors:
    """Compute float32 [n, d]: what `run(rows)` gives for batches of at most `batch_size` rows, in order.

    `lengths[i]` is the length of row i (tokens, characters, pixels; equal numbers keep their order). Rows go
    from the longest to the shortest, and a batch ends early before a row of less than `LIKE` times the length
    of its first one: a batch holds little padding, and what needs the most memory is tried first. A batch
    that does not fit is halved, no later one is larger than that (in rows times length), and a DataWarning
    names the size that worked; where even one row does not fit, InputError. `memory` keeps what an encoder
    has learnt for later calls. `who` begins both messages, `dim` is the d of an empty answer.
    """
    length = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(-length, kind="stable")
    memory = memory or Memory()
    answer, start, refused = np.zeros((0, dim), dtype=np.float32), 0, 0
    while start < len(order):
        longest = int(length[order[start]])
        rows = order[start : start + memory.rows(batch_size, longest)]
        rows = rows[length[rows] >= LIKE * longest]
        vectors = unless_out_of_memory(partial(run, rows))
        if vectors is None:
            if len(rows) == 1:
                raise too_large(who, f"a single row (of length {longest})")
            refused, size = refused or len(rows), len(rows) // 2
            memory.cells = size * max(1, longest)
            continue
        if start == 0:
            answer = np.empty((len(order), vectors.shape[1]), dtype=np.float32)
        answer[rows] = np.asarray(vectors)
        start += len(rows)
    if refused:
        warn_halved(who, refused, size)
    return answer


def too_large(who: str, what: str) -> InputError:
    """Make the error for memory that does not hold `what`."""
    return InputError(
        f"{who}: out of memory with {what}: lower max_length, choose dtype=float16, a smaller model or "
        "device=cpu"
    )


def warn_halved(who: str, refused: int, size: int) -> None:
    """Warn that a batch did not fit, and with which size one did."""
    warn(f"{who}: a batch of {refused} did not fit into memory, one of {size} did: write batch={size}")


def unless_out_of_memory(run: Callable[[], T]) -> T | None:
    """Compute what `run` gives, or None where memory ran out."""
    try:
        return run()
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
    # only here, where the exception no longer holds the frames that hold the tensors, is memory given back
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an exception of numpy, torch or onnxruntime says that memory ran out."""
    out_of_memory = isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)
    return out_of_memory or isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def in_parts(encode: Callable[[Texts], Encoded], batch: Texts, size: int = PART) -> Encoded:
    """Encode at most `size` texts at a time, so that few tokens are held at once, and join the parts."""
    if len(batch) <= size:
        return encode(batch)
    rows = np.arange(len(batch))
    parts = [encode(batch.take(rows[start : start + size])) for start in range(0, len(batch), size)]
    return Encoded(
        joined_vectors([part.vectors for part in parts]), np.concatenate([part.truncated for part in parts])
    )


def distinct_rows(rows: Iterable[T]) -> tuple[list[T], Ints]:
    """List the distinct rows in the order of their first places, and which of them each row is, [n].

    >>> distinct_rows(["b", "a", "b"])[0]
    ['b', 'a']
    """
    number: dict[T, int] = {}
    index = np.array([number.setdefault(row, len(number)) for row in rows], dtype=np.int64)
    return list(number), index


def rows_by_language(batch: Texts) -> list[tuple[str, Ints]]:
    """List each language of a batch, in the order of their first texts, with its rows."""
    tags, code = distinct_rows(batch.language)
    return [(tag, np.flatnonzero(code == number)) for number, tag in enumerate(tags)]


def require(who: str, extra: str, *packages: str) -> None:
    """Raise MissingExtraError where a package is not installed; none is imported."""
    for package in packages:
        if not (sys.modules[package] if package in sys.modules else find_spec(package)):
            raise MissingExtraError(who, extra)


def choose_device(name: str | None, who: str) -> torch.device:
    """Choose the device of a name; without one cuda, else mps, else cpu."""
    import torch

    has = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name is None:
        return torch.device(next(kind for kind, there in has.items() if there))
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"{who}: device={name} is none: write cpu, cuda, cuda:1 or mps") from None
    count = torch.cuda.device_count() if device.type == "cuda" else 1
    if not has.get(device.type, True) or (device.index or 0) >= count:
        usable = ", ".join(kind for kind, there in has.items() if there)
        raise InputError(f"{who}: device={name} is not on this machine, which has {usable}")
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
    except (InputError, MissingExtraError):
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        if is_out_of_memory(error):
            raise too_large(who, "the model") from error
        if "sacremoses" in text:
            raise MissingExtraError(f"the tokenizer of {who}", "mt") from error
        if "trust_remote_code" in text:
            raise InputError(
                f"{who}: the model comes with Python code, which is never run: load it in a function of "
                "yours that you trust, python:MODULE:FUNCTION"
            ) from error
        raise InputError(f"{who}: cannot be loaded ({type(error).__name__}: {text[:300]})") from error
    finally:
        logging.set_verbosity(level)
        logging.remove_handler(handler)
        logging.enable_default_handler()
        if bars:
            logging.enable_progress_bar()


def refuse_random(who: str, messages: Sequence[str], kind: str, *unread: str) -> None:
    """Raise InputError where weights are not in the checkpoint, as transformers warned.

    Weights count whose names have none of the parts `unread`: those of a pooler, say.
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
