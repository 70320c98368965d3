"""Images decoded in worker threads while the encoder works, in order and a bounded number ahead.

Pillow lets other threads run while it decodes and scales, so that decoding overlaps encoding. Networks get
each content once, batch by batch.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.runtime import Batches, running
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
    images: Images, prepare: Callable[[Image], T], *, side: int | None = None, ahead: int = 64
) -> Iterator[T]:
    """Yield `prepare(image)` of each image, in order; both run in worker threads.

    At most `ahead` images are begun and not yet taken, so that memory is bounded. `side` as in
    `open_image`. Raises InputError naming the first row whose image is missing or broken, and how many are.
    """
    if len(images) and all(source is None for source in images.source):
        raise InputError(
            f"no row has an image: name the column of images ({parameter('image_column')}), or use vectors "
            "of the images (vectors:PATH)"
        )
    failures: list[InputError] = []
    for outcome in _outcomes(images, prepare, side, ahead):
        if isinstance(outcome, InputError):
            failures.append(outcome)
        elif not failures:  # after a failure the others are only counted
            yield outcome
    if failures:
        raise BrokenImagesError(counted(str(failures[0]), len(failures), images))


def counted(
    first: str, failed: int, images: Images, remedy: str = SKIP, *, without: int | None = None
) -> str:
    """Write why the first of some images fails, how many do, and what to do.

    Rows that name no image are among those that fail, and counted apart; `without` is their number where
    `images` has only one for all of them.
    """
    none = sum(source is None for source in images.source)
    count, failed = len(images) - none, failed - none
    none = none if without is None else without
    parts = [f"{failed} of {count} images are missing or broken"] if failed else []
    parts += [f"{none} {'text has' if none == 1 else 'texts have'} no image"] if none else []
    return f"{first} ({', '.join(parts)}; {remedy})"


def broken(images: Images) -> dict[int, str]:
    """Find the rows with an image that is absent, missing or broken, each with the reason."""
    outcomes = enumerate(_outcomes(images, lambda image: None, GLANCE, 64))
    return {row: str(outcome) for row, outcome in outcomes if isinstance(outcome, InputError)}


def distinct(images: Images) -> tuple[Ints, Ints]:
    """Find the first image of each content [u], and which content each image has [n].

    Images are of one content where their bytes are equal. Only those of equal length are read; one that
    cannot be read is alone.
    """

    def size(source: ImageSource | None) -> int:
        if isinstance(source, bytes):
            return len(source)
        with suppress(OSError, ValueError):
            return source.stat().st_size if isinstance(source, Path) else -1
        return -1

    sizes = list(map(size, images.source))
    shared = {size for size, count in Counter(sizes).items() if count > 1}
    number: dict[Hashable, int] = {}
    code = np.zeros(len(images), dtype=np.int64)
    for i, source in enumerate(images.source):
        content: Hashable = i
        if sizes[i] in shared:
            with suppress(InputError):
                content = digest(read_bytes(source))
        code[i] = number.setdefault(content, len(number))
    return np.unique(code, return_index=True)[1], code


def _outcomes(
    images: Images, prepare: Callable[[Image], T], side: int | None, ahead: int
) -> Iterator[T | InputError]:
    """Yield what each image gives, or the error that says why it gives nothing."""

    def outcome(source: ImageSource | None, row: str) -> T | InputError:
        try:
            image = open_image(source, row=row, side=side)
        except InputError as error:
            return error
        try:
            return prepare(image)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            return InputError(f"row {row!r}: the image cannot be used: {' '.join(str(error).split())[:200]}")

    executor = ThreadPoolExecutor(THREADS, thread_name_prefix="decoding")
    begun: deque[Future[T | InputError]] = deque()
    try:
        for row in zip(images.source, images.ids, strict=True):
            begun.append(executor.submit(outcome, *row))
            if len(begun) >= max(ahead, 1):
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:  # the caller may have stopped early
        executor.shutdown(wait=True, cancel_futures=True)


def encode_images(
    images: Images,
    prepare: Callable[[Image], T],
    run: Callable[[Sequence[T]], Vectors],
    batches: Batches,
) -> Vectors:
    """Compute float32 [n, d]: what `run` gives for batches of prepared images, in order.

    `prepare` runs in worker threads while `run` works on earlier images. Images with equal bytes go through
    once. Without images d is that of a white one. Raises InputError naming the first row whose image is
    absent, broken or cannot be prepared.
    """

    def checked(image: Image) -> T:
        short, long = sorted(image.size)
        if long > MOST_NARROW * short:
            raise InputError(
                f"it has {image.width} × {image.height} pixels, one side more than {MOST_NARROW} times "
                "the other: crop it, or leave the row out"
            )
        with running(batches.who):
            return prepare(image)

    if not len(images):
        from PIL import Image

        return run([prepare(Image.new("RGB", (64, 64), "white"))])[:0]
    first, code = distinct(images)
    waiting = enumerate(decoded(images.take(first), checked, ahead=2 * batches.size))
    prepared: dict[int, T] = {}  # until their vectors are there

    def run_consecutive(rows: Ints) -> Vectors:
        for row in [row for row in prepared if row < rows[0]]:  # rows never go back
            del prepared[row]
        prepared.update(islice(waiting, max(0, len(rows) - len(prepared))))
        return run([prepared[row] for row in rows.tolist()])

    return batches.run(np.ones(len(first), dtype=np.int64), run_consecutive)[code]  # of one length: in order
