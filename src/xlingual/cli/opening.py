"""Opening manifests, the store, and encoders with a limit of cost, as requests name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.errors import InputError, parameter
from xlingual.requests.shared import Columns, Keeping, ManifestOptions

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.requests.compressing import CompressRequest
    from xlingual.requests.making import SampleRequest
    from xlingual.requests.repairing import RepairRequest
    from xlingual.requests.single import EmbedRequest


def read_manifest(request: ManifestOptions) -> Manifest:
    """Read the manifest that a request names."""
    from xlingual.data.manifest import Manifest

    return Manifest.read(request.manifest, **columns(request), split=request.split, rows=request.rows)


def manifest_or_pool(
    request: EmbedRequest | SampleRequest | CompressRequest | RepairRequest,
) -> Manifest | MultilingualPool:
    """Read the manifest or the pool that a request names; refuse options of the other."""
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.data.pools.reading import is_pool

    data, pool = request.data, is_pool(request.data.manifest)
    of_pools = {"languages": request.languages, "equal_ids": request.equal_ids}
    of_manifests = {**columns(data), "rows": data.rows}
    for name, value in (of_manifests if pool else of_pools).items():
        if value is not None:
            own, is_a = ("manifests", "a pool") if pool else ("pools", "a manifest")
            raise InputError(f"{parameter(name)} is for {own}, {data.manifest} is {is_a}: leave it out")
    if not pool:
        return read_manifest(data)
    return MultilingualPool.read(data.manifest, request.languages, data.split, request.equal_ids)


def columns(request: Columns) -> dict[str, Any]:
    """Return the options of `Manifest.read`, but for the choice of rows."""
    return {name: getattr(request, name) for name in Columns.__struct_fields__}


def store_of(request: Keeping) -> Path | str | None:
    """Return the folder that --store names, None for --no-store, else "default"."""
    if request.store is not None and request.no_store:
        raise InputError("--store and --no-store exclude each other: leave one out")
    return None if request.no_store else (request.store or "default")


def within_cost(specs: Sequence[str], request: Keeping) -> tuple[str, ...]:
    """Return specs of encoders, those of services limited to --max-cost."""
    most = request.max_cost
    return tuple(specs) if most is None else tuple(_limited(spec, most) for spec in specs)


def _limited(spec: str, most: float) -> str:
    """Return the spec with the option max_cost, where it names a paid service and has none."""
    from xlingual.encoders.plugins import Known
    from xlingual.encoders.spec import parse
    from xlingual.hidden import shown

    parsed = parse(spec, Known())
    if parsed.base is not None:
        return str(replace(parsed, base=parse(_limited(str(parsed.base), most), Known())))
    if parsed.scheme != "api" or "max_cost" in dict(parsed.options):
        return spec
    if "price" not in dict(parsed.options):
        raise InputError(f"--max-cost: {shown(spec)!r} has no price: add ?price=, what a million tokens cost")
    return str(replace(parsed, options=(*parsed.options, ("max_cost", f"{most:.9f}"))))
