"""Manifests: a team's own texts, in several languages, with the items and images they belong to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, cast

import numpy as np

from xlingual.arrays import Ints
from xlingual.columns import Lookup, view
from xlingual.data.reading.build import (
    build_rows,
    doubled_language_warning,
    empty_texts_warning,
    table_splits,
)
from xlingual.data.reading.columns import DataOptions, ReadOptions, find_columns
from xlingual.data.reading.gathering import table_of_rows
from xlingual.data.reading.objects import table_of_object
from xlingual.data.reading.opening import open_table
from xlingual.data.reading.problems import Problem, Reading
from xlingual.data.reading.select import choose, split_reference
from xlingual.data.reading.tables import SourceTable, table_of_arrow
from xlingual.data.reading.textrows import TextRows, chosen_rows, numberings
from xlingual.data.reading.translations import spread
from xlingual.errors import InputError, did_you_mean, listed, warn
from xlingual.notebook import Overview, html_of
from xlingual.records import Images, Numbering, Texts
from xlingual.results.provenance import note_data

if TYPE_CHECKING:
    import pyarrow as pa

_BEFORE = " before rows were chosen"
ManifestLike: TypeAlias = Any  # a Manifest, a path, or data in memory: see `Manifest.of`


@dataclass(frozen=True, eq=False, repr=False)
class Manifest(TextRows):
    """n texts, each in a language and about an item; always one row per text, whatever the file's form.

    Columns, all in the order of the file (wide form: row by row, languages in the order of their columns):
    `ids` [n]; `languages` and `language` [n], an index into them; `text` [n]; `item_ids` [n_items] and `item`
    [n], an index into them: equal items match; `cluster` [n]: texts that are not independent; `image` [n],
    an index into `image_source` (bytes or paths, each once) or -1; `fields`: further texts such as `title`,
    each [n]; `split` [n] or None; `labels`: further columns of few different values, such as `category`,
    each [n]; `numbers`: further columns of numbers, such as `price`, each [n]. Images are not opened. See
    https://xlingual.github.io/xlingual/latest/reference/manifest/ for the file formats.
    """

    numberings: tuple[Numbering, ...]
    columns: ReadOptions = field(default_factory=ReadOptions)  # as given when it was read

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        text_column: str | None = None,
        image_column: str | None = None,
        item_column: str | None = None,
        id_column: str | None = None,
        lang_column: str | None = None,
        cluster_column: str | None = None,
        separator: str | None = None,
        encoding: str | None = None,
        split: str | None = None,
        rows: str | None = None,
        images: Literal["first", "mean"] | None = None,
    ) -> Manifest:
        """Read a Parquet, Arrow, JSONL, CSV or TSV file, or the folder that holds one.

        Columns have their usual names unless given; `text_column="name_{lang}"` is a pattern for the wide
        form. `split` and `rows` ("A:B", counted from 0, B left out) choose rows of the file before items are
        numbered. `images` says which of several images of a row count: the first, or the mean of their unit
        vectors. `separator` and `encoding` are for text files; without them commas separate the
        columns of `.csv`, tabs those of `.tsv`, and texts are UTF-8.
        Raises InputError for anything that cannot be right; warns (DataWarning) of empty texts.
        """
        columns: ReadOptions = {
            "text_column": text_column,
            "image_column": image_column,
            "item_column": item_column,
            "id_column": id_column,
            "lang_column": lang_column,
            "cluster_column": cluster_column,
            "separator": separator,
            "encoding": encoding,
            "images": images,
        }
        table, file = open_table(path, Reading(separator, encoding))
        return cls._of_table(table, columns, split, rows, file)

    @classmethod
    def of(cls, data: ManifestLike, /, **options: Unpack[DataOptions]) -> Manifest:
        """Return the manifest of a path, or of anything in memory that holds texts; a Manifest stays one.

        Taken are data frames of pandas and polars, Arrow tables and whatever else gives
        itself as Arrow, `Dataset` and `DatasetDict` of Hugging Face (whose splits become the column `split`),
        and lists of records. Options are those of `read`, and `folder`: what paths of images are relative to
        (they must then stay within it); without it they are relative to the current folder. Images may be
        bytes, opened by Pillow, or arrays of pixels (uint8), too. Empty cells of any kind (None, NaN, NaT)
        are no texts.

        Raises InputError for anything that cannot be right, as `read` does.
        """
        if isinstance(data, Manifest):
            if given := [name for name, value in options.items() if value is not None]:
                raise InputError(
                    f"{listed(given)} says how data are read, and a Manifest has been read already: give it "
                    "to Manifest.of or Manifest.read, or give the data in place of the Manifest"
                )
            return data
        folder = options.pop("folder", None)
        if isinstance(data, (str, Path)) or hasattr(data, "__fspath__"):
            if folder is not None:
                raise InputError(
                    f"folder={str(folder)!r} is for data in memory: images are relative to the folder of "
                    f"{os.fspath(data)}"
                )
            return read_reference(os.fspath(data), **cast("ReadOptions", options))
        table = table_of_object(data, None if folder is None else Path(folder))
        return cls._of_table(table, *_split_options(cast("ReadOptions", options)), None)

    @classmethod
    def read_gathering(
        cls, path: str | Path, **options: Unpack[ReadOptions]
    ) -> tuple[Manifest | None, list[Problem]]:
        """Read as `read` does, but gather all problems; the manifest is of the rows that have none.

        It is None where no row can be read.
        """
        columns, split, rows = _split_options(options)
        problems: list[Problem] = []
        try:
            table, file = open_table(
                path, Reading(columns.get("separator"), columns.get("encoding"), problems)
            )
            return cls._of_table(table, columns, split, rows, file), problems
        except InputError as error:
            return None, [*problems, Problem("error", "unreadable", str(error))]

    @classmethod
    def from_rows(
        cls,
        rows_of_table: Sequence[Mapping[str, object]],
        /,
        *,
        folder: str | Path | None = None,
        **options: Unpack[ReadOptions],
    ) -> Manifest:
        """Return the manifest of rows in memory, each a mapping of columns to values.

        Paths of images are relative to `folder` and must stay within it; without a folder they are taken as
        they are.
        """
        table = table_of_rows(rows_of_table, "the given data", None if folder is None else Path(folder))
        return cls._of_table(table, *_split_options(options), None)

    @classmethod
    def from_table(
        cls, table: pa.Table, *, folder: str | Path | None = None, **options: Unpack[ReadOptions]
    ) -> Manifest:
        """Return the manifest of an Arrow table; `folder` as in `from_rows`."""
        arrow = table_of_arrow(table, "the Arrow table", None if folder is None else Path(folder))
        return cls._of_table(arrow, *_split_options(options), None)

    @classmethod
    def _of_table(
        cls, table: SourceTable, options: ReadOptions, split: str | None, rows: str | None, path: Path | None
    ) -> Manifest:
        table, found = spread(table, options)
        columns = find_columns(table, found)
        whole = build_rows(table, columns)
        part, all_numberings = whole, numberings(whole)
        bad = [row for problem in table.reading.problems or () for row in problem.rows]
        if split is not None or rows is not None or bad:
            chosen = choose(whole, table_splits(table, columns), split, rows)
            chosen = np.setdiff1d(chosen, np.array(bad, dtype=np.int64))
            part = chosen_rows(whole, chosen)
            if not len(part):
                raise InputError(f"{table.source}: the chosen rows have no text: choose others")
            kept = np.isin(whole.table_row, chosen).nonzero()[0]
            before = (numbering.take(kept) for numbering in numberings(whole, _BEFORE))
            all_numberings = (*numberings(part), *before)
        for warning in (empty_texts_warning(part), doubled_language_warning(part)):
            if warning and table.reading.problems is None:
                warn(warning)
        values = {f.name: getattr(part, f.name) for f in fields(TextRows)}
        made = cls(**(values | {"path": path}), numberings=all_numberings, columns=options)
        note_data("manifest", path, made, lambda: (made.digest, len(made)))
        return made

    def _overview(self) -> Overview:
        counts = np.bincount(self.language, minlength=len(self.languages)).tolist()
        name = self.path.name if self.path is not None else self.source
        texts = dict(zip(self.languages, counts, strict=True))
        return Overview(name, self.n_items, texts, len(self.image_source))

    def __repr__(self) -> str:
        whole = self._overview()
        texts = listed((f"{tag} {count}" for tag, count in whole.texts.items()), 20)
        images = f"{whole.n_images} images" if self.has_images else "no images"
        return f"Manifest({whole.name}: {self.n_items} items, {len(self)} texts ({texts}), {images})"

    def _repr_html_(self) -> str | None:
        return html_of(self._overview())

    def rows_of(self, language: str) -> Ints:
        """Return the rows [m] of a language, in order; raise InputError where there are none."""
        if language not in self.languages:
            raise InputError(
                f"{self.source} has no texts in {language!r}.{did_you_mean(language, self.languages)} "
                f"Its languages: {listed(self.languages, 40)}"
            )
        return np.flatnonzero(self.language == self.languages.index(language))

    def part(self, table_rows: Ints) -> Manifest:
        """Return the manifest of some rows of the table [k], ascending; items are numbered anew.

        Files of vectors that number the rows of the whole still fit.
        """
        part = chosen_rows(self, table_rows)
        kept = np.isin(self.table_row, table_rows).nonzero()[0]
        of_whole = [numbering for numbering in self.numberings if numbering.unit.endswith(_BEFORE)]
        before = (numbering.take(kept) for numbering in of_whole or numberings(self, _BEFORE))
        return replace(part, numberings=(*numberings(part), *before))

    def texts(self, rows: Ints) -> Texts:
        """Return the texts of the rows, as encoders take them."""
        return Texts(
            text=self.text.view(rows),
            language=self._tags(rows),
            ids=self.ids.view(rows),
            fields={name: values.view(rows) for name, values in self.fields.items()},
            items=self.item_ids.view(self.item[rows]),
            numberings=tuple(numbering.take(rows) for numbering in self.numberings),
        )

    def n_shared(self, other: Manifest) -> int:
        """Return how many texts, with their ids and languages, are in another manifest too."""
        one, two = (part.texts(np.arange(len(part))).row_digests() for part in (self, other))
        return len(one & two)

    def images(self, rows: Ints) -> Images:
        """Return the images of the rows, None for a row without one, as encoders take them."""
        return Images(
            source=view(self.image_source, self.image[rows]),
            language=self._tags(rows),
            ids=self.ids.view(rows),
            numberings=tuple(numbering.take(rows) for numbering in self.numberings),
            items=self.item_ids.view(self.item[rows]),
        )

    def _tags(self, rows: Ints) -> Lookup[str]:
        return Lookup(self.languages, self.language[rows])


def read_reference(text: str, **options: Unpack[ReadOptions]) -> Manifest:
    """Read the manifest that "PATH", "PATH#split" or "PATH#A:B" (rows, as in --rows) means."""
    path, split, rows = split_reference(text)
    for what, named, given in (("split", split, options.get("split")), ("rows", rows, options.get("rows"))):
        if named is not None and given is not None and given != named:
            raise InputError(
                f"{text!r} names the {what} {named!r}, but --{what} {given!r} is given too: leave one out"
            )
    if split is not None:
        options["split"] = split
    if rows is not None:
        options["rows"] = rows
    return Manifest.read(path, **options)


def _split_options(options: ReadOptions) -> tuple[ReadOptions, str | None, str | None]:
    """Return the column options, the split and the rows."""
    for name in options:
        if name not in ReadOptions.__annotations__:
            known = [name for name in ReadOptions.__annotations__ if name not in ("split", "rows")]
            near = did_you_mean(name, known)
            raise TypeError(f"unexpected option {name!r}{near and '.' + near}")
    strings = {name: str(value) if isinstance(value, int) else value for name, value in options.items()}
    columns = cast("ReadOptions", strings)  # columns of data frames may be named by numbers
    return columns, columns.pop("split", None), columns.pop("rows", None)
