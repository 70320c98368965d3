"""Titles and bodies as frozen vectors on disk, which are mapped into memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.data.manifest import Manifest
from xlingual.embed.sides import embed_batch
from xlingual.errors import InputError, listed, warn
from xlingual.models.texts import two_views
from xlingual.records import Texts
from xlingual.training.corpus import Source
from xlingual.training.recipes.triplet_options import TripletOptions

CHUNK = 32_768  # rows whose vectors are made at a time: all that is in memory of them
WHO = "the training"


@dataclass(frozen=True)
class TextPairs:
    """n texts with the vectors of their titles and of their bodies.

    `language` [n] is an index into `languages`; texts of equal `item` [n] are about the same thing. Memory is
    that of the numbers alone: the vectors [n, d] are mapped files.
    """

    title: Vectors
    body: Vectors
    languages: tuple[str, ...]
    language: Ints
    item: Ints
    ids: np.ndarray  # str [n], for messages

    def __len__(self) -> int:
        return len(self.language)

    @property
    def dim(self) -> int:
        """The dimensions of the vectors."""
        return int(self.title.shape[1])

    def counts(self) -> dict[str, int]:
        """Return language → texts."""
        return {tag: int((self.language == code).sum()) for code, tag in enumerate(self.languages)}


def pack_pairs(folder: Path, manifest: Manifest, options: TripletOptions, source: Source) -> TextPairs:
    """Write the vectors of a manifest's titles and bodies; return them, mapped into memory.

    Texts without a title or a body (or that cannot be split) are left out, with a DataWarning.
    Raises InputError where the data have no such columns, or a language has no text with both.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = manifest.texts(np.arange(len(manifest)))
    views = two_views(texts, options.title, options.body, options.split, WHO)
    kept = np.flatnonzero(~np.asarray(views.lacking, dtype=bool))
    _check_left_out(manifest, kept, options)
    title, body = (
        _written(folder / f"{name}.npy", part.take(kept), source)
        for name, part in (("title", views.title), ("body", views.body))
    )
    if title.shape[1] != body.shape[1]:
        raise InputError(
            f"text encoder {source.name!r} gives titles {title.shape[1]} and bodies {body.shape[1]} "
            "dimensions: both must lie in one space"
        )
    ids = np.array([manifest.ids[row][:80] for row in kept.tolist()])
    return TextPairs(title, body, manifest.languages, manifest.language[kept], manifest.item[kept], ids)


def _written(path: Path, texts: Texts, source: Source) -> Vectors:
    """Write the vectors of texts, a chunk at a time, and map them into memory."""
    out: np.memmap | None = None
    for start in range(0, len(texts), CHUNK):
        rows = np.arange(start, min(start + CHUNK, len(texts)))
        found = embed_batch(
            texts.take(rows), source.name, source.encoder, store=source.store, progress=source.progress
        ).vectors
        if out is None:
            shape = (len(texts), found.shape[1])
            out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
        if found.shape[1] != out.shape[1]:
            raise InputError(
                f"text encoder {source.name!r} gives some texts {out.shape[1]} and others {found.shape[1]} "
                "dimensions: all must lie in one space"
            )
        out[rows] = found
    assert out is not None
    out.flush()
    return np.asarray(np.lib.format.open_memmap(path, mode="r"))


def _check_left_out(manifest: Manifest, kept: Ints, options: TripletOptions) -> None:
    """Warn of texts that lack one of the two views; raise InputError where a language has no others."""
    if len(kept) == len(manifest):
        return
    what = f"a {options.title} and a {options.body}" if options.split is None else "two parts"
    kept_languages = {manifest.languages[code] for code in np.unique(manifest.language[kept])}
    if tag := next((tag for tag in manifest.languages if tag not in kept_languages), None):
        first = manifest.ids[int(manifest.rows_of(tag)[0])]
        raise InputError(
            f"{manifest.source}: no text in {tag!r} has {what} (the first is {first!r}): name other columns "
            "with --title and --body, or leave the language out"
        )
    out = np.setdiff1d(np.arange(len(manifest)), kept)
    each = Counter(manifest.languages[code] for code in manifest.language[out].tolist())
    warn(
        f"{len(out):,} of {len(manifest):,} texts are left out, since they do not have {what}: "
        f"{listed((f'{tag} {count:,}' for tag, count in sorted(each.items())), 20)}; the first is "
        f"{manifest.ids[int(out[0])]!r}"
    )
