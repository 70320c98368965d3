"""`pixels:`: a fixed descriptor of an image, colours and edges, that nothing was learnt for."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.decoding import decoded, distinct
from xlingual.encoders.scheme import IMAGES, Context, Scheme
from xlingual.records import Images

if TYPE_CHECKING:
    from PIL.Image import Image

SCHEME = Scheme(
    "pixels",
    (IMAGES,),
    "colours and edges of an image, without learning",
    __name__,
)

SIZE = 64  # images are scaled to SIZE × SIZE
CELLS = 8  # cells of the layout and of the gradients along a side
CENTRE = np.array([70.0, 0.0, 0.0], dtype=np.float32)  # CIELAB of a light grey: where layouts are centred
BINS = (5, 6, 6)  # of the colour histogram along L, a, b
RANGE = np.array([[0, -60, -60], [100, 70, 70]], dtype=np.float32)
ORIENTATIONS = 9  # of edges, unsigned
FAINT = 100.0  # about one weak edge per block: flat areas must not be blown up to full strength
STRONGEST = 0.2  # where one orientation of a block is cut off
WEIGHTS = (0.45, 0.45, 0.77)  # of layout, histogram and gradients
_CHUNK = 8  # images described at once: they fit into the caches

_LEVELS = np.arange(256) / 255
_LINEAR = np.where(_LEVELS <= 0.04045, _LEVELS / 12.92, ((_LEVELS + 0.055) / 1.055) ** 2.4).astype(np.float32)
_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_TO_XYZ_OF_WHITE = (_TO_XYZ / _TO_XYZ.sum(axis=1, keepdims=True)).astype(np.float32)


class PixelsEncoder(Encoder):
    """Three parts, each of unit length times a weight, one after the other.

    - layout: the mean CIELAB colour of each of 8 × 8 cells, less a light grey;
    - histogram: how much of the image has each of 5 × 6 × 6 colours of CIELAB, shared linearly between
      neighbouring colours; square roots;
    - gradients: nine orientations of edges in 8 × 8 cells, normalised by blocks of 2 × 2 cells as in
      histograms of oriented gradients (Dalal and Triggs 2005).

    Images are turned upright, laid over white and scaled to 64 × 64. Equal bytes are encoded once.
    """

    identity = "pixels:v1"
    content = ("bytes",)

    def encode(self, batch: Images, /) -> Vectors:
        """Return float32 [n, d]; raise InputError naming the row whose image is absent or broken."""
        first, code = distinct(batch)
        images = decoded(batch.take(first), _scaled, side=SIZE)
        dim = describe(np.empty((0, SIZE, SIZE, 3), dtype=np.uint8)).shape[1]
        vectors = np.empty(
            (len(first), dim), dtype=np.float32
        )  # filled in place: a vector has 8 KiB and more
        for start in range(0, len(first), _CHUNK):
            vectors[start : start + _CHUNK] = describe(np.stack(list(islice(images, _CHUNK))))
        return vectors if len(first) == len(code) else vectors[code]


def _scaled(image: Image) -> NDArray[np.uint8]:
    """Scale an image to uint8 [SIZE, SIZE, 3]; its shape is not kept."""
    from PIL.Image import Resampling

    return np.asarray(image.resize((SIZE, SIZE), Resampling.BICUBIC, reducing_gap=3.0), dtype=np.uint8)


def describe(rgb: NDArray[np.uint8]) -> Vectors:
    """Return the descriptors, float32 [n, d], of images uint8 [n, SIZE, SIZE, 3]."""
    lab, side = to_lab(rgb), SIZE // CELLS
    layout = lab.reshape(-1, CELLS, side, CELLS, side, 3).mean(axis=(2, 4)) - CENTRE
    parts = []
    for weight, part in zip(WEIGHTS, (layout, histogram(lab), gradients(lab[..., 0])), strict=True):
        rows = part.reshape(len(lab), np.prod(part.shape[1:], dtype=int))
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        parts.append(weight * np.divide(rows, np.where(norms > 0, norms, 1), dtype=np.float32))
    return np.concatenate(parts, axis=1)


def to_lab(rgb: NDArray[np.uint8]) -> Vectors:
    """Return CIELAB (D65 white) of sRGB, float32 [..., 3]: L from 0 to 100, a and b about -100 to 100."""
    xyz = _LINEAR[rgb] @ _TO_XYZ_OF_WHITE.T
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), xyz * (24389 / 27 / 116) + 16 / 116)
    x, y, z = f[..., 0], f[..., 1], f[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1).astype(np.float32)


def histogram(lab: Vectors) -> Vectors:
    """Return square roots of counts of colours, [n, *BINS]: a pixel is shared among the 8 nearest."""
    n, size = len(lab), int(np.prod(BINS))
    most = np.array(BINS, dtype=np.float32) - 1
    place = np.clip((lab.reshape(n, SIZE * SIZE, 3) - RANGE[0]) / (RANGE[1] - RANGE[0]), 0, 1) * most
    low = np.minimum(place.astype(np.int64), np.array(BINS) - 2)
    shares, counts = (1 - (place - low), place - low), np.zeros(n * size)
    first = low @ (BINS[1] * BINS[2], BINS[2], 1) + (np.arange(n) * size)[:, None]
    for light, a, b in product((0, 1), repeat=3):
        share = shares[light][..., 0] * shares[a][..., 1] * shares[b][..., 2]
        bins = first + (light * BINS[1] + a) * BINS[2] + b
        counts += np.bincount(bins.ravel(), weights=share.ravel(), minlength=n * size)
    return np.sqrt(counts.reshape(n, *BINS)).astype(np.float32)


def gradients(light: Vectors) -> Vectors:
    """Return block-normalised orientations of edges of L [n, SIZE, SIZE], [n, blocks, blocks, 36]."""
    n, side = len(light), SIZE // CELLS
    padded = np.pad(light, ((0, 0), (1, 1), (1, 1)), mode="edge")
    across = padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2]
    down = padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1]
    strength = np.hypot(across, down)
    place = (np.arctan2(down, across) / np.pi % 1) * ORIENTATIONS
    low = np.floor(place).astype(np.int64)
    cell = np.arange(SIZE) // side
    offset = (np.arange(n)[:, None, None] * CELLS + cell[:, None]) * CELLS + cell
    counts = np.zeros(n * CELLS * CELLS * ORIENTATIONS)
    for step, share in ((0, 1 - (place - low)), (1, place - low)):
        bins = offset * ORIENTATIONS + (low + step) % ORIENTATIONS
        counts += np.bincount(bins.ravel(), weights=(strength * share).ravel(), minlength=len(counts))
    cells = counts.reshape(n, CELLS, CELLS, ORIENTATIONS)
    corners = (cells[:, :-1, :-1], cells[:, :-1, 1:], cells[:, 1:, :-1], cells[:, 1:, 1:])
    blocks = np.concatenate(corners, axis=-1)
    blocks = blocks / np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + FAINT**2)
    clipped: Vectors = np.minimum(blocks, STRONGEST).astype(np.float32)
    return clipped


def build(argument: str, options: Mapping[str, Any], context: Context) -> PixelsEncoder:
    """Make the encoder of a spec."""
    return PixelsEncoder()
