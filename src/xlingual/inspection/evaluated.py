"""The data that results are of, opened again as their request says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.data.reading.columns import ReadOptions
from xlingual.errors import InputError, parameter
from xlingual.results import Results

_DIGEST = re.compile("[0-9a-f]{32}")  # stands for data in memory


def data_of(results: Results, manifest: ManifestLike | None = None) -> Manifest:
    """Return the manifest that results are of: that of their request, or the given one.

    A path is read with the columns, split and rows of the request. Raises InputError where there is none, or
    where its texts are not those that were evaluated.
    """
    if isinstance(manifest, Manifest):
        return _same(results, manifest)
    if manifest is None and results.evaluated is not None and isinstance(results.evaluated.data, Manifest):
        return results.evaluated.data
    request = results.request
    path = request.get("manifest") if manifest is None else manifest
    if not isinstance(path, str | Path) or (manifest is None and _DIGEST.fullmatch(str(path))):
        if manifest is not None:
            return _same(results, Manifest.of(manifest, **_options(request)))
        raise InputError(
            f"these results do not say which manifest they are of: give it ({parameter('manifest', 'PATH')})"
        )
    if manifest is None and not Path(path).exists() and "://" not in str(path):
        raise InputError(
            f"the manifest of these results, {path}, is not here: go to the folder in which they were made, "
            f"or give it ({parameter('manifest', 'PATH')})"
        )
    return _same(results, Manifest.of(path, **_options(request)))


def _options(request: Mapping[str, Any]) -> Any:  # noqa: ANN401  (a typed dictionary of options)
    """Return the options with which the data of a request were read."""
    known = ReadOptions.__annotations__
    return {name: value for name, value in request.items() if name in known}


def _same(results: Results, data: Manifest) -> Manifest:
    results.refuse_other_data(data.digest, data.source)
    return data
