"""`vectors:PATH`: vectors that another program made, read from files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xlingual import arrays
from xlingual.arrays import Ints, Rows, Vectors, distinct_values
from xlingual.arrow import from_strings, to_numpy
from xlingual.columns import coded, pick
from xlingual.encoders.base import Encoder
from xlingual.encoders.options import KIND, TRAINED_ON, Option, not_empty
from xlingual.encoders.patterns import FIELD, fields_there, filled, language_at_end, places
from xlingual.encoders.scheme import IMAGES, TEXTS, Context, Scheme
from xlingual.encoders.vectorfile import (
    VectorOptions,
    check_file,
    ids_of,
    one_size,
    open_vectors,
)
from xlingual.errors import InputError, listed, warn
from xlingual.forms import array_of, refuse_bytes
from xlingual.records import Encoded, Images, Texts, digest
from xlingual.results.provenance import note_file, sha256_of

SCHEME = Scheme(
    "vectors",
    (TEXTS, IMAGES),
    "vectors that you have: in arrays, or in a column of a table",
    __name__,
    argument="PATH",
    options=(
        Option("key", not_empty, None, "name of the tensor in a .safetensors file"),
        Option("column", not_empty, None, "column of vectors in a Parquet or Arrow table"),
        Option("id", not_empty, None, "column of ids: vectors belong to texts or items by these"),
        TRAINED_ON,
        KIND,
    ),
)

_BLOCK = 4096  # lines converted at a time


class VectorsEncoder(Encoder):
    """Looks vectors up in files by the number of the row.

    `pattern` is a path in which `{lang}` stands for the language of a text and `{role}` for `questions` or
    `candidates`; a file without `{lang}` serves all languages. Which row of the batch is which line of the
    file is known from the batch's numberings: the first one that has as many numbers as the file has lines is
    used, and where none has, the file does not belong to the data. `role_languages` says for each role which
    of the languages have texts in it; other files are not asked for. `{field}` stands for the column that is
    encoded, such as `title`, where texts have several: each field then has separate files. `options` say
    what of a file counts, and whether lines belong to texts by their order, or by ids that stand beside them.
    """

    opens_images = False  # images that are missing or broken do not matter
    by_number = True  # of a batch it reads numberings and languages only: texts may stay where they are

    def __init__(
        self,
        pattern: str,
        languages: Sequence[str],
        options: VectorOptions = VectorOptions(),  # noqa: B008
        role_languages: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.pattern, self._languages, self.role_languages = pattern, tuple(languages), role_languages
        self.options = options
        self.places = places(pattern, self._languages, role_languages)
        if "{role}" not in pattern and FIELD not in pattern:
            for place in self.places:
                check_file(self._path(*place))

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether questions and candidates have files of their own."""
        return "{role}" in self.pattern

    @cached_property
    def identity(self) -> str:
        """A hash of the bytes of all its files; read once, when first asked for."""
        if FIELD in self.pattern:
            return f"vectors:{self._identity_of_fields()}{self.options.stated}"
        parts: list[str | bytes] = []
        for language, role in sorted(self.places, key=lambda place: place[0]):
            path = self._path(language, role)
            check_file(path)
            content = sha256_of(path)
            note_file("vectors", path, content)
            parts += [language, role or "", bytes.fromhex(content)]
        whole = parts[-1] if len(parts) == 3 and isinstance(parts[-1], bytes) else digest(*parts)
        return f"vectors:{whole.hex()[:16]}{self.options.stated}"

    def encode(self, batch: Texts | Images, /) -> Vectors:
        """Return float32 [n, d]: the line of each row of the batch; only those lines are read."""
        return np.asarray(self._found(batch, most=None))

    def encode_noting(self, batch: Texts | Images, /) -> Encoded:
        """Return the same, where it is large as rows that stay in the files (`Rows`)."""
        return Encoded(self._found(batch, most=arrays.IN_MEMORY))

    def _found(self, batch: Texts | Images, most: int | None) -> Any:  # noqa: ANN401  (an array or Rows)
        """Return the vectors in memory, or beyond `most` bytes in their files; None: in memory."""
        if FIELD in self.pattern:
            return self._of_field(batch.of_field if isinstance(batch, Texts) else None)._found(batch, most)
        role = batch.role if isinstance(batch, Texts) else None
        dim = self._dimensions(role, coded(batch.language)[1])
        copied = most is None or 4 * len(batch) * dim <= most
        vectors = np.empty((len(batch), dim), dtype=np.float32) if copied else None
        arrays: list[NDArray[Any]] = []
        index = np.empty(0 if copied else len(batch), dtype=np.int64)
        whole = [(None, np.arange(len(batch), dtype=np.int64))]
        for language, rows in rows_by_tag(batch) if "{lang}" in self.pattern else whole:
            path, array = self._table(language or "", role)
            if self.options.id is None:
                lines = _lines(path, len(array), language, batch, rows)
            else:
                lines = _lines_by_id(path, self.options.id, batch, rows)
            if isinstance(batch, Texts) and language is None:
                _warn_of_shared(path, lines, batch.language)
            bad: set[int] = set()
            for start in range(0, len(rows), _BLOCK):
                part = slice(start, start + _BLOCK)
                with np.errstate(over="ignore", invalid="ignore"):
                    block = np.asarray(array[lines[part]], dtype=np.float32)
                if vectors is not None:
                    vectors[rows[part]] = block
                bad.update(lines[part][~np.isfinite(block).all(axis=1)].tolist())
            if bad:
                raise InputError(
                    f"{path}: {len(bad)} of the lines used hold NaN, infinity or a number too large for "
                    f"float32; the first is line {min(bad) + 1} "
                    f"(all: {listed((line + 1 for line in sorted(bad)), 5)}): make these vectors again"
                )
            if vectors is None:
                index[rows] = lines + sum(len(part) for part in arrays)
                arrays += array.parts if isinstance(array, Rows) else [array]
        return Rows(arrays, index) if vectors is None else vectors

    def _of_field(self, name: str | None) -> VectorsEncoder:
        """Return the encoder of one field."""
        if name is None:
            raise InputError(
                f"vectors:{self.pattern}: the text itself is encoded here, not a column: {FIELD} is for "
                "models of several columns, such as model:DIR::vectors:…; leave it out"
            )
        pattern = self.pattern.replace(FIELD, name)
        return VectorsEncoder(pattern, self._languages, self.options, self.role_languages)

    def _identity_of_fields(self) -> str:
        """Return a hash of the files of all fields."""
        path = filled(self.pattern, self.places[0])
        names = fields_there(path)
        if not names:
            check_file(Path(path))
        return digest(*(part for name in names for part in (name, self._of_field(name).identity))).hex()[:16]

    def _table(self, language: str, role: str | None) -> tuple[Any, Any]:
        """Return the file of a language and role, as messages name it, and its vectors: an array or Rows."""
        path = self._path(language, role)
        return path, open_vectors(path, self.options)

    def _path(self, language: str, role: str | None) -> Path:
        if "{role}" in self.pattern and role is None:
            raise InputError(
                f"vectors:{self.pattern}: neither questions nor candidates here: leave {{role}} out"
            )
        return Path(filled(self.pattern, (language, role)))

    def _dimensions(self, role: str | None, more: Iterable[str]) -> int:
        """Return the number of dimensions, which all files must share; only their heads are read.

        The files are those for texts of the role: those expected, and those of the languages `more`.
        """
        known = (language for language, other in self.places if other in (role, None))
        languages = dict.fromkeys((*known, *more)) if "{lang}" in self.pattern else ("",)
        tables = [self._table(language, role) for language in languages]
        dims = {path: int(table.shape[1]) for path, table in tables}
        return one_size(dims, "be of one size, made by one model")


