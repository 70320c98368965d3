"""Manifests: a team's own texts, in several languages, with the items and images they belong to."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, Unpack, cast

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.columns import Lookup, StringColumn, hash_column, numbered_ints, position_in_group, view
from xlingual.data.forms import ReadOptions, parts_of, splits_of
from xlingual.data.images import groups_of_looks, image_keys, items_of_images, looked_at
from xlingual.data.sources import read_table, table_of
from xlingual.data.tables import Problem, Problems, Table, shown
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.images import ImageSource, missing_files
from xlingual.notebook import Overview, html_of
from xlingual.records import Images, Numbering, Texts
from xlingual.results.provenance import note_data, noting

_BEFORE = " before rows were chosen"
_SLICE = re.compile(r"\s*(-?[0-9]{1,18})?\s*:\s*(-?[0-9]{1,18})?\s*")
ManifestLike: TypeAlias = Any  # a Manifest, a path, or data in memory: see `Manifest.of`
F = TypeVar("F", bound=Callable[..., Any])


class DataOptions(ReadOptions, total=False):
    """Options of functions that take data in memory, or a path, in place of a Manifest."""

    folder: str | Path | None  # what paths of images are relative to; None: the current folder


@dataclass(frozen=True, eq=False, repr=False)
class Manifest:
    """n texts, each in a language and about an item; always one row per text, whatever the file's form.

    Columns are in the order of the file (wide form: row by row, languages in the order of their columns).
    Images are not opened. See https://xlingual.github.io/xlingual/latest/reference/manifest/ for the file
    formats.
    """

    ids: StringColumn  # [n]
    languages: tuple[str, ...]
    language: Ints  # [n], index into languages
    text: StringColumn  # [n]
    item: Ints  # [n], index into item_ids: equal items match
    item_ids: StringColumn  # [n_items]
    cluster: Ints  # [n]: texts of one cluster are not independent
    image: Ints  # [n], index into image_source, -1 where there is none
    image_source: Sequence[ImageSource]  # bytes or paths, each once
    fields: Mapping[str, StringColumn]  # further texts such as `title`, each [n]
    split: Lookup[str] | None  # [n]
    table_row: Ints  # [n], the 0-based row of the table a text came from
    n_table_rows: int
    source: str  # the file, for messages
    folder: Path | None
    wide: bool
    labels: Mapping[str, Lookup[str | None]]  # further columns of few different values, each [n]
    numbers: Mapping[str, Floats]  # further columns of numbers, each [n], NaN: not known
    path: Path | None = None
    numberings: tuple[Numbering, ...] = ()
    columns: ReadOptions = field(default_factory=ReadOptions)  # as given when it was read

    @classmethod
    def read(cls, path: str | Path, **options: Unpack[ReadOptions]) -> Manifest:
        """Read a Parquet, Arrow, JSON, CSV or TSV file, or the folder that holds one.

        Columns have their usual names unless an option names them; `text_column="name_{lang}"` is a pattern
        for the wide form. `split`, `rows` and `drop_shared_images` choose rows before items are numbered.
        Raises InputError for anything that cannot be right; warns (DataWarning) of empty texts.
        """
        table, file = read_table(path)
        return cls._of_table(table, options, file)

    @classmethod
    def read_gathering(
        cls, path: str | Path, **options: Unpack[ReadOptions]
    ) -> tuple[Manifest | None, list[Problem]]:
        """Read as `read` does, but gather all problems; the manifest is of the rows that have none.

        It is None where no row can be read.
        """
        problems = Problems(gathered=True)
        try:
            table, file = read_table(path, problems)
            return cls._of_table(table, options, file), problems
        except InputError as error:
            problems.add("unreadable", str(error))
            return None, problems

    @classmethod
    def of(cls, data: ManifestLike, /, **options: Unpack[DataOptions]) -> Manifest:
        """Return the manifest of a path, or of anything in memory that holds texts; a Manifest stays one.

        Taken are data frames of pandas and polars, Arrow tables and whatever else gives itself as Arrow,
        `Dataset` and `DatasetDict` of Hugging Face (whose splits become the column `split`), lists of
        records and mappings of columns. Options are those of `read`, and `folder`: what paths of images are
        relative to (they must then stay within it); without it they are relative to the current folder.
        Images may be bytes, opened by Pillow, or arrays of pixels (uint8), too. Empty cells of any kind
        (None, NaN, NaT) are no texts.
        """
        if isinstance(data, Manifest):
            if names := [name for name, value in options.items() if value is not None]:
                raise InputError(
                    f"{listed(names)} says how data are read, and a Manifest has been read already: give it "
                    "to Manifest.of or Manifest.read"
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
        table = table_of(data, None if folder is None else Path(folder))
        return cls._of_table(table, cast("ReadOptions", options), None)

    @classmethod
    def _of_table(cls, table: Table, options: ReadOptions, path: Path | None) -> Manifest:
        """Return the manifest of the rows of a table that the options choose and that have no error."""
        problems, manifest = table.problems, cls(**parts_of(table, options))
        chosen = _chosen_rows(manifest, options, table)
        bad = problems.bad_rows
        if len(chosen) < table.n_rows or bad:
            manifest = manifest.part(np.setdiff1d(chosen, np.array([*bad], dtype=np.int64)))
        if not len(manifest):
            reason = "no row is left without an error: mend the errors" if bad else "these rows have no text"
            raise InputError(f"{table.source}: {reason}")
        of_rows = ("split", "rows", "drop_shared_images")
        columns = cast("ReadOptions", {name: value for name, value in options.items() if name not in of_rows})
        manifest = replace(manifest, path=path, columns=columns)
        empty = np.flatnonzero(manifest.text.blank())
        if len(empty) and not problems.gathered:  # the check counts them
            problems.add(
                "empty texts",
                f"{manifest.source}: {len(empty)} of {len(manifest)} texts are empty "
                f"(ids {shown(view(manifest.ids, empty))}): fill them in or remove their rows",
                severity="warning",
            )
        note_data("manifest", path, manifest, lambda: (manifest.digest, len(manifest)))
        return manifest

    def __post_init__(self) -> None:
        for column in (self.language, self.item, self.cluster, self.image, self.table_row):
            column.setflags(write=False)
        if not self.numberings:
            object.__setattr__(self, "numberings", self._numberings())

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
        hasher.update(np.append(len(self), np.where(shown, 16, 0)).astype("<i8").tobytes())
        hasher.update(image_keys(self.image_source, self.folder)[self.image[shown]].tobytes())
        hasher.update(np.append(self.n_items, self.item).astype("<i8").tobytes())
        return hasher.hexdigest()

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
        """Return the manifest of some rows of the table [k], ascending; items, languages … are numbered anew.

        Files of vectors that number the rows of the whole still fit.
        """
        rows = np.flatnonzero(np.isin(self.table_row, table_rows))
        if self.wide:  # an item is a row of the table, with or without texts; columns order the languages
            is_whole = self.n_items == self.n_table_rows  # of a part, those items that have texts stay
            items = table_rows if is_whole else distinct_values(self.item[rows])
            languages = distinct_values(self.language[rows])
            item, language = (
                np.searchsorted(items, self.item[rows]),
                np.searchsorted(languages, self.language[rows]),
            )
        else:
            item, items = numbered_ints(self.item[rows])
            language, languages = numbered_ints(self.language[rows])
        image, images = numbered_ints(np.append(-1, self.image[rows]))
        part = replace(
            self,
            ids=self.ids.view(rows),
            languages=tuple(self.languages[code] for code in languages.tolist()),
            language=language,
            text=self.text.view(rows),
            item=item,
            item_ids=self.item_ids.view(items),
            cluster=numbered_ints(self.cluster[rows])[0],
            image=image[1:] - 1,
            image_source=view(self.image_source, images[1:]),
            fields={name: values.view(rows) for name, values in self.fields.items()},
            split=None if self.split is None else self.split.view(rows),
            table_row=self.table_row[rows],
            labels={name: values.view(rows) for name, values in self.labels.items()},
            numbers={name: values[rows] for name, values in self.numbers.items()},
            numberings=(),
        )
        of_whole = [numbering for numbering in self.numberings if numbering.unit.endswith(_BEFORE)]
        before = (numbering.take(rows) for numbering in of_whole or self._numberings(_BEFORE))
        return replace(part, numberings=(*part.numberings, *before))

    def _numberings(self, note: str = "") -> tuple[Numbering, ...]:
        """Return the numberings of all texts: by text of the language, by item, by row.

        Where a file has as many lines as there are texts of a language and as there are items, the texts win:
        a file made for one language was made from its texts, in their order.
        """
        counts = np.bincount(self.language, minlength=len(self.languages))
        sizes: dict[str | None, int] = dict(zip(self.languages, counts.tolist(), strict=True))
        return (
            Numbering(f"texts of the language{note}", position_in_group(self.language), sizes),
            Numbering(f"items{note}", self.item, dict.fromkeys([None, *sizes], self.n_items)),
            Numbering(f"rows{note}", np.arange(len(self), dtype=np.int64), {None: len(self)}),
        )

    def texts(self, rows: Ints) -> Texts:
        """Return the texts of the rows, as encoders take them."""
        return Texts(
            text=self.text.view(rows),
            language=Lookup(self.languages, self.language[rows]),
            ids=self.ids.view(rows),
            fields={name: values.view(rows) for name, values in self.fields.items()},
            items=self.item_ids.view(self.item[rows]),
            numberings=tuple(numbering.take(rows) for numbering in self.numberings),
        )

    def images(self, rows: Ints) -> Images:
        """Return the images of the rows, None for a row without one, as encoders take them."""
        return Images(
            source=view(self.image_source, self.image[rows]),
            language=Lookup(self.languages, self.language[rows]),
            ids=self.ids.view(rows),
            numberings=tuple(numbering.take(rows) for numbering in self.numberings),
            items=self.item_ids.view(self.item[rows]),
        )

    def n_shared(self, other: Manifest) -> int:
        """Return how many texts, with their ids and languages, are in another manifest too."""
        first, second = (part.texts(np.arange(len(part))).row_digests() for part in (self, other))
        return len(first & second)


def takes_data(*further: str, leave: type | tuple[type, ...] = ()) -> Callable[[F], F]:
    """Make a function's first argument, and those named `further`, anything that `Manifest.of` takes.

    The function has a last parameter `**columns: Unpack[DataOptions]`, for its callers' sake: it is always
    empty inside, since the options are used here. Arguments of a type in `leave`, and None, stay what they
    are.
    """

    def of(function: F) -> F:
        expected = signature(function)
        names = (next(iter(expected.parameters)), *further)
        rest = next(p.name for p in expected.parameters.values() if p.kind is Parameter.VAR_KEYWORD)

        @wraps(function)
        def taken(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401
            try:
                bound = expected.bind(*arguments, **more)
            except TypeError as error:
                raise TypeError(f"{function.__name__}(): {error}") from None
            columns = bound.arguments.pop(rest, {})
            if unknown := next((name for name in columns if name not in _OPTIONS), None):
                near = did_you_mean(unknown, [*expected.parameters, *_OPTIONS])
                raise TypeError(f"{function.__name__}() has no argument {unknown!r}{near and '.' + near}")
            with noting():
                for name in names:
                    value = bound.arguments.get(name)
                    if value is not None and not isinstance(value, leave):
                        is_read = name in further and isinstance(value, Manifest)
                        bound.arguments[name] = Manifest.of(value, **({} if is_read else columns))
                return function(*bound.args, **bound.kwargs)

        return cast("F", taken)

    return of


_OPTIONS = (*ReadOptions.__annotations__, *DataOptions.__annotations__)


def manifest_of(data: ManifestLike, arguments: dict[str, Any]) -> Manifest:
    """Return the manifest of data; options of reading it are taken out of `arguments`."""
    return Manifest.of(data, **{name: arguments.pop(name) for name in _OPTIONS if name in arguments})


def split_reference(text: str) -> tuple[str, str | None, str | None]:
    """Return the path, the split and the rows of "PATH#split" or "PATH#A:B".

    A file whose own name holds "#" is taken as it is.
    """
    path, mark, split = text.rpartition("#")
    if not mark or os.path.exists(text):
        return text, None, None
    if not path or not split:
        raise InputError(f"{text!r}: write PATH#split or PATH#A:B, as in products.parquet#train or #0:60")
    return (path, None, split) if _SLICE.fullmatch(split) else (path, split, None)


def read_reference(text: str, **options: Unpack[ReadOptions]) -> Manifest:
    """Read the manifest that "PATH", "PATH#split" or "PATH#A:B" (rows, as in --rows) means."""
    path, split, rows = split_reference(text)
    for what, named, option in (("split", split, options.get("split")), ("rows", rows, options.get("rows"))):
        if named is not None and option is not None and option != named:
            raise InputError(
                f"{text!r} names the {what} {named!r}, but --{what} {option!r} is given too: leave one out"
            )
    chosen: ReadOptions = {"split": split or options.get("split"), "rows": rows or options.get("rows")}
    return Manifest.read(path, **cast("ReadOptions", {**options, **chosen}))


def _chosen_rows(whole: Manifest, options: ReadOptions, table: Table) -> Ints:
    """Return the rows of the table that the options choose, ascending."""
    split, rows, most = (options.get(name) for name in ("split", "rows", "drop_shared_images"))
    chosen = np.arange(table.n_rows)
    if rows is not None:
        match = _SLICE.fullmatch(str(rows))
        if match is None:
            raise InputError(f"--rows {rows!r}: write A:B, as in 0:1000 (rows 0 to 999), ':1000' or '363:'")
        chosen = chosen[slice(*(int(number) if number else None for number in match.groups()))]
    if split is not None:
        splits = splits_of(table)
        if splits is None:
            raise InputError(
                f"{table.source} has no column 'split', so no split {split!r}: leave it out, or use "
                "--rows A:B"
            )
        if split not in splits.words:
            names = [name for name in splits.words if name]
            raise InputError(
                f"{table.source} has no split {split!r}.{did_you_mean(str(split), names)} Its splits: "
                f"{listed(names, 20)}"
            )
        chosen = chosen[splits.codes[chosen] == list(splits.words).index(str(split))]
    if not len(chosen):
        where = f" of the split {split!r}" if split is not None else ""
        raise InputError(
            f"--rows {rows} chooses no row{where}: {table.source} has rows 0 to {table.n_rows - 1}"
        )
    if most is not None:
        sources, items = whole.image_source, items_of_images(whole.image, whole.item)
        there = np.setdiff1d(np.arange(len(sources)), missing_files(sources, os.path.exists))
        looks = zip(there.tolist(), looked_at(view(sources, there), [""] * len(there)), strict=True)
        readable = {number: look[1] for number, look in looks if not isinstance(look, InputError)}
        image = np.append(groups_of_looks(readable, items, cast("int", most)), -1)[whole.image]
        shared = np.append(items_of_images(image, whole.item) > cast("int", most), False)
        chosen = np.setdiff1d(chosen, whole.table_row[shared[image]])
    return chosen
