"""A training corpus: words as numbers, and the distinct vectors of images in a file that is mapped.

So a corpus takes four bytes of memory for each word, and its images may be larger than the memory.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.data.manifest import Manifest
from xlingual.embed.encoding import SENTENCE, Progress
from xlingual.embed.sides import image_vectors
from xlingual.encoders import Encoder
from xlingual.errors import InputError, warn
from xlingual.models.texts import FIRST, Vocabulary
from xlingual.models.words import pretokenized_tokens, tokens
from xlingual.ragged import components
from xlingual.records import digest
from xlingual.store import Store

CHUNK = 2048  # rows whose images are encoded at a time: all that is in memory of them


@dataclass(frozen=True)
class Source:
    """An encoder, its name, the store that keeps its vectors, and the callback for progress."""

    name: str
    encoder: Encoder
    store: Store | None = None
    progress: Progress | None = None


@dataclass(frozen=True)
class TextReading:
    """How texts become words."""

    pretokenized: bool = False  # split at blanks, nothing else
    max_length: int = 100  # words; those after it are not read

    def words(self, text: str, language: str) -> list[str]:
        """Return the words of a text, all of them."""
        return pretokenized_tokens(text) if self.pretokenized else tokens(text, language)


@dataclass(frozen=True)
class Members:
    """Which members of a view belong to each item: those from first[item] up to first[item + 1]."""

    first: Ints  # [items + 1]

    def __len__(self) -> int:
        return int(self.first[-1])

    def owners(self, members: Ints) -> Ints:
        """Return the item of each member."""
        owners: Ints = np.searchsorted(self.first, members, side="right") - 1
        return owners


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
        vectors: Vectors = self.vectors[self.shown[members]]
        return vectors

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


def count_vocabularies(
    manifest: Manifest,
    languages: Sequence[str],
    reading: TextReading,
    threshold: int = 1,
    most: int | None = None,
) -> dict[str, Vocabulary]:
    """Return the words of each language that occur at least `threshold` times, the `most` frequent of them.

    Raises InputError for a language that has no texts, or no word that is frequent enough.
    """
    vocabularies = {}
    for tag in languages:
        counts: Counter[str] = Counter()
        for row in manifest.rows_of(tag).tolist():
            counts.update(reading.words(manifest.text[row], tag)[: reading.max_length])
        vocabularies[tag] = Vocabulary.of(counts, threshold, most)
        if len(vocabularies[tag]) == FIRST:
            often = f" {threshold} times or more" if threshold > 1 and counts else ""
            raise InputError(
                f"{manifest.source}: no word of {tag!r} occurs{often}: all would be unknown; "
                + ("lower the threshold of the vocabulary" if counts else "are its texts empty?")
            )
    return vocabularies


def pack(
    folder: Path,
    manifest: Manifest,
    vocabularies: Mapping[str, Vocabulary],
    reading: TextReading,
    images: Source | None = None,
) -> Corpus:
    """Return the items of a manifest that have texts in the vocabularies' languages; images are in `folder`.

    Texts without a word are left out, long ones are cut; a DataWarning reports both. The images of
    an item are those of all its rows; where the manifest has no images at all, a vector is
    made for every row of the languages. Images are distinct when their vectors are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = np.concatenate([manifest.rows_of(tag) for tag in vocabularies])
    items = np.unique(manifest.item[rows])
    texts = {
        tag: _pack_texts(manifest, tag, vocabulary, reading, items)
        for tag, vocabulary in vocabularies.items()
    }
    packed = None if images is None else _pack_images(folder, manifest, rows, items, images)
    # items that share an image, directly or by way of others, are one group
    seen = np.flatnonzero((manifest.image >= 0) & np.isin(manifest.item, items))
    item = [np.searchsorted(items, manifest.item[seen])]
    node = [len(items) + manifest.image[seen]]
    if packed is not None:
        item.append(packed.owners(np.arange(len(packed))))
        node.append(len(items) + len(manifest.image_source) + packed.shown)
    nodes = np.concatenate(node)
    size = int(max(nodes.max(initial=-1) + 1, len(items)))
    groups = components(size, np.concatenate(item), nodes)[: len(items)]
    ids = np.array([manifest.item_ids[item][:80] for item in items.tolist()])
    return Corpus(texts, packed, groups, ids)


