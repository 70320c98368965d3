"""`vectors:PATH`: vectors that another program made, in files or in memory.

In PATH `{lang}` stands for the language of a text and `{role}` for `questions` or `candidates`; a `*` makes
an encoder of each match. A file without `{lang}` serves all languages.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from xlingual import arrays
from xlingual.arrays import Ints, Rows, distinct_values
from xlingual.arrow import from_strings, to_numpy
from xlingual.columns import coded, pick
from xlingual.encoders.base import Encoder
from xlingual.encoders.scheme import IMAGES, KIND, TEXTS, TRAINED_ON, Context, Option, Scheme, not_empty
from xlingual.encoders.vectorfile import SUFFIXES, check_file, ids_of, one_size, open_vectors
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
        Option("column", not_empty, None, "column of vectors in a Parquet or Arrow table"),
        Option("id", not_empty, None, "column of ids: vectors belong to texts or items by these"),
        TRAINED_ON,
        KIND,
    ),
)

Place: TypeAlias = tuple[str, str | None]  # language, role of a text; "" and None where a path has no place
_ROLES = {"query": "questions", "candidate": "candidates"}
_BLOCK = 4096  # lines checked at a time


def build(argument: str, options: Mapping[str, Any], context: Context) -> VectorsEncoder:
    """Make the encoder of a spec without `*`; raise InputError where it is one language's file for all."""
    path, languages = Path(argument), context.languages
    if context.kind == TEXTS and "{lang}" not in argument and len(set(languages)) > 1:
        ends = [tag for tag in languages if re.search(rf"(^|[._-]){re.escape(tag)}$", path.stem)]
        for language in sorted(ends, key=len)[-1:]:
            right = path.with_name(path.stem.removesuffix(language) + "{lang}" + path.suffix)
            raise InputError(
                f"vectors:{argument}: by its name the vectors of the language {language}, but it would be "
                f"used for all languages ({listed(languages)}): write {right}, or rename the file if it has "
                "vectors of all languages"
            )
    return VectorsEncoder(argument, languages, context.role_languages, options["column"], options["id"])


def places(
    pattern: str, languages: Sequence[str], role_languages: Mapping[str, Sequence[str]] | None = None
) -> list[Place]:
    """List the places of a pattern that each have a file, by language in the order given.

    `role_languages` says which languages the texts of a role are in; without it, each role has all of them.
    """
    roles = tuple(_ROLES) if "{role}" in pattern else (None,)
    if "{lang}" not in pattern:
        return [("", role) for role in roles]
    asked = role_languages or {}
    return [
        (language, role)
        for language in dict.fromkeys(languages)
        for role in roles
        if role is None or language in asked.get(role, languages)
    ]


def filled(pattern: str, place: Place) -> str:
    """Write the path of a place."""
    return pattern.replace("{lang}", place[0]).replace("{role}", _ROLES.get(place[1] or "", ""))


def expand(
    pattern: str, languages: Sequence[str], role_languages: Mapping[str, Sequence[str]] | None = None
) -> dict[str, str]:
    """Name the patterns without stars that have a file, sorted by name; `{lang}` and `{role}` are kept.

    Several stars are joined by `-` in the name. A star stays within one folder. Raises InputError where
    nothing matches, or two matches have one name.
    """
    pattern = re.sub(r"\*+", "*", pattern)
    first, *rest = pattern.split("*")
    matches: dict[str, str] = {}
    for place in places(pattern, languages, role_languages):
        parts = filled(pattern, place).split("*")
        stars = re.compile("([^/]*)".join(map(re.escape, parts)))
        for file in glob.glob("*".join(map(glob.escape, parts))):
            match = stars.fullmatch(file)
            if match is None or not file.endswith(SUFFIXES):
                continue
            path = first + "".join(star + part for star, part in zip(match.groups(), rest, strict=True))
            if matches.setdefault("-".join(match.groups()), path) != path:
                raise InputError(f"vectors:{pattern}: two files would be named {'-'.join(match.groups())!r}")
    if not matches:
        raise InputError(
            f"vectors:{pattern}: no file matches for the languages {', '.join(languages)}: correct the path; "
            "a star stands for part of one name, {lang} for a language, {role} for questions or candidates"
        )
    return dict(sorted(matches.items()))