def rows_by_tag(batch: Texts | Images) -> list[tuple[str | None, Ints]]:
    """Return each language of a batch with its rows."""
    codes, tags = coded(batch.language)
    return [(tag, np.flatnonzero(codes == code).astype(np.int64)) for code, tag in enumerate(tags)]


def _lines(path: Path, lines: int, language: str | None, batch: Texts | Images, rows: Ints) -> Ints:
    """Return which line of the file each of the rows is."""
    expected, fitting = [], []
    for numbering in batch.numberings:
        size = numbering.sizes.get(language)
        if size == lines:
            index = np.asarray(numbering.index, dtype=np.int64)[rows]
            if len(index) and not 0 <= index.min() <= index.max() < lines:
                raise InputError(f"{path}: the data counts its {numbering.unit} beyond the {lines} lines")
            fitting.append((_unit(numbering.unit, language), index))
        if size is not None:
            expected.append(f"{size} {_unit(numbering.unit, language)}")
    if fitting:
        unit, index = fitting[0]
        if others := [other for other, way in fitting[1:] if not np.array_equal(way, index)]:
            warn(
                f"{path} has {lines} lines, as many as there are {unit} and {listed(others)}, which are in "
                f"different orders: its lines are taken as {unit}, in that order"
            )
        return index
    counts = " or ".join(dict.fromkeys(expected)) or "no numbers of rows"
    raise InputError(f"{path} has {lines} lines, but the data have {counts}: give one vector for each")


