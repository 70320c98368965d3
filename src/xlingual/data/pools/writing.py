"""Writing a pool as a folder that reads back as the same pool."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xlingual.data.pools.folder import CANDIDATES, QUESTIONS, pool_files
from xlingual.data.pools.rows import PoolRows
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.files import atomic_file, make_folder

FORMATS = ("parquet", "jsonl")


def write_pool(
    pool: PoolRows, folder: str | Path, format: str = "parquet", *, overwrite: bool = False
) -> Path:
    """Write questions and candidates into a folder, both or neither, and return the folder.

    Raises InputError where files of a pool stand there, unless `overwrite`: then they are replaced, and those
    in the other format removed, since a folder holds one pool.
    """
    if format not in FORMATS:
        raise InputError(
            f"no format {format!r} of a pool: expected 'parquet' or 'jsonl'.{did_you_mean(format, FORMATS)}"
        )
    if not overwrite:
        refuse_pool_in(folder)
    folder = make_folder(folder)
    write = _write_parquet if format == "parquet" else _write_jsonl
    paths = {stem: folder / f"{stem}.{format}" for stem in (QUESTIONS, CANDIDATES)}
    with atomic_file(paths[QUESTIONS]) as questions, atomic_file(paths[CANDIDATES]) as candidates:
        write(questions, question_columns(pool))
        write(candidates, candidate_columns(pool))
    for other in {*pool_files(folder)} - {*paths.values()}:
        other.unlink(missing_ok=True)
    return folder


def refuse_pool_in(folder: str | Path, remedy: str = "replace them with overwrite=True") -> None:
    """Raise InputError where files of a pool stand in a folder: they would be lost."""
    if present := pool_files(folder):
        names = listed(path.name for path in present)
        raise InputError(f"{folder} holds {names}, which would be lost: choose another folder, or {remedy}")


def question_columns(pool: PoolRows) -> dict[str, Sequence[Any]]:
    """Return the columns of the file of questions."""
    q = pool.questions
    columns: dict[str, Sequence[Any]] = {
        "id": q.ids,
        "lang": [pool.languages[code] for code in q.language],
        "text": q.text,
        "key": q.key,
        "cluster": q.cluster.tolist(),
    }
    if q.article is not None:
        columns["article"] = q.article.tolist()
    if q.split is not None:
        columns["split"] = q.split
    return columns


def candidate_columns(pool: PoolRows) -> dict[str, Sequence[Any]]:
    """Return the columns of the file of candidates."""
    c = pool.candidates
    columns: dict[str, Sequence[Any]] = {
        "id": c.ids,
        "lang": [pool.languages[code] for code in c.language],
        "text": c.text,
        "context": c.context,
        "keys": [list(keys) for keys in c.keys],
        "cluster": c.cluster.tolist(),
    }
    if c.split is not None:
        columns["split"] = c.split
    return columns


def _write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"keys": pa.list_(pa.string()), "cluster": pa.int64(), "article": pa.int64()}
    arrays = {name: pa.array(values, type=kinds.get(name, pa.string())) for name, values in columns.items()}
    pq.write_table(pa.table(arrays), path, compression="zstd")


def _write_jsonl(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for values in zip(*columns.values(), strict=True):
            row = dict(zip(columns, values, strict=True))
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