class VectorsEncoder(Encoder):
    """Looks vectors up in files by the number of the row, or by ids that stand beside them (`id`).

    Which row of the batch is which line of the file is known from the batch's numberings: the first one that
    has as many numbers as the file has lines is used, and where none has, the file does not belong to the
    data. `role_languages` says for each role which of the languages have texts in it; other files are not
    asked for.
    """

    by_number = True  # of a batch it reads numberings and languages only: texts may stay where they are

    def __init__(
        self,
        pattern: str,
        languages: Sequence[str],
        role_languages: Mapping[str, Sequence[str]] | None = None,
        column: str | None = None,
        id: str | None = None,
    ) -> None:
        self.pattern, self.column, self.id = pattern, column, id
        self.by_role = "{role}" in pattern  # questions and candidates have files of their own
        self.places = places(pattern, languages, role_languages)
        for place in () if self.by_role else self.places:
            check_file(Path(filled(pattern, place)))

    @cached_property
    def identity(self) -> str:
        """A hash of the bytes of all its files; read once, when first asked for."""
        parts: list[str | bytes] = []
        for language, role in sorted(self.places, key=lambda place: place[0]):
            path = Path(filled(self.pattern, (language, role)))
            check_file(path)
            content = sha256_of(path)
            note_file("vectors", path, content)
            parts += [language, role or "", bytes.fromhex(content)]
        whole = parts[-1] if len(parts) == 3 and isinstance(parts[-1], bytes) else digest(*parts)
        stated = {"column": self.column, "id": self.id}
        options = "&".join(f"{name}={quote(value)}" for name, value in stated.items() if value is not None)
        return f"vectors:{whole.hex()[:16]}" + (f"?{options}" if options else "")

    def encode(self, batch: Texts | Images, /) -> arrays.Vectors:
        """Give float32 [n, d]: the line of each row of the batch; only those lines are read."""
        return np.asarray(self.encode_noting(batch).vectors)

    def encode_noting(self, batch: Texts | Images, /) -> Encoded:
        """Give the vectors, where they are large as rows that stay in the files (`Rows`)."""
        role = batch.role if isinstance(batch, Texts) else None
        codes, tags = coded(batch.language)
        by_language: list[tuple[str | None, Ints]] = [(None, np.arange(len(batch)))]
        if "{lang}" in self.pattern:
            by_language = [(tag, np.flatnonzero(codes == code)) for code, tag in enumerate(tags)]
        expected = [language for language, other in self.places if other in (role, None)]
        needed = dict.fromkeys([*expected, *(tag or "" for tag, _ in by_language)])
        tables = {language: self.table(language, role) for language in needed}
        dims = {path: int(table.shape[1]) for path, table in tables.values()}
        one_size(dims, "be of one size, made by one model")
        index, parts = np.empty(len(batch), dtype=np.int64), list[NDArray[Any]]()
        for language, rows in by_language:
            path, array = tables[language or ""]
            if self.id is None:
                lines = _lines(path, len(array), language, batch, rows)
            else:
                lines = _lines_by_id(path, self.id, batch, rows)
            shared = isinstance(batch, Texts) and language is None
            if shared and len(distinct_values(lines * len(tags) + codes)) > len(distinct_values(lines)):
                warn(
                    f"{path} serves all languages with one vector for each item: every text has the vector "
                    "of its item, whatever its language, and XLR is then 1; give a file for each language, "
                    "with {lang} in its path"
                )
            _refuse_bad(path, array, lines)
            index[rows] = lines + sum(map(len, parts))
            parts += array.parts if isinstance(array, Rows) else [array]
        vectors: Any = Rows(parts or [self.table(*self.places[0])[1]], index)
        return Encoded(np.asarray(vectors) if vectors.nbytes <= arrays.IN_MEMORY else vectors)

    def table(self, language: str, role: str | None) -> tuple[Any, Any]:
        """Open the file of a language and role: its name in messages, and its vectors, an array or Rows."""
        if self.by_role and role is None:
            raise InputError(f"vectors:{self.pattern}: no questions or candidates here: leave {{role}} out")
        path = Path(filled(self.pattern, (language, role)))
        return path, open_vectors(path, self.column)


