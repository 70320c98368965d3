"""What networks of pictures share: each content once, decoded ahead, batch by batch through the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.batching import Memory, in_batches
from xlingual.encoders.decoding import decoded, distinct
from xlingual.encoders.options import TEXT
from xlingual.errors import InputError
from xlingual.records import Pictures

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")
_TEXT_ONLY = {"pair": None, "prompts": "model"}  # of single schemes, with their defaults
MOST_NARROW = 100  # times that a side may be the other: processors scale the shorter one up


def encode_pictures(
    pictures: Pictures,
    prepare: Callable[[Image], T],
    run: Callable[[Sequence[T]], Vectors],
    *,
    batch_size: int,
    who: str,
    memory: Memory | None = None,
) -> Vectors:
    """Return float32 [n, d]: what `run` returns for batches of prepared pictures, in order.

    `prepare` runs in worker threads while `run` works on earlier pictures. Pictures with equal bytes go
    through once. `memory` is the encoder's, for batches that do not fit. Without pictures d is that of a
    white one.

    Raises InputError naming the first row whose picture is absent, broken or cannot be prepared.
    """

    def checked(picture: Image) -> T:
        _refuse_narrow(picture)
        return prepare(picture)

    if not len(pictures):
        return run([prepare(_white())])[:0]
    first, code = distinct(pictures)
    waiting = _Waiting(decoded(pictures.take(first), checked, ahead=2 * batch_size))
    vectors = in_batches(
        np.ones(len(first), dtype=np.int64),  # all of one size: they stay in order
        batch_size,
        lambda rows: run(waiting.take(rows)),
        who=who,
        memory=memory,
    )
    return vectors[code]


def by_shape(
    pictures: Sequence[T], shape: Callable[[T], object], run: Callable[[list[T]], Vectors]
) -> Vectors:
    """Return float32 [n, d] of prepared pictures; those of one shape go through `run` together."""
    groups: dict[object, list[int]] = {}
    for row, picture in enumerate(pictures):
        groups.setdefault(shape(picture), []).append(row)
    found: dict[int, Vectors] = {}
    for rows in groups.values():
        found.update(zip(rows, run([pictures[row] for row in rows]), strict=True))
    return np.stack([found[row] for row in range(len(pictures))])


class _Waiting(Generic[T]):
    """Prepared pictures that the worker threads have given, until their vectors are there."""

    def __init__(self, pictures: Iterator[T]) -> None:
        self._pictures, self._next = pictures, 0
        self._kept: dict[int, T] = {}

    def take(self, rows: Ints) -> list[T]:
        """Return consecutive pictures; earlier ones are let go, so rows never go back."""
        first, last = int(rows[0]), int(rows[-1])
        self._kept = {row: one for row, one in self._kept.items() if row >= first}
        while self._next <= last:  # raises where a picture is broken: it ends early
            self._kept[self._next] = next(self._pictures)
            self._next += 1
        return [self._kept[row] for row in range(first, last + 1)]


def refuse_text_options(who: str, options: Mapping[str, Any]) -> None:
    """Raise InputError for an option that pictures have no use for."""
    if options.get("pool") == "last":
        raise InputError(f"{who}: pool=last is for texts; of pictures there are mean, cls and pooler")
    usual = {option.name: option.default for option in TEXT} | _TEXT_ONLY
    for name, default in usual.items():
        if options.get(name, default) != default:
            raise InputError(f"{who}: {name} is an option for texts: leave it out for pictures")


def _refuse_narrow(picture: Image) -> None:
    short, long = sorted(picture.size)
    if long > MOST_NARROW * short:
        raise InputError(
            f"it has {picture.width} × {picture.height} pixels, one side more than {MOST_NARROW} times the "
            "other: crop it, or leave the row out"
        )


def _white() -> Image:
    from PIL import Image

    return Image.new("RGB", (64, 64), "white")
