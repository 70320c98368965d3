"""Images decoded in worker threads while the encoder works, in order and a bounded number ahead.

Pillow lets other threads run while it decodes and scales, so that decoding overlaps encoding. Networks get
each content once, batch by batch.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.runtime import Memory, in_batches
from xlingual.errors import InputError, parameter
from xlingual.images import GLANCE, THREADS, ImageSource, open_image, read_bytes
from xlingual.records import Images, digest

if TYPE_CHECKING:
    from PIL.Image import Image


T = TypeVar("T")
MOST_NARROW = 100  # times that a side may be the other: processors scale the shorter one up
SKIP = f"{parameter('skip_broken', True)} leaves their rows out"


class BrokenImagesError(InputError):
    """Images of a batch are missing or broken; the message names the first and counts them."""


def decoded(
    images: Images,
    prepare: Callable[[Image], T],
    *,
    side: int | None = None,
    ahead: int = 64,
    threads: int = THREADS,
) -> Iterator[T]:
    """Yield `prepare(image)` of each image, in order; both run in worker threads.

    At most `ahead` images are begun and not yet taken, so that memory is bounded. `side` as in
    `open_image`. `threads=0` does the work in the calling thread.

    Raises InputError naming the first row whose image is missing or broken, and how many are.
    """
    if len(images) and all(source is None for source in images.source):
        raise InputError(
            f"no row has an image: name the column of images ({parameter('image_column')}), or use vectors "
            "of the images (vectors:PATH)"
        )
    failed: list[InputError] = []
    for value in _outcomes(images, prepare, side, ahead, threads):
        if isinstance(value, InputError):
            failed.append(value)
        elif not failed:  # after a failure the others are only counted
            yield value
    if failed:
        raise BrokenImagesError(counted(str(failed[0]), len(failed), images))


def counted(
    first: str, failed: int, images: Images, remedy: str = SKIP, *, without: int | None = None
) -> str:
    """Return why the first of some images fails, how many do, and what to do.

    Rows that name no image are among those that fail, and counted apart; `without` is their number where
    `images` has only one for all of them.
    """
    none = sum(source is None for source in images.source)
    count, failed = len(images) - none, failed - none
    none = none if without is None else without
    parts = [f"{failed} of {count} images are missing or broken"] if failed else []
    parts += [f"{none} {'text has' if none == 1 else 'texts have'} no image"] if none else []
    return f"{first} ({', '.join(parts)}; {remedy})"


def broken(images: Images, *, threads: int = THREADS) -> dict[int, str]:
    """Return the positions of images that are absent, missing or broken, each with the reason."""
    found = enumerate(_outcomes(images, lambda image: None, GLANCE, 64, threads))
    return {i: str(outcome) for i, outcome in found if isinstance(outcome, InputError)}


def broken_rows(images: Images) -> dict[int, str]:
    """Return the same for images of which some stand for several: one that is broken breaks the row."""
    several = images.singles()
    if several is None:
        return broken(images)
    single, row = several
    return {int(row[i]): reason for i, reason in reversed(broken(single).items())}


def distinct(images: Images) -> tuple[Ints, Ints]:
    """Return (first [u], code [n]): the first image of each content, and which content each image has.

    Images are of one content where their bytes are equal. Only those of equal length are read; one that
    cannot be read is alone.
    """
    sizes = [_size(source) for source in images.source]
    shared = {size for size, count in Counter(sizes).items() if count > 1}
    contents = (
        _content(source, i) if size in shared else i
        for i, (source, size) in enumerate(zip(images.source, sizes, strict=True))
    )
    first: dict[bytes | int, int] = {}  # content → the first image of it
    whose = np.array([first.setdefault(content, i) for i, content in enumerate(contents)], dtype=np.int64)
    chosen = np.array(list(first.values()), dtype=np.int64)
    return chosen, np.searchsorted(chosen, whose)


def _outcomes(
    images: Images, prepare: Callable[[Image], T], side: int | None, ahead: int, threads: int
) -> Iterator[T | InputError]:
    """Yield what each image gives, or the error that says why it gives nothing."""

    def one(source: ImageSource | None, row: str) -> T | InputError:
        try:
            image = open_image(source, row=row, side=side)
        except InputError as error:
            return error
        try:
            return prepare(image)
        except (InputError, ValueError, ZeroDivisionError, OverflowError) as error:
            return InputError(f"row {row!r}: the image cannot be used: {' '.join(str(error).split())[:200]}")

    rows = zip(images.source, images.ids, strict=True)
    if threads == 0:
        yield from (one(*row) for row in rows)
        return
    executor = ThreadPoolExecutor(threads, thread_name_prefix="decoding")
    begun: deque[Future[T | InputError]] = deque()
    try:
        for row in rows:
            begun.append(executor.submit(one, *row))
            if len(begun) >= max(ahead, 1):
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:  # the caller may have stopped early
        executor.shutdown(wait=True, cancel_futures=True)


def _size(source: ImageSource | None) -> int:
    """Return how many bytes an image has; -1 where there are none to read."""
    if isinstance(source, bytes):
        return len(source)
    with suppress(OSError, ValueError):
        return source.stat().st_size if isinstance(source, Path) else -1
    return -1


def _content(source: ImageSource | None, position: int) -> bytes | int:
    """Return a digest of an image's bytes, or its position where they cannot be read."""
    try:
        return digest(read_bytes(source))
    except InputError:
        return position


def encode_images(
    images: Images,
    prepare: Callable[[Image], T],
    run: Callable[[Sequence[T]], Vectors],
    *,
    batch_size: int,
    who: str,
    memory: Memory | None = None,
) -> Vectors:
    """Return float32 [n, d]: what `run` returns for batches of prepared images, in order.

    `prepare` runs in worker threads while `run` works on earlier images. Images with equal bytes go
    through once. `memory` is the encoder's, for batches that do not fit. Without images d is that of a
    white one.

    Raises InputError naming the first row whose image is absent, broken or cannot be prepared.
    """

    def checked(image: Image) -> T:
        short, long = sorted(image.size)
        if long > MOST_NARROW * short:
            raise InputError(
                f"it has {image.width} × {image.height} pixels, one side more than {MOST_NARROW} times "
                "the other: crop it, or leave the row out"
            )
        return prepare(image)

    if not len(images):
        from PIL import Image

        return run([prepare(Image.new("RGB", (64, 64), "white"))])[:0]
    first, code = distinct(images)
    waiting = enumerate(decoded(images.take(first), checked, ahead=2 * batch_size))
    kept: dict[int, T] = {}  # prepared images, until their vectors are there

    def run_consecutive(rows: Ints) -> Vectors:
        for row in [row for row in kept if row < rows[0]]:  # rows never go back
            del kept[row]
        kept.update(islice(waiting, max(0, len(rows) - len(kept))))
        return run([kept[row] for row in rows.tolist()])

    vectors = in_batches(
        np.ones(len(first), dtype=np.int64),  # all of one size: they stay in order
        batch_size,
        run_consecutive,
        who=who,
        memory=memory,
    )
    return vectors[code]
