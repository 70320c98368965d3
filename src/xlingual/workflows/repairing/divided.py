"""The rows of the data with the part that each is in, written so that a part can be used again."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.data.pools.folder import pool_files
from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import DataWarning, InputError
from xlingual.files import atomic_file, make_folder, refuse_loss
from xlingual.results.repair import Repair
from xlingual.results.unlabelled_repair import UnlabelledRepair

PARTS = ("fit", "choose", "test")
POOL, ROWS = "pool", "parts.parquet"  # below the folder of a repair


@dataclass(frozen=True)
class Divided:
    """The data, and the rows of each part: of questions and of candidates; of a manifest, of its texts."""

    data: Manifest | MultilingualPool
    rows: Sequence[tuple[Ints, Ints]]

    @property
    def name(self) -> str:
        """What `write` writes: a pool, or a manifest."""
        return POOL if isinstance(self.data, MultilingualPool) else ROWS

    def write(self, folder: str | Path) -> Path:
        """Write the data with a split on every row, and return where: "fit", "choose", "test" or "" (unused).

        A manifest has a row for each text, in the order of the texts: also those before rows were chosen,
        where it was read from a file, so that files of vectors fit as they did. Images that are files are
        left out, since their paths are relative to the folder of the data.
        """
        refuse_replacing(folder, self.data.source)
        place = make_folder(folder) / self.name
        if isinstance(self.data, MultilingualPool):
            return self._pool(self.data).write(place, overwrite=True)
        whole, rows = _before_choosing(self.data)
        split = np.full(len(whole), "", dtype=object)
        split[rows] = _names(len(self.data), [np.concatenate(sides) for sides in self.rows])
        _write(whole, split.tolist(), place)
        return place

    def _pool(self, pool: MultilingualPool) -> MultilingualPool:
        asked, answered = ([sides[place] for sides in self.rows] for place in (0, 1))
        q, c = pool.questions, pool.candidates
        return replace(
            pool,
            questions=replace(q, split=_names(len(q), asked)),
            candidates=replace(c, split=_names(len(c), answered)),
        )


def refuse_replacing(folder: str | Path, source: str | Path) -> None:
    """Raise InputError where the rows would replace the data themselves, or what no repair has written."""
    folder = Path(folder)
    places = folder / POOL, folder / ROWS
    for place in places:
        if place.exists() and Path(source).exists() and place.samefile(source):
            raise InputError(
                f"{place} is the data, and would be replaced by its parts: choose another folder"
            )
    if not any((folder / kind.file).exists() for kind in (Repair, UnlabelledRepair)):
        present = [*pool_files(places[0]), *(place for place in places[1:] if place.exists())]
        refuse_loss(folder, present, "move them")


def _names(count: int, rows: Sequence[Ints]) -> list[str]:
    split = [""] * count
    for name, own in zip(PARTS, rows, strict=True):
        for row in own.tolist():
            split[row] = name
    return split


def _before_choosing(data: Manifest) -> tuple[Manifest, Ints]:
    """Return the manifest of all rows of the file, and which are those of `data`; else `data` itself."""
    own = np.arange(len(data))
    if data.path is None or len(np.unique(data.table_row)) == data.n_table_rows:
        return data, own
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # said when it was read first
            whole = Manifest.read(data.path, **data.columns)
    except InputError:  # gone since
        return data, own
    rows = np.flatnonzero(np.isin(whole.table_row, data.table_row))
    same = len(rows) == len(data) and whole.texts(rows).row_digests() == data.texts(own).row_digests()
    return (whole, rows) if same else (data, own)


def _write(data: Manifest, split: list[str], path: Path) -> None:
    """Write a manifest in long form, whose rows are its texts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    own: dict[str, Any] = {
        "id": list(data.ids),
        "lang": [data.languages[code] for code in data.language],
        "text": list(data.text),
        "item": [data.item_ids[code] for code in data.item],
        "cluster": pa.array(data.cluster.tolist(), type=pa.int64()),
        "split": split,
    }
    if data.has_images and all(isinstance(image, bytes) for image in data.image_source):
        images = [data.image_source[code] if code >= 0 else None for code in data.image]
        own["image"] = pa.array(images, type=pa.binary())
    columns: dict[str, Sequence[str | None]] = {**data.labels, **data.fields}
    further = {name: list(values) for name, values in columns.items() if name not in own}
    with atomic_file(path) as temporary:
        pq.write_table(pa.table(own | further), temporary, compression="zstd")