def _lines_by_id(path: Path, column: str, batch: Texts | Images, rows: Ints) -> Ints:
    """Return which line of a table each of the rows is, by the id that stands beside it.

    Ids are those of texts, or else those of items; of images the other way round. Raises InputError where the
    file has neither all of the ones nor all of the others.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names, missing = ids_of(path, column), list[str]()
    kinds = {"ids of texts": batch.ids, "ids of items": batch.items}
    for kind in sorted((name for name in kinds if len(kinds[name])), reverse=isinstance(batch, Texts)):
        asked = from_strings(pick(kinds[kind], rows), pa.large_string())
        place = pc.index_in(asked, value_set=names)
        if not place.null_count:
            return to_numpy(place).astype(np.int64)
        absent = pc.unique(asked.filter(place.is_null())).to_pylist()
        missing.append(f"{len(absent):,} {kind} are missing ({listed(map(repr, absent), 3)})")
    raise InputError(
        f"{path}, id={column}: {'; '.join(missing)}; the file has ids such as "
        f"{listed(map(repr, names.slice(0, 2).to_pylist()), 2)}: give vectors of all, or name the column of "
        "the ids that the data have (?id=COLUMN)"
    )


def _warn_of_shared(path: Path, lines: Ints, languages: Sequence[str]) -> None:
    """Warn where texts of several languages have one line of a file."""
    codes, words = coded(languages)
    pairs = lines * len(words) + codes
    if len(distinct_values(pairs)) > len(distinct_values(lines)):
        warn(
            f"{path} serves all languages with one vector for each item: every text has the vector of its "
            "item, whatever its language, and XLR is then 1; give a file for each language, with {lang} in "
            "its path"
        )


def _unit(unit: str, language: str | None) -> str:
    return f"{unit} {language}" if language is not None and unit.endswith("of the language") else unit


def build(argument: str, options: Mapping[str, Any], context: Context) -> VectorsEncoder:
    """Return the encoder for a spec without `*`; raise InputError where it is one language's file for all."""
    path, languages = Path(argument), context.languages
    language = language_at_end(path.stem, languages)
    one_for_all = context.kind == TEXTS and "{lang}" not in argument and len(set(languages)) > 1
    if one_for_all and language is not None:
        right = path.with_name(path.stem.removesuffix(language) + "{lang}" + path.suffix)
        raise InputError(
            f"vectors:{argument}: by its name the vectors of the language {language}, but it would be used "
            f"for all languages ({listed(languages)}): write {right}, or rename the file if it has vectors "
            "of all languages"
        )
    named = VectorOptions(**{name: options[name] for name in ("key", "column", "id")})
    return VectorsEncoder(argument, languages, named, context.role_languages)


class GivenVectors(VectorsEncoder):
    """Vectors in memory or in files, `{language: array or path}`, or one array for all languages.

    Lines are counted as those of `vectors:`: by item, by text of the language, or by row.
    """

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self.tables: dict[str, NDArray[Any] | Path] = {}
        for tag, table in tables.items():
            if isinstance(table, str | os.PathLike):
                self.tables[tag] = Path(table)
                check_file(Path(table))
                continue
            array = self.tables[tag] = array_of(table)
            if array.dtype.kind not in "fiu" or array.ndim != 2:
                raise InputError(
                    f"{_named(tag)} holds {array.dtype}, shape {array.shape}; expected numbers [n, d]"
                )
            refuse_bytes(array, f"{_named(tag)} holds")
        self.pattern, self.options, self.role_languages = (
            "array" if "" in tables else "{lang}",
            VectorOptions(),
            None,
        )
        self._languages = tuple(tag for tag in tables if tag)
        self.places = places(self.pattern, self._languages)

    @cached_property
    def identity(self) -> str:
        """A hash of all numbers."""
        parts: list[str | bytes] = []
        for tag in sorted(self.tables):
            _, table = self._table(tag, None)
            parts += [tag, str(table.shape), str(table.dtype), *(np.asarray(row).tobytes() for row in table)]
        return f"arrays:{digest(*parts).hex()[:16]}"

    def _table(self, language: str, role: str | None) -> tuple[Any, Any]:
        """Return the name of a language's vectors in messages, and these."""
        if language not in self.tables:
            raise InputError(
                f"there are no vectors for {language!r}: give an array or a path for it too (given: "
                f"{listed(self._languages)})"
            )
        table = self.tables[language]
        return (table, open_vectors(table)) if isinstance(table, Path) else (_named(language), table)


def _named(tag: str) -> str:
    return f"the array of {tag}" if tag else "the array"


def adapter_of(entry: Any, kind: str) -> GivenVectors:  # noqa: ANN401  (an array, or a mapping of such)
    """Return the encoder that looks the vectors up; `kind` is texts or images alike."""
    return GivenVectors(entry if isinstance(entry, Mapping) else {"": entry})
