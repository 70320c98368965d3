"""The rows of a manifest as columns, one row per text, whatever form the table had."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from xlingual.records import Ints


@dataclass(frozen=True, eq=False, repr=False)
class TextRows:
    """n text rows of n_items items; see `Manifest` for what the columns mean."""

    ids: list[str]  # [n]
    languages: tuple[str, ...]
    language: Ints  # [n], index into languages
    text: list[str]  # [n]
    item: Ints  # [n], index into item_ids
    item_ids: list[str]  # [n_items]
    cluster: Ints  # [n]
    picture: Ints  # [n], index into picture_source, -1 where there is none
    picture_source: list[bytes | Path]
    fields: dict[str, list[str]]  # each [n]
    split: list[str] | None  # [n]
    table_row: Ints  # [n], the 0-based row of the table a text came from
    n_table_rows: int
    source: str  # the file, for messages
    folder: Path | None
    wide: bool
    path: Path | None = field(default=None, kw_only=True)
    labels: dict[str, list[str | None]] = field(default_factory=dict, kw_only=True)  # each [n]

    def __post_init__(self) -> None:
        for column in (self.language, self.item, self.cluster, self.picture, self.table_row):
            column.setflags(write=False)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_items(self) -> int:
        """How many items there are (in the wide form those without any text count too)."""
        return len(self.item_ids)

    @property
    def has_pictures(self) -> bool:
        """Whether any row has a picture."""
        return len(self.picture_source) > 0

    @cached_property
    def digest(self) -> str:
        """Hex hash of languages, ids, texts, items and pictures (their bytes, or paths within the folder).

        Of items it counts which rows share one, not what it is called.
        """
        import hashlib

        import numpy as np

        hasher = hashlib.blake2b(b"xlingual/manifest/1", digest_size=16)
        pictures = [b"", *(self._picture_key(source) for source in self.picture_source)]
        columns: list[list[bytes]] = [
            [self.languages[code].encode() for code in self.language],
            *(
                [value.encode("utf-8", "surrogatepass") for value in column]
                for column in (self.ids, self.text)
            ),
            [pictures[number + 1] for number in self.picture],
        ]
        for column in columns:
            hasher.update(np.array([len(column), *map(len, column)], dtype="<i8").tobytes())
            hasher.update(b"".join(column))
        hasher.update(np.array([self.n_items, *self.item], dtype="<i8").tobytes())
        return hasher.hexdigest()

    def _picture_key(self, source: bytes | Path) -> bytes:
        from xlingual.records import digest

        if isinstance(source, bytes):
            return digest("bytes", source)
        path = source.relative_to(self.folder) if self.folder is not None else source
        return digest("path", path.as_posix())


R = TypeVar("R", bound=TextRows)


def chosen_rows(rows: R, table_rows: Ints) -> R:
    """Return the part that came from the chosen rows of the table, with items, languages … numbered anew."""
    import numpy as np

    from xlingual.data.reading.values import numbered

    chosen = np.zeros(rows.n_table_rows, dtype=bool)
    chosen[table_rows] = True
    kept = np.flatnonzero(chosen[rows.table_row])
    item, item_codes = numbered(rows.item[kept].tolist())
    if rows.wide:  # an item is a row of the table, with or without texts
        item_codes = table_rows.tolist()
        item = np.searchsorted(table_rows, rows.item[kept])
    language, language_codes = numbered(rows.language[kept].tolist())
    if rows.wide:  # languages stay in the order of the columns
        language_codes.sort()
        language = np.searchsorted(np.array(language_codes, dtype=np.int64), rows.language[kept])
    picture, picture_codes = numbered([-1, *rows.picture[kept].tolist()])
    return replace(
        rows,
        ids=[rows.ids[row] for row in kept],
        languages=tuple(rows.languages[code] for code in language_codes),
        language=language,
        text=[rows.text[row] for row in kept],
        item=item,
        item_ids=[rows.item_ids[code] for code in item_codes],
        cluster=numbered(rows.cluster[kept].tolist())[0],
        picture=picture[1:] - 1,
        picture_source=[rows.picture_source[code] for code in picture_codes[1:]],
        fields={name: [values[row] for row in kept] for name, values in rows.fields.items()},
        split=None if rows.split is None else [rows.split[row] for row in kept],
        table_row=rows.table_row[kept],
        labels={name: [values[row] for row in kept] for name, values in rows.labels.items()},
    )
