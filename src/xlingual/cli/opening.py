"""Opening manifests, the store, and encoders with a limit of cost, as requests name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.errors import InputError
from xlingual.requests.shared import Columns, Keeping, ManifestOptions

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest


def read_manifest(request: ManifestOptions) -> Manifest:
    """Read the manifest that a request names."""
    from xlingual.data.manifest import Manifest

    return Manifest.read(request.manifest, **columns(request), split=request.split, rows=request.rows)


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