def _pack_texts(
    manifest: Manifest, tag: str, vocabulary: Vocabulary, reading: TextReading, items: Ints
) -> PackedTexts:
    rows = manifest.rows_of(tag)
    rows = rows[np.argsort(manifest.item[rows], kind="stable")]
    numbers, lengths, read, cut = array("i"), array("q"), array("q"), 0
    for row in rows.tolist():
        words = reading.words(manifest.text[row], tag)
        if words:
            cut += len(words) > reading.max_length
            numbers.extend(vocabulary.numbers(words[: reading.max_length]))
            lengths.append(min(len(words), reading.max_length))
            read.append(row)
    if cut:
        warn(f"{cut} of {len(rows)} texts of {tag!r} are longer than {reading.max_length} words and are cut")
    if len(read) < len(rows):
        warn(f"{len(rows) - len(read)} of {len(rows)} texts of {tag!r} have no word and are left out")
    owner = np.searchsorted(items, manifest.item[np.array(read, dtype=np.int64)])
    first = _starts(np.bincount(owner, minlength=len(items)))
    return PackedTexts(first, _starts(np.array(lengths, dtype=np.int64)), np.array(numbers, dtype=np.int32))


def _pack_images(folder: Path, manifest: Manifest, rows: Ints, items: Ints, source: Source) -> PackedImages:
    """Write each distinct vector of the items' images once, and map them into memory."""
    if manifest.has_images:
        rows = np.flatnonzero((manifest.image >= 0) & np.isin(manifest.item, items))
        if not len(rows):
            raise InputError(
                f"{manifest.source}: no item with texts in the chosen languages has an image: train with "
                "beta 0 and without an image encoder, or choose other rows"
            )
    slot = manifest.image[rows]
    key = np.where(slot >= 0, slot, len(manifest.image_source) + np.arange(len(rows)))
    _, first, same = np.unique(key, return_index=True, return_inverse=True)
    encoded, path = rows[first], folder / "pictures.raw"
    size = len(encoded) if source.encoder.depends_on_batch else CHUNK
    numbers: dict[bytes, int] = {}
    number, dim = np.empty(len(encoded), dtype=np.int64), 0
    with path.open("wb") as file:
        for start in range(0, len(encoded), size):
            vectors = image_vectors(
                manifest, source.name, source.encoder, encoded[start : start + size], store=source.store,
                progress=_shifted(source.progress, start, len(encoded)),
            )  # fmt: skip
            if start and vectors.shape[1] != dim:
                raise InputError(
                    f"image encoder {source.name!r} gives some images {dim} and others {vectors.shape[1]} "
                    "dimensions: all must lie in one space"
                )
            dim = vectors.shape[1]
            for i, vector in enumerate(vectors.astype("<f4", copy=False), start):
                raw = vector.tobytes()
                fresh = len(numbers)
                number[i] = numbers.setdefault(digest(raw), fresh)
                if number[i] == fresh:
                    file.write(raw)
    item = np.searchsorted(items, manifest.item[rows])
    pairs = np.unique(np.stack([item, number[same]], axis=1), axis=0)  # of an item and a vector, by item
    mapped = np.asarray(np.memmap(path, dtype="<f4", mode="r", shape=(len(numbers), dim)))
    return PackedImages(_starts(np.bincount(pairs[:, 0], minlength=len(items))), pairs[:, 1], mapped)


def _shifted(progress: Progress | None, start: int, total: int) -> Progress | None:
    """Return a callback that reports the progress in one chunk as progress in all of them."""
    if progress is None:
        return None

    def report(what: str, done: int, of: int) -> None:
        progress(what, *((done, of) if of == SENTENCE else (start + done, total)))

    return report


def _starts(counts: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