def _lines(path: Path, lines: int, language: str | None, batch: Texts | Images, rows: Ints) -> Ints:
    """Find which line of the file each of the rows is, by the first numbering that has as many numbers."""
    expected, fitting = list[str](), list[tuple[str, Ints]]()
    for numbering in batch.numberings:
        size, unit = numbering.sizes.get(language), numbering.unit
        if size is None:
            continue
        unit = f"{unit} {language}" if language and unit.endswith("of the language") else unit
        expected.append(f"{size} {unit}")
        if size == lines:
            index = np.asarray(numbering.index, dtype=np.int64)[rows]
            if len(index) and not 0 <= index.min() <= index.max() < lines:
                raise InputError(f"{path}: the data counts its {unit} beyond the {lines} lines")
            fitting.append((unit, index))
    if not fitting:
        counts = " or ".join(dict.fromkeys(expected)) or "no numbers of rows"
        raise InputError(f"{path} has {lines} lines, but the data have {counts}: give one vector for each")
    unit, index = fitting[0]
    if others := [other for other, way in fitting[1:] if not np.array_equal(way, index)]:
        warn(
            f"{path} has {lines} lines, as many as there are {unit} and {listed(others)}, which are in "
            f"different orders: its lines are taken as {unit}, in that order"
        )
    return index


def _lines_by_id(path: Path, column: str, batch: Texts | Images, rows: Ints) -> Ints:
    """Find which line of a table each of the rows is, by the id that stands beside it.

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


def _refuse_bad(path: Path, array: Any, lines: Ints) -> None:  # noqa: ANN401  (an array or Rows)
    """Raise InputError where lines that are used hold what is no finite float32."""
    for start in range(0, len(lines), _BLOCK):
        part = lines[start : start + _BLOCK]
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(np.asarray(array[part], dtype=np.float32)).all(axis=1)
        if not finite.all():
            raise InputError(
                f"{path}: lines that are used hold NaN, infinity or a number too large for float32; one is "
                f"line {part[~finite].min() + 1}: make these vectors again"
            )


class GivenVectors(VectorsEncoder):
    """Vectors in memory, `{language: array}`, or one array for all languages ("").

    Lines are counted as those of `vectors:`: by item, by text of the language, or by row.
    """

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self.pattern, self.id, self.by_role = "" if "" in tables else "{lang}", None, False
        self.places = [(tag, None) for tag in tables]
        self.tables = {tag: array_of(table) for tag, table in tables.items()}
        for tag, array in self.tables.items():
            name = f"the array of {tag}" if tag else "the array"
            if array.dtype.kind not in "fiu":
                raise InputError(f"{name} holds {array.dtype}, shape {array.shape}; expected numbers [n, d]")
            refuse_bytes(array, f"{name} holds")

    @cached_property
    def identity(self) -> str:
        """A hash of all numbers."""
        parts: list[str | bytes] = []
        for tag, table in sorted(self.tables.items()):
            parts += [tag, str(table.shape), str(table.dtype), *(row.tobytes() for row in table)]
        return f"arrays:{digest(*parts).hex()[:16]}"

    def table(self, language: str, role: str | None) -> tuple[Any, Any]:
        """Give the array of a language."""
        if language not in self.tables:
            raise InputError(
                f"there are no vectors for {language!r}, only for {listed(self.tables)}: add them"
            )
        return f"the array of {language}" if language else "the array", self.tables[language]
