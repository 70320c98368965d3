"""The data that results are of, opened again as their request says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from xlingual.data.forms import ReadOptions
from xlingual.data.manifest import Manifest, ManifestLike, split_reference
from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import InputError, parameter
from xlingual.permission import Permission, limited
from xlingual.results import Results

_DIGEST = re.compile("[0-9a-f]{32}")  # stands for data in memory


def data_of(results: Results, manifest: ManifestLike | None = None) -> Manifest:
    """Return the manifest that results are of: that of their request, or the given one.

    A path is read with the columns, split and rows of the request. Raises InputError where there is none, or
    where its texts are not those that were evaluated.
    """
    if isinstance(manifest, Manifest):
        return _same(results, manifest)
    if manifest is None and isinstance(results.data, Manifest):
        return results.data
    request = results.request
    if manifest is not None and not isinstance(manifest, str | Path):
        return _same(results, Manifest.of(manifest, **_options(request)))
    path = _path_of(request.get("manifest"), manifest, "manifest")
    with nullcontext() if manifest is not None else limited(Permission()):
        return _same(results, Manifest.of(path, **_options(request)))


def _path_of(named: object, given: str | Path | None, what: str) -> str | Path:
    """Return the path of the data that were evaluated: the given one, else that which the request names."""
    remedy = f"give it ({parameter('manifest', 'PATH')})"
    if given is not None:
        return given
    if not isinstance(named, str | Path) or _DIGEST.fullmatch(str(named)):
        raise InputError(f"these results do not say which {what} they are of: {remedy}")
    if not Path(split_reference(str(named))[0]).exists():
        raise InputError(
            f"the {what} of these results, {named}, is not here: go to the folder in which they were made, "
            f"or {remedy}"
        )
    return named


def _options(request: Mapping[str, Any]) -> Any:  # noqa: ANN401  (a typed dictionary of options)
    """Return the options with which the data of a request were read."""
    known = ReadOptions.__annotations__
    return {name: value for name, value in request.items() if name in known}


def _same(results: Results, data: Manifest) -> Manifest:
    results.refuse_other_data(data.digest, data.source)
    return data


def pool_of(results: Results, pool: MultilingualPool | str | Path | None = None) -> MultilingualPool:
    """Return the pool that results are of: that of their request, or the given one; as `data_of` does."""
    request = results.request
    if pool is None and isinstance(results.data, MultilingualPool):
        return results.data
    if not isinstance(pool, MultilingualPool):
        path = _path_of(request.get("pool"), pool, "pool")
        known: dict[str, Any] = {name: request.get(name) for name in ("languages", "split")}
        with nullcontext() if pool is not None else limited(Permission()):
            judged = any(entry.task == "retrieval" for entry in results.entries)
            pool = MultilingualPool.read(path, **known, unanswered=judged)
    results.refuse_other_data(pool.digest, pool.source)
    return pool
