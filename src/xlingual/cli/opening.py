"""Opening manifests, the store, and encoders with a limit of cost, as requests name them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.errors import InputError, parameter
from xlingual.requests.shared import Columns, Keeping, ManifestOptions

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.requests.making import SampleRequest
    from xlingual.requests.repairing import RepairRequest
    from xlingual.requests.single import EmbedRequest


def read_manifest(request: ManifestOptions) -> Manifest:
    """Read the manifest that a request names."""
    from xlingual.data.manifest import Manifest

    return Manifest.read(request.manifest, **columns(request), split=request.split, rows=request.rows)


def manifest_or_pool(
    request: EmbedRequest | SampleRequest | RepairRequest,
) -> Manifest | MultilingualPool:
    """Read the manifest or the pool that a request names; refuse options of the other."""
    from xlingual.data.pools.pool import MultilingualPool, is_pool

    data, pool = request.data, is_pool(request.data.manifest)
    of_pools = {"languages": request.languages}
    of_manifests = {**columns(data), "rows": data.rows}
    for name, value in (of_manifests if pool else of_pools).items():
        if value is not None:
            own, is_a = ("manifests", "a pool") if pool else ("pools", "a manifest")
            raise InputError(f"{parameter(name)} is for {own}, {data.manifest} is {is_a}: leave it out")
    if not pool:
        return read_manifest(data)
    return MultilingualPool.read(data.manifest, request.languages, data.split)


def columns(request: Columns) -> dict[str, Any]:
    """Return the options of `Manifest.read`, but for the choice of rows."""
    return {name: getattr(request, name) for name in Columns.__struct_fields__}


def store_of(request: Keeping) -> Path | str | None:
    """Return the folder that --store names, None for --no-store, else "default"."""
    if request.store is not None and request.no_store:
        raise InputError("--store and --no-store exclude each other: leave one out")
    return None if request.no_store else (request.store or "default")
