"""From a manifest to a corpus on disk: words become numbers, images become vectors, each once."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.embed.encoding import SENTENCE, Progress
from xlingual.embed.sides import image_vectors
from xlingual.encoders import Encoder
from xlingual.errors import InputError, warn
from xlingual.files import atomic_file
from xlingual.models.texts import FIRST, Vocabulary
from xlingual.models.words import pretokenized_tokens, tokens
from xlingual.ragged import components
from xlingual.records import digest
from xlingual.store import Store
from xlingual.training.corpus import LAYOUT, Corpus

CHUNK = 2048  # rows whose images are encoded at a time: all that is in memory of them
_ID = 80  # characters of an id that messages show


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
    found = {}
    for tag in languages:
        counts: Counter[str] = Counter()
        for row in manifest.rows_of(tag).tolist():
            counts.update(reading.words(manifest.text[row], tag)[: reading.max_length])
        found[tag] = Vocabulary.of(counts, threshold, most)
        if len(found[tag]) == FIRST:
            often = f" {threshold} times or more" if threshold > 1 and counts else ""
            raise InputError(
                f"{manifest.source}: no word of {tag!r} occurs{often}: all would be unknown; "
                + ("lower the threshold of the vocabulary" if counts else "are its texts empty?")
            )
    return found


def pack(
    folder: Path,
    manifest: Manifest,
    vocabularies: Mapping[str, Vocabulary],
    reading: TextReading,
    images: Source | None = None,
) -> Corpus:
    """Write the items of a manifest that have texts in the vocabularies' languages; return them, opened.

    Texts without a word are left out, long ones are cut; a DataWarning reports both. The images of
    an item are those of all its rows; where the manifest has no images at all, a vector is
    made for every row of the languages. Images are distinct when their vectors are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LAYOUT).unlink(missing_ok=True)  # its presence says that the folder is complete
    rows = np.concatenate([manifest.rows_of(tag) for tag in vocabularies])
    items = np.unique(manifest.item[rows])
    for tag, vocabulary in vocabularies.items():
        _pack_texts(folder, manifest, tag, vocabulary, reading, items)
    shape, item_images = None, np.empty((0, 2), dtype=np.int64)
    if images is not None:
        shape, item_images = _pack_images(folder, manifest, rows, items, images)
    np.save(folder / "groups.npy", _groups(manifest, items, item_images))
    np.save(folder / "ids.npy", np.array([manifest.item_ids[item][:_ID] for item in items.tolist()]))
    with atomic_file(folder / LAYOUT) as temporary:
        layout = {"languages": list(vocabularies), "pictures": shape}
        temporary.write_text(json.dumps(layout), encoding="utf-8")
    return Corpus.open(folder)


def _pack_texts(
    folder: Path, manifest: Manifest, tag: str, vocabulary: Vocabulary, reading: TextReading, items: Ints
) -> None:
    rows = manifest.rows_of(tag)
    rows = rows[np.argsort(manifest.item[rows], kind="stable")]
    numbers, lengths, kept, cut = array("i"), array("q"), array("q"), 0
    for row in rows.tolist():
        words = reading.words(manifest.text[row], tag)
        if words:
            cut += len(words) > reading.max_length
            numbers.extend(vocabulary.numbers(words[: reading.max_length]))
            lengths.append(min(len(words), reading.max_length))
            kept.append(row)
    if cut:
        _warn(f"{cut} of {len(rows)} texts of {tag!r} are longer than {reading.max_length} words and are cut")
    if len(kept) < len(rows):
        _warn(f"{len(rows) - len(kept)} of {len(rows)} texts of {tag!r} have no word and are left out")
    owner = np.searchsorted(items, manifest.item[np.array(kept, dtype=np.int64)])
    np.save(folder / f"texts.{tag}.first.npy", _starts(np.bincount(owner, minlength=len(items))))
    np.save(folder / f"texts.{tag}.offsets.npy", _starts(np.array(lengths, dtype=np.int64)))
    np.save(folder / f"texts.{tag}.numbers.npy", np.array(numbers, dtype=np.int32))


def _pack_images(
    folder: Path, manifest: Manifest, rows: Ints, items: Ints, source: Source
) -> tuple[tuple[int, int], Ints]:
    """Write the distinct vectors, and which of them each item shows.

    Returns the shape of the vectors, and the pairs of an item and a vector, [m, 2].
    """
    image_rows = rows
    if manifest.has_images:
        image_rows = np.flatnonzero((manifest.image >= 0) & np.isin(manifest.item, items))
        if not len(image_rows):
            raise InputError(
                f"{manifest.source}: no item with texts in the chosen languages has an image: train with "
                "beta 0 and without an image encoder, or choose other rows"
            )
    slot = manifest.image[image_rows]
    key = np.where(slot >= 0, slot, len(manifest.image_source) + np.arange(len(image_rows)))
    _, first, same = np.unique(key, return_index=True, return_inverse=True)
    number, shape = _write_vectors(folder / "pictures.raw", manifest, image_rows[first], source)
    item = np.searchsorted(items, manifest.item[image_rows])
    item_images = np.unique(np.stack([item, number[same]], axis=1), axis=0)  # by item
    np.save(folder / "images.first.npy", _starts(np.bincount(item_images[:, 0], minlength=len(items))))
    np.save(folder / "images.shown.npy", item_images[:, 1])
    return shape, item_images


def _write_vectors(
    path: Path, manifest: Manifest, rows: Ints, source: Source
) -> tuple[Ints, tuple[int, int]]:
    """Write each distinct vector of the rows once; return its number for each row [n], and the shape."""
    size = len(rows) if source.encoder.depends_on_batch else CHUNK
    known: dict[bytes, int] = {}
    number, dim = np.empty(len(rows), dtype=np.int64), 0
    with path.open("wb") as file:
        for start in range(0, len(rows), size):
            piece = rows[start : start + size]
            report = _shifted(source.progress, start, len(rows))
            vectors = image_vectors(
                manifest, source.name, source.encoder, piece, store=source.store, progress=report
            )
            if start and vectors.shape[1] != dim:
                raise InputError(
                    f"image encoder {source.name!r} gives some images {dim} and others {vectors.shape[1]} "
                    "dimensions: all must lie in one space"
                )
            dim = vectors.shape[1]
            for i, vector in enumerate(vectors.astype("<f4", copy=False), start):
                raw = vector.tobytes()
                fresh = len(known)
                number[i] = known.setdefault(digest(raw), fresh)
                if number[i] == fresh:
                    file.write(raw)
    return number, (len(known), dim)


def _shifted(progress: Progress | None, start: int, total: int) -> Progress | None:
    """Return a callback that reports the progress in one chunk as progress in all of them."""
    if progress is None:
        return None

    def report(what: str, done: int, of: int) -> None:
        progress(what, *((done, of) if of == SENTENCE else (start + done, total)))

    return report


def _groups(manifest: Manifest, items: Ints, item_images: Ints) -> Ints:
    """Return a number for each item: equal where items share an image, directly or by way of others.

    `item_images` [m, 2]: pairs of an item and an image vector.
    """
    n = len(items)
    rows = np.flatnonzero((manifest.image >= 0) & np.isin(manifest.item, items))
    item = np.concatenate([np.searchsorted(items, manifest.item[rows]), item_images[:, 0]])
    node = n + np.concatenate([manifest.image[rows], len(manifest.image_source) + item_images[:, 1]])
    size = int(max(node.max(initial=-1) + 1, n))
    return components(size, item, node)[:n]


def _starts(counts: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _warn(sentence: str) -> None:
    warn(sentence)
