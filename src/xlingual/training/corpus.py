"""A training corpus on disk: its arrays are mapped, so that a corpus may be larger than the memory.

A folder holds, for n items and each language, the numbers of all words one after the other, where each text
begins, and which texts belong to each item; and the distinct vectors of images. `packing.pack` writes one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors

LAYOUT = "corpus.json"


@dataclass(frozen=True)
class Members:
    """Which members of a view belong to each item: those from first[item] up to first[item + 1]."""

    first: Ints  # [items + 1]

    def __len__(self) -> int:
        return int(self.first[-1])

    def owners(self, members: Ints) -> Ints:
        """Return the item of each member."""
        found: Ints = np.searchsorted(self.first, members, side="right") - 1
        return found


@dataclass(frozen=True)
class PackedTexts(Members):
    """The n texts of a language, ordered by item, as numbers of words."""

    offsets: Ints  # [n + 1]: where each text begins in `numbers`
    numbers: np.ndarray  # int32 [words of all texts]

    def padded(self, texts: Ints) -> tuple[Ints, Ints]:
        """Return the words of some texts, int64 [m, longest] with 0 behind the end, and how many they are."""
        start = self.offsets[texts]
        lengths: Ints = self.offsets[texts + 1] - start
        position = np.arange(max(1, int(lengths.max(initial=0))))
        inside = position < lengths[:, None]
        words = np.zeros(inside.shape, dtype=np.int64)
        words[inside] = self.numbers[(start[:, None] + position)[inside]]
        return words, lengths


@dataclass(frozen=True)
class PackedImages(Members):
    """The images of items: member i shows the distinct vector `shown[i]`."""

    shown: Ints  # [n]
    vectors: np.ndarray  # float32 [distinct, d]

    def of(self, members: Ints) -> Vectors:
        """Return the vectors of some members."""
        found: Vectors = self.vectors[self.shown[members]]
        return found

    def moments(self, chunk: int = 4096) -> tuple[Floats, Floats]:
        """Return mean [d] and standard deviation [d] over the distinct vectors, in float64 and two passes."""
        pieces = [slice(start, start + chunk) for start in range(0, len(self.vectors), chunk)]
        n = max(1, len(self.vectors))
        mean: Floats = sum(self.vectors[piece].sum(0, dtype=np.float64) for piece in pieces) / n
        square = sum(np.square(self.vectors[piece] - mean).sum(0) for piece in pieces)
        return mean, np.sqrt(square / n)


@dataclass(frozen=True)
class Corpus:
    """n items with their texts in some languages and, where there are any, their images.

    `groups` [n]: items of one group show the same image, and are never contrasted with each other. `ids`
    [n] are for messages.
    """

    texts: Mapping[str, PackedTexts]
    images: PackedImages | None
    groups: Ints
    ids: np.ndarray  # str [n]

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def picture_dim(self) -> int | None:
        """The dimensions of the images' vectors; None without images."""
        return None if self.images is None else self.images.vectors.shape[1]

    @classmethod
    def open(cls, folder: Path) -> Corpus:
        """Map what `packing.pack` wrote into memory."""
        layout: dict[str, Any] = json.loads((folder / LAYOUT).read_text(encoding="utf-8"))
        texts = {
            tag: PackedTexts(
                *(mapped(folder, f"texts.{tag}.{part}") for part in ("first", "offsets", "numbers"))
            )
            for tag in layout["languages"]
        }
        images = None
        if layout["pictures"] is not None:
            first, shown = (mapped(folder, f"images.{part}") for part in ("first", "shown"))
            shape = tuple(layout["pictures"])  # of float32, little-endian, without a header
            vectors = np.asarray(np.memmap(folder / "pictures.raw", dtype="<f4", mode="r", shape=shape))
            images = PackedImages(first, shown, vectors)
        return cls(texts, images, mapped(folder, "groups"), mapped(folder, "ids"))


def mapped(folder: Path, name: str) -> np.ndarray:
    """Return an array of a folder, mapped into memory; one without elements cannot be."""
    path = folder / f"{name}.npy"
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except ValueError:
        return np.asarray(np.load(path, allow_pickle=False))
