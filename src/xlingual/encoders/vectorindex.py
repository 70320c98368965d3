"""Vectors that a FAISS index holds, and arrays in `.npz` archives: what needs more than opening a file."""

from __future__ import annotations

import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xlingual.errors import InputError, MissingExtraError, did_you_mean, listed, warn

INDEXES = (".faiss", ".index")
OWN_IDS = "ids"  # what `?id=` names in an index: the ids that vectors were added with
_LOCAL_HEADER = 30  # bytes before the name of a member of a zip file


def open_index(path: Path) -> NDArray[np.float32]:
    """Return the vectors of an index [n, d], in the order in which they were added."""
    vectors, _, kind = _index(path, path.stat().st_mtime_ns)
    _warn_of_compressed(str(path), kind)
    return vectors


def vectors_of_index(index: Any, who: str) -> NDArray[np.float32]:  # noqa: ANN401  (of faiss)
    """Return the vectors of an index in memory [n, d], in the order in which they were added."""
    try:
        vectors, _, kind = _read(index)
    except Exception as error:  # faiss raises RuntimeError for all of it
        raise InputError(
            f"{who}: the index gives no vectors back ({_last_line(error)}): give the vectors themselves"
        ) from error
    _warn_of_compressed(who, kind)
    return vectors


def _warn_of_compressed(who: str, kind: str) -> None:
    if "Flat" not in kind or "Refine" in kind:
        warn(
            f"{who} keeps vectors compressed ({kind}): those that it gives back are near to the true ones "
            "only"
        )


def ids_of_index(path: Path) -> NDArray[np.int64]:
    """Return the ids that the vectors of an index were added with [n]; InputError where it keeps none."""
    ids = _index(path, path.stat().st_mtime_ns)[1]
    if ids is None:
        raise InputError(
            f"{path} keeps no ids, its vectors are numbered: leave id= out, or build it with "
            "faiss.IndexIDMap2"
        )
    return ids


@lru_cache(maxsize=2)
def _index(path: Path, stamp: int) -> tuple[NDArray[np.float32], NDArray[np.int64] | None, str]:
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError(f"reading {path}", "ann") from error
    try:
        return _read(faiss.read_index(str(path)))
    except Exception as error:  # faiss raises RuntimeError for all of it
        raise InputError(
            f"{path}: the index cannot be read, or gives no vectors back ({_last_line(error)}): save the "
            "vectors as .npy or Parquet"
        ) from error


def _read(owner: Any) -> tuple[NDArray[np.float32], NDArray[np.int64] | None, str]:  # noqa: ANN401
    """Return vectors, ids and kind of an index, which must outlive what looks into it."""
    import faiss

    index: Any = faiss.downcast_index(owner)
    ids = None
    if hasattr(index, "id_map"):
        ids = faiss.vector_to_array(index.id_map).astype(np.int64)
        inner = faiss.downcast_index(index.index)
    else:
        inner = index
    lists = faiss.try_extract_index_ivf(inner)
    if lists is not None:
        lists.make_direct_map()
    vectors = np.array(inner.reconstruct_n(0, inner.ntotal), dtype=np.float32)
    return vectors, ids, type(inner).__name__


def _last_line(error: Exception) -> str:
    reason = str(error).strip().splitlines()
    return reason[-1][-150:] if reason else str(error)


def open_archive(path: Path, key: str | None, *, table: bool = True) -> NDArray[Any]:
    """Return an array of an `.npz` archive; one that is not compressed is mapped into memory.

    `key` names it; it may be left out where only one is a `table`.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            heads = {name: _head(archive, info) for name, info in members.items()}
            name = _named(path, key, {name: len(head[0]) for name, head in heads.items()}, table)
            shape, order, dtype, skipped = heads[name]
            if dtype.hasobject:
                raise InputError(
                    f"{path}: {name!r} is a pickle, which is refused, since it could run code; where you "
                    f"trust it: {npy_of_pickles(path, name)}"
                )
            info = members[name]
            if info.compress_type != zipfile.ZIP_STORED or 0 in shape:
                with archive.open(info) as member:
                    return np.asarray(np.lib.format.read_array(member, allow_pickle=False))
    except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged or no .npz archive ({error}): save it again") from error
    with path.open("rb") as handle:
        handle.seek(info.header_offset)
        local = handle.read(_LOCAL_HEADER)
    start = info.header_offset + _LOCAL_HEADER + int.from_bytes(local[26:28], "little")
    start += int.from_bytes(local[28:30], "little") + skipped
    return np.memmap(path, dtype, "r", start, shape, order)


def lists_of_archive(path: Path) -> list[str]:
    """Return the names of the arrays of one dimension in an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            return [one.filename.removesuffix(".npy") for one in members if len(_head(archive, one)[0]) == 1]
    except (zipfile.BadZipFile, ValueError, OSError, EOFError):
        return []


def npy_of_pickles(path: Path, key: str | None = None) -> str:
    """Return the line that turns an array of Python objects into one of numbers."""
    part = f"[{key!r}]" if key else ""
    target = path.with_name(f"{path.stem}-numbers.npy").name
    loaded = f"np.load('{path}', allow_pickle=True){part}"
    return (
        f"python -c \"import numpy as np; np.save('{target}', np.stack(list({loaded})).astype('float32'))\""
    )


def _head(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[tuple[int, ...], Any, Any, int]:
    """Return shape, order ("C" or "F"), type, and the length of the head of a member."""
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, fortran, dtype = read(member)
        return shape, "F" if fortran else "C", dtype, member.tell()


def _named(path: Path, key: str | None, dims: dict[str, int], table: bool) -> str:
    if key in dims:
        return key
    if key is not None:
        raise InputError(f"{path} has no array {key!r}.{did_you_mean(key, dims)} It has: {listed(dims)}")
    tables = [name for name, count in dims.items() if count == 2]
    if len(tables) != 1 or not table:
        raise InputError(
            f"{path}: expected one 2-d array, found {len(tables)} among {listed(dims) or 'none'}; choose one "
            "with ?key=NAME"
        )
    return tables[0]
