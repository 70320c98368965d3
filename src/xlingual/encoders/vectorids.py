"""Vectors matched by id: which line of a file belongs to which text or item."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.columns import pick
from xlingual.encoders.vectorfile import VectorOptions, open_safetensors, parts_of
from xlingual.encoders.vectorindex import INDEXES, OWN_IDS, ids_of_index, open_archive
from xlingual.encoders.vectortable import LANCE, TABLES, as_names, names_of_table, stamp
from xlingual.errors import InputError, listed, warn
from xlingual.records import Images, Texts

if TYPE_CHECKING:
    import pyarrow as pa

_MARK = "\x1f"  # between a language and an id


def lines_by_id(
    path: Path, options: VectorOptions, batch: Texts | Images, rows: Ints, language: str | None
) -> Ints:
    """Return which line of a file each of the rows is, by the id that stands beside it.

    Ids are those of texts, or else those of items. Raises InputError where ids of the data are missing, or
    an id of the file is there twice; warns where the file has more ids than the data, which are passed over.
    """
    import pyarrow.compute as pc

    names = _ids(path, options, stamp(path))
    found: list[tuple[str, Ints]] = []
    missing: list[str] = []
    for what, column in _candidates(batch):
        wanted = _wanted(column, batch.language, rows, options)
        place = pc.index_in(wanted, value_set=names)
        if not place.null_count:
            found.append((what, place.to_numpy(zero_copy_only=False).astype(np.int64)))
            continue
        absent = pc.unique(wanted.filter(place.is_null())).to_pylist()
        shown = listed((repr(name.replace(_MARK, ": ")) for name in absent), 3)
        missing.append(f"{len(absent):,} of {len(pc.unique(wanted)):,} {what} are missing ({shown})")
    if not found:
        first = listed((repr(name.replace(_MARK, ": ")) for name in names.slice(0, 2).to_pylist()), 2)
        raise InputError(
            f"{path}, {_where(options)}: {'; '.join(missing)}; the file has ids such as {first}: give "
            "vectors of all, or name the column of the ids that the data have (?id=COLUMN)"
        )
    what, lines = found[0]
    if any(not np.array_equal(lines, other) for _, other in found[1:]):
        warn(
            f"{path}, {_where(options)}: the ids fit the {found[0][0]} and the {found[1][0]}, which are "
            f"different lines: they are taken as {what}"
        )
    _warn_of_more(path, options, len(names), batch, language)
    return lines


def _candidates(batch: Texts | Images) -> list[tuple[str, Sequence[str]]]:
    """Return what ids may be, the likeliest first: an image is that of an item."""
    both = [("ids of texts", batch.ids), ("ids of items", batch.items)]
    return [one for one in (reversed(both) if isinstance(batch, Images) else both) if len(one[1])]


def _wanted(column: Sequence[str], languages: Sequence[str], rows: Ints, options: VectorOptions) -> pa.Array:
    import pyarrow as pa

    names = pick(column, rows)
    if options.lang is not None:
        tags = pick(languages, rows)
        names = [f"{tag}{_MARK}{name}" for tag, name in zip(tags, names, strict=True)]
    return pa.array(names, pa.large_string())


@lru_cache(maxsize=4)
def _ids(path: Path, options: VectorOptions, version: object) -> pa.Array:
    """Return the id of every line, with its language before it where these stand in a column.

    Raises InputError where two are equal. `version` is another one when the file is.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names = pa.concat_arrays([_column(part, str(options.id), options) for part in parts_of(path)])
    if options.lang is None:
        _refuse_doubles(path, options, names)
        return names
    tags = pa.concat_arrays([_column(part, options.lang, options) for part in parts_of(path)])
    joined = pc.binary_join_element_wise(tags, names, pa.scalar(_MARK, pa.large_string()))
    _refuse_doubles(path, options, joined)
    return joined


def _column(path: Path, name: str, options: VectorOptions) -> pa.Array:
    import pyarrow as pa

    if path.suffix in (*TABLES, LANCE):
        return names_of_table(path, name)
    found: Any
    if path.suffix == ".npz":
        found = open_archive(path, name, table=False)
    elif path.suffix == ".safetensors":
        found = open_safetensors(path, name)
    elif path.suffix in INDEXES and name == OWN_IDS:
        found = ids_of_index(path)
    elif path.suffix in INDEXES:
        raise InputError(
            f"{path}: an index has no column {name!r}: write ?id={OWN_IDS} for the ids it was built with"
        )
    else:
        raise InputError(
            f"{path} has no ids, its lines are numbered: leave id= out, or put ids and vectors into a "
            "Parquet file or an .npz archive"
        )
    if found.ndim != 1 or found.dtype.kind not in "iuU":
        raise InputError(
            f"{path}: {name!r} holds no list of ids (found {found.dtype}, {found.ndim} dimensions)"
        )
    return as_names(pa.array(found), f"{path}, {name!r}")


def _refuse_doubles(path: Path, options: VectorOptions, names: pa.Array) -> None:
    import pyarrow.compute as pc

    counts = pc.value_counts(names)
    doubles = counts.filter(pc.greater(counts.field("counts"), 1))
    if not len(doubles):
        return
    first = doubles[0]["values"].as_py()
    lines = np.flatnonzero(pc.equal(names, first).to_numpy(zero_copy_only=False))[:2] + 1
    remedy = (
        "" if options.lang else ", or name the column of languages where an id has one of each (?lang=COLUMN)"
    )
    shown = first.replace(_MARK, ": ")
    raise InputError(
        f"{path}, {_where(options)}: lines {lines[0]} and {lines[1]} have the same id {shown!r} "
        f"({len(doubles):,} ids are there more than once): keep one vector of each{remedy}"
    )


def _warn_of_more(
    path: Path, options: VectorOptions, count: int, batch: Texts | Images, language: str | None
) -> None:
    """Warn where a file has more ids than all of the data."""
    sizes = [
        numbering.sizes[tag]
        for numbering in batch.numberings
        for tag in {language, None}
        if tag in numbering.sizes
    ]
    if sizes and count > max(sizes):
        warn(
            f"{path}, {_where(options)}: {count:,} ids, and the data have {max(sizes):,} at most: the others "
            "are passed over"
        )


def _where(options: VectorOptions) -> str:
    return f"id={options.id}" + ("" if options.lang is None else f"&lang={options.lang}")
