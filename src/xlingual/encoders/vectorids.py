"""Vectors matched by id: which line of a file belongs to which text or item."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.arrow import from_strings, scalar, to_numpy
from xlingual.columns import pick
from xlingual.encoders.vectorfile import VectorOptions, open_safetensors, parts_of
from xlingual.encoders.vectorindex import INDEXES, OWN_IDS, ids_of_index, lists_of_archive, open_archive
from xlingual.encoders.vectortable import (
    LANCE,
    TABLES,
    as_names,
    columns_of_names,
    first_names,
    names_of_table,
    stamp,
)
from xlingual.errors import InputError, listed, warn
from xlingual.records import Images, Texts

if TYPE_CHECKING:
    import pyarrow as pa

_ITEMS = "ids of items"
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
            found.append((what, to_numpy(place).astype(np.int64)))
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
    _warn_of_more(path, options, len(names), batch, language, [what for what, _ in found])
    return lines


def refuse_another_order(path: Path, batch: Texts | Images, rows: Ints, lines: Ints) -> None:
    """Raise InputError where lines are taken by their order, and ids in the file say another one.

    Where the ids of the data are no more than the numbers of lines (1, 2, …), it is a warning: the file may
    number something else.
    """
    import pyarrow.compute as pc

    if not len(rows):
        return
    wanted = [(what, _wanted(ids, (), rows, VectorOptions())) for what, ids in _candidates(batch)]
    other: list[tuple[bool, str, str]] = []
    for name in _columns_like_ids(path):
        names = _names_like(path, name, [ids for _, ids in wanted])
        for what, ids in [] if names is None else wanted:
            place = pc.index_in(ids, value_set=names)
            if place.null_count:
                continue
            if np.array_equal(to_numpy(place), lines):
                return
            numbers = (lines + first for first in (0, 1))
            plain = any(ids.to_pylist() == [str(number) for number in each.tolist()] for each in numbers)
            other.append((plain, name, what))
    if not other:
        return
    plain, name, what = min(other)
    problem = (
        f"{path}: its column {name!r} has the {what}, in another order than the data, and without ?id= lines "
        "belong to the data by their order"
    )
    if not plain:
        raise InputError(f"{problem}: write ?id={name}")
    warn(f"{problem}: write ?id={name} where these are the data's ids")


def _columns_like_ids(path: Path) -> list[str]:
    """Return the columns beside the vectors that may be ids: of texts, or of numbers where they say so."""
    first = parts_of(path)[0]
    if first.suffix in (*TABLES, LANCE):
        return columns_of_names(first)
    if first.suffix == ".npz":
        return lists_of_archive(first)
    return [OWN_IDS] if first.suffix in INDEXES else []


def _names_like(path: Path, name: str, wanted: Sequence[pa.Array]) -> pa.Array | None:
    """Return the names in a column, where they are distinct and some at its start are wanted; else None."""
    import pyarrow.compute as pc

    try:
        start = parts_of(path)[0]
        is_table = start.suffix in (*TABLES, LANCE)
        first = first_names(start, name) if is_table else _column(start, name, VectorOptions())
        if not any(pc.any(pc.is_in(first, value_set=ids)).as_py() for ids in wanted):
            return None
        return _distinct_names(path, name, stamp(path))
    except InputError:  # no ids: cells without one, numbers with fractions, an index that keeps none
        return None


@lru_cache(maxsize=4)
def _distinct_names(path: Path, name: str, version: object) -> pa.Array | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    names = pa.concat_arrays([_column(part, name, VectorOptions()) for part in parts_of(path)])
    return names if len(pc.unique(names)) == len(names) else None


def _candidates(batch: Texts | Images) -> list[tuple[str, Sequence[str]]]:
    """Return what ids may be, the likeliest first: an image is that of an item."""
    both = [("ids of texts", batch.ids), (_ITEMS, batch.items)]
    return [one for one in (reversed(both) if isinstance(batch, Images) else both) if len(one[1])]


def _wanted(column: Sequence[str], languages: Sequence[str], rows: Ints, options: VectorOptions) -> pa.Array:
    import pyarrow as pa

    names = pick(column, rows)
    if options.lang is not None:
        tags = pick(languages, rows)
        names = [f"{tag}{_MARK}{name}" for tag, name in zip(tags, names, strict=True)]
    return from_strings(names, pa.large_string())


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
    joined = pc.binary_join_element_wise(tags, names, scalar(_MARK, pa.large_string()))
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
    lines = np.flatnonzero(to_numpy(pc.equal(names, first)))[:2] + 1
    remedy = (
        "" if options.lang else ", or name the column of languages where an id has one of each (?lang=COLUMN)"
    )
    shown = first.replace(_MARK, ": ")
    raise InputError(
        f"{path}, {_where(options)}: lines {lines[0]} and {lines[1]} have the same id {shown!r} "
        f"({len(doubles):,} ids are there more than once): keep one vector of each{remedy}"
    )


def _warn_of_more(
    path: Path,
    options: VectorOptions,
    count: int,
    batch: Texts | Images,
    language: str | None,
    fitting: Sequence[str],
) -> None:
    """Warn where a file has more ids than the data: than its items, or its texts (of the file's language)."""
    known = [_how_many(batch, language, what == _ITEMS and options.lang is None) for what in fitting]
    most = min((size for size in known if size), default=count)
    if count > most:
        warn(
            f"{path}, {_where(options)}: {count:,} ids, and the data have {most:,}: the others are passed "
            "over"
        )


def _how_many(batch: Texts | Images, language: str | None, items: bool) -> int:
    """Return how many items the data have, or texts of a language (None: of all); 0 where it is not known."""
    numberings = [one for one in batch.numberings if one.unit.startswith("items") == items]
    tag = language if any(language in one.sizes for one in numberings) else None
    return max((one.sizes[tag] for one in numberings if tag in one.sizes), default=0)


def _where(options: VectorOptions) -> str:
    return f"id={options.id}" + ("" if options.lang is None else f"&lang={options.lang}")
