"""The rows of a manifest as columns, one row per text, whatever form the table had."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.columns import ColumnBase, Lookup, view
from xlingual.data.reading.sources import image_keys
from xlingual.data.reading.strings import hash_column, numbered_ints
from xlingual.images import ImageSource
from xlingual.records import Numbering


@dataclass(frozen=True, eq=False, repr=False)
class TextRows:
    """n text rows of n_items items; see `Manifest` for what the columns mean."""

    ids: ColumnBase[str]  # [n]
    languages: tuple[str, ...]
    language: Ints  # [n], index into languages
    text: ColumnBase[str]  # [n]
    item: Ints  # [n], index into item_ids
    item_ids: ColumnBase[str]  # [n_items]
    cluster: Ints  # [n]
    image: Ints  # [n], index into image_source, -1 where there is none
    image_source: Sequence[ImageSource]
    fields: Mapping[str, ColumnBase[str]]  # each [n]
    split: Lookup[str] | None  # [n]
    table_row: Ints  # [n], the 0-based row of the table a text came from
    n_table_rows: int
    source: str  # the file, for messages
    folder: Path | None
    wide: bool
    path: Path | None = field(default=None, kw_only=True)
    labels: Mapping[str, Lookup[str | None]] = field(default_factory=dict, kw_only=True)  # each [n]
    numbers: Mapping[str, Floats] = field(default_factory=dict, kw_only=True)  # each [n], NaN: not known

    def __post_init__(self) -> None:
        for column in (self.language, self.item, self.cluster, self.image, self.table_row):
            column.setflags(write=False)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_items(self) -> int:
        """How many items there are (in the wide form those without any text count too)."""
        return len(self.item_ids)

    @property
    def has_images(self) -> bool:
        """Whether any row has an image."""
        return len(self.image_source) > 0

    @cached_property
    def digest(self) -> str:
        """Hex hash of languages, ids, texts, items and images (their bytes, or paths within the folder).

        Of items it depends on which rows share one, not on their names.
        """
        hasher = hashlib.blake2b(b"xlingual/manifest/1", digest_size=16)
        for column in (Lookup(self.languages, self.language), self.ids, self.text):
            hash_column(hasher, column)
        shown = self.image >= 0
        hasher.update(np.array([len(self), *np.where(shown, 16, 0)], dtype="<i8").tobytes())
        hasher.update(image_keys(self.image_source, self.folder)[self.image[shown]].tobytes())
        hasher.update(np.append(self.n_items, self.item).astype("<i8").tobytes())
        return hasher.hexdigest()


R = TypeVar("R", bound=TextRows)


def chosen_rows(rows: R, table_rows: Ints) -> R:
    """Return the part that came from the chosen rows of the table, with items, languages … numbered anew."""
    chosen = np.zeros(rows.n_table_rows, dtype=bool)
    chosen[table_rows] = True
    kept = np.flatnonzero(chosen[rows.table_row])
    if rows.wide:  # an item is a row of the table, with or without texts; columns order the languages
        whole = rows.n_items == rows.n_table_rows  # of a part, items are numbered anew: those with texts stay
        item_codes = table_rows if whole else distinct_values(rows.item[kept])
        language_codes = distinct_values(rows.language[kept])
        item = np.searchsorted(item_codes, rows.item[kept])
        language = np.searchsorted(language_codes, rows.language[kept])
    else:
        item, item_codes = numbered_ints(rows.item[kept])
        language, language_codes = numbered_ints(rows.language[kept])
    image, image_codes = numbered_ints(np.append(-1, rows.image[kept]))
    return replace(
        rows,
        ids=rows.ids.view(kept),
        languages=tuple(rows.languages[code] for code in language_codes),
        language=language,
        text=rows.text.view(kept),
        item=item,
        item_ids=rows.item_ids.view(item_codes),
        cluster=numbered_ints(rows.cluster[kept])[0],
        image=image[1:] - 1,
        image_source=view(rows.image_source, image_codes[1:]),
        fields={name: values.view(kept) for name, values in rows.fields.items()},
        split=None if rows.split is None else rows.split.view(kept),
        table_row=rows.table_row[kept],
        labels={name: values.view(kept) for name, values in rows.labels.items()},
        numbers={name: values[kept] for name, values in rows.numbers.items()},
    )


def numberings(rows: TextRows, note: str = "") -> tuple[Numbering, ...]:
    """Return the numberings of all text rows: by text of the language, by item, by row.

    Where a file has as many lines as there are texts of a language and as there are items, the texts win: a
    file made for one language was made from its texts, in their order.

    `note` is put behind the unit, for numberings of the whole manifest when a part of it was chosen.
    """
    counts = np.bincount(rows.language, minlength=len(rows.languages))
    sizes: dict[str | None, int] = dict(zip(rows.languages, counts.tolist(), strict=True))
    return (
        Numbering(f"texts of the language{note}", position_in_group(rows.language), sizes),
        Numbering(f"items{note}", rows.item, dict.fromkeys([None, *sizes], rows.n_items)),
        Numbering(f"rows{note}", np.arange(len(rows), dtype=np.int64), {None: len(rows)}),
    )


def position_in_group(group: Ints) -> Ints:
    """Return how many earlier rows are of the same group (a code from 0), int64 [n]."""
    counts = np.bincount(group)
    order = np.argsort(group, kind="stable")
    position = np.empty(len(group), dtype=np.int64)
    position[order] = np.arange(len(group)) - (np.cumsum(counts) - counts)[group[order]]
    return position
